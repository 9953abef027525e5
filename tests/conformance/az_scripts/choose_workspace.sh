# Says once which subscription, group and workspace are meant; later commands need not.
set -euo pipefail

subscription=11111111-2222-3333-4444-555555555555
az account set --subscription $subscription
az configure --defaults group=research workspace=vision
[[ $(az account show --query id -o tsv) == "$subscription" ]]
[[ $(az configure --list-defaults --query "[?name=='workspace'].value" -o tsv) == vision ]]

cat > job.yml <<'YML'
command: echo hello
environment: azureml:base:1
YML
id=$(az ml job create --file job.yml --query id --output tsv)
[[ $id == *"/subscriptions/$subscription/resourceGroups/research/"*"/workspaces/vision/jobs/"* ]] ||
    { echo "not where it should be: $id" >&2; exit 1; }

# A flag of the command counts for more than the defaults.
[[ $(az ml job create --file job.yml -w audio --query id -o tsv) == *"/workspaces/audio/"* ]]

az configure --defaults workspace=''
[[ -z $(az configure --list-defaults --query "[?name=='workspace'].value" -o tsv) ]]
