# An environment keeps its version while it stays the same and gets the next one when it changes.
set -euo pipefail

cat > conda.yml <<'YML'
name: tiny
channels: [conda-forge]
dependencies:
  - python=3.11
YML
cat > env.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/environment.schema.json
name: tiny
image: mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu20.04
conda_file: conda.yml
YML
create() { az ml environment create --file env.yml --query version -o tsv; }
[[ $(create) == 1 ]]
[[ $(create) == 1 ]]
echo "  - pip" >> conda.yml
[[ $(create) == 2 ]]
[[ $(az ml environment show --name tiny --version 2 --query "conda_file.dependencies[1]" -o tsv) == pip ]]

az ml environment create --name plain --version 5 --image python:3.12 -o none
[[ $(az ml environment show -n plain --label latest --query image -o tsv) == python:3.12 ]]
if az ml environment create --name plain --version 5 --image python:3.11 2> said.txt; then exit 1; fi
grep -q "plain" said.txt

mkdir -p context
echo "FROM python:3.12" > context/Dockerfile
[[ $(az ml environment create --name built --build-context context --query build.path -o tsv) == *LocalUpload* ]]
[[ $(az ml environment list --query "[?name=='tiny'].latest_version" -o tsv) == 2 ]]
