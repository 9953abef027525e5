# Lists jobs: as a table, cut to a number, and filtered by a query.
set -euo pipefail

cat > job.yml <<'YML'
command: exit ${{inputs.code}}
environment: azureml:base:1
inputs:
  code: 0
YML
good=$(az ml job create -f job.yml --query name -o tsv)
bad=$(az ml job create -f job.yml --set inputs.code=3 --query name -o tsv)
az ml job stream -n "$good"
if az ml job stream -n "$bad"; then exit 1; fi

[[ $(az ml job list --query "[?status=='Completed'].name" -o tsv) == "$good" ]]
[[ $(az ml job list --query "[?status!='Completed'].[name, status]" -o tsv) == "$bad"$'\t'"Failed" ]]
[[ $(az ml job list --query "length(@)") == 2 ]]
[[ $(az ml job list --max-results 1 --query "[].name" -o tsv) == "$bad" ]] # the newest
az ml job list -o table | tee table.txt
grep -q "$good *Completed" table.txt && grep -q "$bad *Failed" table.txt
