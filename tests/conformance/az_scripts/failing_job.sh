# A job that fails: the script hears of it by the exit code, the reader by the message.
set -euo pipefail

az extension add --name ml --yes
az version --query '"azure-cli"' -o tsv

cat > job.yml <<'YML'
command: echo "about to fail" && exit 7
environment: azureml:base:1
YML
name=$(az ml job create -f job.yml --query name -o tsv)

code=0
az ml job stream --name "$name" > log.txt 2> said.txt || code=$?
[[ $code == 1 ]] || { echo "exit code $code" >&2; exit 1; }
grep -q "about to fail" log.txt
grep -q 7 said.txt
[[ $(az ml job show -n "$name" --query status -o tsv) == Failed ]]
