# Signs in, gets a token, and asks the REST endpoint for a job.
set -euo pipefail

az login -o none
cat > job.yml <<'YML'
command: echo hello
environment: azureml:base:1
YML
id=$(az ml job create -f job.yml --query id -o tsv)
token=$(az account get-access-token --query accessToken -o tsv)

eval "$(lavant env)" # LAVANT_ENDPOINT and LAVANT_CA, among others
curl --silent --show-error --fail --cacert "$LAVANT_CA" --header "Authorization: Bearer $token" \
    "$LAVANT_ENDPOINT${id#azureml:}?api-version=2025-01-01-preview" > answer.json
python3 - "${id##*/}" <<'PY'
import json, sys
job = json.load(open("answer.json"))
assert job["name"] == sys.argv[1], job
assert job["properties"]["jobType"] == "Command", job
PY
