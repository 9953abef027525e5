# Ends a job that would run for an hour.
set -euo pipefail

cat > job.yml <<'YML'
command: sleep 3600
environment: azureml:base:1
YML
name=$(az ml job create -f job.yml --query name -o tsv)
az ml job cancel --name "$name"

status=Unknown
for _ in $(seq 600); do
    status=$(az ml job show --name "$name" --query status -o tsv)
    case $status in Completed | Failed | Canceled) break ;; esac
    sleep 0.1
done
[[ $status == Canceled ]] || { echo "job $name is $status" >&2; exit 1; }

az ml job cancel --name "$name" # once more does no harm
