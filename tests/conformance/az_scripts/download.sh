# Fetches logs, ./outputs and named outputs of a job.
set -euo pipefail

cat > job.yml <<'YML'
command: >-
  echo "the log" &&
  echo "kept" > outputs/kept.txt &&
  echo "a model" > ${{outputs.model}}/model.txt
environment: azureml:base:1
outputs:
  model:
    type: uri_folder
YML
name=$(az ml job create -f job.yml --query name -o tsv)
az ml job stream --name "$name"

az ml job download --name "$name"
grep -q "the log" artifacts/user_logs/std_log.txt
grep -q kept artifacts/outputs/kept.txt
[[ ! -e named-outputs ]]

az ml job download --name "$name" --all --download-path everything
grep -q "a model" everything/named-outputs/model/model.txt
grep -q kept everything/artifacts/outputs/kept.txt

az ml job download --name "$name" --output-name model --download-path only
grep -q "a model" only/named-outputs/model/model.txt
[[ ! -e only/artifacts ]]
