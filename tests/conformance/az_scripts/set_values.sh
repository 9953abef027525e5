# Changes values of a job file on the way: --set PATH=VALUE, as often as needed.
set -euo pipefail

cat > job.yml <<'YML'
command: echo lr=${{inputs.lr}} on $AZUREML_NODE_COUNT
environment: azureml:base:1
display_name: from-the-file
inputs:
  lr: 0.1
YML
az ml job create -f job.yml --name tuned --stream \
    --set display_name="A better name" \
    --set inputs.lr=0.25 tags.team=vision tags.note="with a blank" \
    --set environment_variables.COLOUR=green | tee log.txt
grep -q "lr=0.25" log.txt

show() { az ml job show -n tuned --query "$1" -o tsv; }
[[ $(show display_name) == "A better name" ]]
[[ $(show tags.team) == vision && $(show tags.note) == "with a blank" ]]
[[ $(show environment_variables.COLOUR) == green ]]

az ml job update -n tuned --set tags.team=speech display_name=tuned-again -o none
[[ $(show tags.team) == speech && $(show display_name) == tuned-again ]]
