# Makes a workspace of its own, keeps things apart in it, and removes it.
set -euo pipefail

az ml workspace create --name vision --resource-group research --description "the vision team" -o none
[[ $(az ml workspace show --name vision --resource-group research --query description -o tsv) == "the vision team" ]]
[[ $(az ml workspace list --resource-group research --query "[].name" -o tsv) == vision ]]

az configure --defaults group=research workspace=vision
az ml data create --name only-here --path azureml://datastores/workspaceblobstore/paths/x/ -o none
[[ $(az ml data list --query "[].name" -o tsv) == only-here ]]
[[ -z $(az ml data list --resource-group lavant --workspace-name default --query "[].name" -o tsv) ]]

az configure --defaults group='' workspace=''
az ml workspace delete --name vision --resource-group research --yes --no-wait
[[ $(az ml workspace list --query "length([?name=='vision'])") == 0 ]]
