# A schedule of a job that is there: switched off and on, moved, fired by hand, removed.
set -euo pipefail

cat > nightly.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/schedule.schema.json
name: nightly
display_name: Every night
trigger:
  type: cron
  expression: "0 3 * * *"
  time_zone: Pacific Standard Time
create_job: ./pipeline.yml
YML
cat > pipeline.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/pipelineJob.schema.json
type: pipeline
experiment_name: nightly
jobs:
  hello:
    type: command
    command: echo hello
    environment: azureml:base:1
    compute: azureml:serverless
YML
az ml schedule create --file nightly.yml --no-wait -o none
[[ $(az ml schedule show --name nightly --query "[trigger.expression, create_job.type]" -o tsv) == $'0 3 * * *\npipeline' ]]
az ml schedule disable --name nightly
[[ -z $(az ml schedule list --query "[].name" -o tsv) ]]
[[ $(az ml schedule list --disabled-only --query "[].name" -o tsv) == nightly ]]
az ml schedule update --name nightly --set trigger.expression="0 4 * * *" description="an hour later" -o none
az ml schedule enable --name nightly
[[ $(az ml schedule show -n nightly --query "[trigger.expression, is_enabled]" -o tsv) == $'0 4 * * *\ntrue' ]]

job=$(az ml schedule trigger --name nightly --query job_name -o tsv)
[[ -n $job ]]
az ml job show --name "$job" -o none

if az ml schedule delete --name nightly --yes 2> said.txt; then exit 1; fi
grep -q disable said.txt
az ml schedule disable --name nightly
az ml schedule delete --name nightly --yes
[[ $(az ml schedule list --include-disabled --query "length(@)") == 0 ]]
