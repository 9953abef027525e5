# Submits a job and waits for its end by asking for its status.
set -euo pipefail

cat > job.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
command: echo "learning rate ${{inputs.lr}}" > outputs/result.txt
environment: azureml:base:1
inputs:
  lr: 0.1
YML

id=$(az ml job create -f job.yml --query name -o tsv)
status=Unknown
for _ in $(seq 600); do
    status=$(az ml job show -n "$id" --query status -o tsv)
    case $status in Completed | Failed | Canceled) break ;; esac
    sleep 0.1
done
[[ $status == Completed ]] || { echo "job $id is $status" >&2; exit 1; }
echo "job $id is $status"
