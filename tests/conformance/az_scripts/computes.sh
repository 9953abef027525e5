# A cluster and an instance: made, changed, used, stopped, deleted.
set -euo pipefail

az ml compute create --name cpu-cluster --type AmlCompute --size Standard_DS3_v2 \
    --min-instances 0 --max-instances 2 --idle-time-before-scale-down 60 -o none
az ml compute update --name cpu-cluster --max-instances 3 -o none
[[ $(az ml compute show -n cpu-cluster --query "[type, max_instances]" -o tsv) == $'amlcompute\n3' ]]

cat > job.yml <<'YML'
command: echo on a cluster
environment: azureml:base:1
compute: azureml:cpu-cluster
YML
az ml job create -f job.yml --stream > log.txt
grep -q "on a cluster" log.txt

cat > box.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/computeInstance.schema.json
name: my-box
type: computeinstance
size: Standard_DS3_v2
YML
az ml compute create --file box.yml -o none
az ml compute stop --name my-box
[[ $(az ml compute show --name my-box --query state -o tsv) == Stopped ]]
az ml compute start --name my-box
[[ $(az ml compute show --name my-box --query state -o tsv) == Running ]]
[[ $(az ml compute list --query "sort([].name)" -o tsv) == $'cpu-cluster\nmy-box' ]]
[[ $(az ml compute list --type AmlCompute --query "[].name" -o tsv) == cpu-cluster ]]

az ml compute delete --name my-box --yes
az ml compute delete --name cpu-cluster --yes
[[ $(az ml compute list --query "length(@)") == 0 ]]
