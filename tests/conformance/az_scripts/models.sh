# Registers models from a folder and from a file, and fetches one back.
set -euo pipefail

mkdir -p net/code
echo weights > net/weights.bin
echo "print(1)" > net/code/score.py
az ml model create --name net --path net --type custom_model --query "[name, version, type]" -o tsv > made.txt
[[ $(cat made.txt) == $'net\n1\ncustom_model' ]]

cat > model.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/model.schema.json
name: one-file
version: "7"
path: net/weights.bin
description: Model created from local file.
YML
az ml model create -f model.yml -o none
[[ $(az ml model show --name one-file --version 7 --query path -o tsv) == azureml://*/weights.bin ]]

az ml model download --name net --version 1 --download-path fetched
diff -r net fetched/net/net
az ml model download --name one-file --version 7 --download-path fetched
cmp net/weights.bin fetched/one-file/weights.bin

[[ $(az ml model list --query "sort([].name)" -o tsv) == $'net\none-file' ]]
az ml model archive --name net
[[ $(az ml model list --query "[].name" -o tsv) == one-file ]]
az ml model restore --name net
[[ $(az ml model list --query "length(@)") == 2 ]]
