# Where the studio shows a job: with --web in words, with --query for a script.
set -euo pipefail

cat > job.yml <<'YML'
command: echo hello
environment: azureml:base:1
YML

endpoint=$(az ml job create -f job.yml --web --query services.Studio.endpoint -o tsv 2> said.txt)
[[ $endpoint == https://* ]]
grep -qF "$endpoint" said.txt

name=$(az ml job list --max-results 1 --query "[0].name" -o tsv)
[[ $endpoint == *"$name"* ]]
[[ $(az ml job show -n "$name" --query services.Studio.endpoint -o tsv) == "$endpoint" ]]
az ml job show -n "$name" --web -o none
