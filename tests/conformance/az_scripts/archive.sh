# Takes a job out of the lists and puts it back.
set -euo pipefail

cat > job.yml <<'YML'
command: echo hello
environment: azureml:base:1
YML
kept=$(az ml job create -f job.yml --query name -o tsv)
old=$(az ml job create -f job.yml --query name -o tsv)
az ml job stream -n "$old" > /dev/null

names() { az ml job list "$@" --query "sort([].name)" -o tsv; }
both=$(printf '%s\n' "$kept" "$old" | LC_ALL=C sort)

az ml job archive --name "$old"
[[ $(names) == "$kept" ]]
[[ $(names --archived-only) == "$old" ]]
[[ $(names --include-archived) == "$both" ]]

az ml job restore --name "$old"
[[ $(names) == "$both" ]]
[[ -z $(names --archived-only) ]]
