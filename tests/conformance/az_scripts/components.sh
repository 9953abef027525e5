# Registers a component from its file, looks at it, and takes an old version out of the lists.
set -euo pipefail

mkdir -p src
echo 'print("training")' > src/train.py
cat > train.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
type: command
name: train
version: 1
display_name: Train a model
inputs:
  epochs:
    type: integer
    default: 3
outputs:
  model:
    type: uri_folder
code: ./src
environment: azureml:base:1
command: python train.py --epochs ${{inputs.epochs}} --out ${{outputs.model}}
YML
az ml component create --file train.yml -o none
az ml component create --file train.yml --version 2 --set display_name="Train it better" -o none
[[ $(az ml component show --name train --version 1 --query "[type, inputs.epochs.type]" -o tsv) == $'command\ninteger' ]]
[[ $(az ml component show --name train --label latest --query display_name -o tsv) == "Train it better" ]]
[[ $(az ml component list --name train --query "length(@)") == 2 ]]
az ml component archive --name train --version 1
[[ $(az ml component list --name train --query "[].version" -o tsv) == 2 ]]
az ml component restore --name train --version 1
