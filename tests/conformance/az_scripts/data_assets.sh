# Registers data from a local file and from a folder elsewhere, finds it again, and takes an old version away.
set -euo pipefail

mkdir -p data
printf 'a,b\n1,2\n' > data/titanic.csv
cat > titanic.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/data.schema.json
name: titanic
description: Data asset created from local file.
type: uri_file
path: data/titanic.csv
tags:
  source: local
YML
az ml data create --file titanic.yml -o none
az ml data create --file titanic.yml --set tags.source=again -o none
[[ $(az ml data show --name titanic --label latest --query version -o tsv) == 2 ]]
[[ $(az ml data show --name titanic --version 1 --query tags.source -o tsv) == local ]]
[[ $(az ml data show -n titanic -v 2 --query path -o tsv) == azureml://*/LocalUpload/*/titanic.csv ]]

id=$(az ml data create --name cloud --version 2026 --type uri_folder \
    --path azureml://datastores/workspaceblobstore/paths/example-data/ --query id -o tsv)
[[ $id == */data/cloud/versions/2026 ]]
[[ $(az ml data list --query "sort_by([], &name)[].[name, latest_version]" -o tsv) == $'cloud\t2026\ntitanic\t2' ]]
[[ $(az ml data list --name titanic --query "length(@)") == 2 ]]

az ml data archive --name titanic --version 1
[[ $(az ml data list --name titanic --query "[].version" -o tsv) == 2 ]]
[[ $(az ml data list --name titanic --archived-only --query "[].version" -o tsv) == 1 ]]
az ml data restore --name titanic --version 1
[[ $(az ml data list --name titanic --include-archived --query "length(@)") == 2 ]]

az ml data update --name titanic --version 2 --set description="the second one" tags.team=vision -o none
[[ $(az ml data show -n titanic -v 2 --query "[description, tags.team]" -o tsv) == $'the second one\nvision' ]]

cat > job.yml <<'YML'
command: cat ${{inputs.table}}
environment: azureml:base:1
inputs:
  table:
    type: uri_file
    path: azureml:titanic:1
YML
az ml job create -f job.yml --stream > log.txt
grep -q "1,2" log.txt
