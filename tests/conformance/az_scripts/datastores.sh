# Keeps the connection to a store of Azure's, without ever showing its key, and forgets it.
set -euo pipefail

cat > blob.yml <<'YML'
$schema: https://azuremlschemas.azureedge.net/latest/azureBlob.schema.json
name: blob_example
type: azure_blob
description: Datastore pointing to a blob container.
account_name: mytestblobstore
container_name: data-container
credentials:
  account_key: bm90IGEgcmVhbCBrZXk=
YML
az ml datastore create --file blob.yml > made.json
if grep -q bm90IGEgcmVhbCBrZXk made.json; then exit 1; fi
[[ $(az ml datastore show --name blob_example --query "[type, account_name, container_name]" -o tsv) == \
    $'azure_blob\nmytestblobstore\ndata-container' ]]
[[ $(az ml datastore list --query "[?is_default].name" -o tsv) == workspaceblobstore ]]
[[ $(az ml datastore list --query "length([?name=='blob_example'])") == 1 ]]

az ml datastore delete --name blob_example --yes
[[ $(az ml datastore list --query "length([?name=='blob_example'])") == 0 ]]
