#include "core/spec/datastore.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "core/spec/asset_reading.h"
#include "core/spec/compute_reading.h"

namespace lavant::spec {
namespace {

const std::vector<std::string>& type_names() {
    static const std::vector<std::string> names = {
        "azure_blob", "azure_file", "azure_data_lake_gen1", "azure_data_lake_gen2", "one_lake", "local"};
    return names;
}

// The key by which each type calls what holds the files.
std::string_view container_key(std::string_view type) {
    if (type == "azure_blob") return "container_name";
    if (type == "azure_file") return "file_share_name";
    if (type == "azure_data_lake_gen1") return "store_name";
    return type == "azure_data_lake_gen2" ? "filesystem" : "";
}

std::string needed(Fields& fields, std::string_view key, std::string_view example,
                   std::size_t bytes_most = kDatastoreTextBytes) {
    std::string text = short_text(fields, key, bytes_most);
    if (!fields.has(key)) {
        fields.problem(key, "is missing; like " + std::string(example));
    } else if (const Document* value = fields.map().find(key);
               value->is_string() && trim(value->text).empty()) {
        fields.problem(key, "is empty; like " + std::string(example));
    }
    return text;
}

void read_name(Fields& fields, DatastoreSpec& spec) {
    spec.name = fields.string("name");
    if (!fields.has("name")) return fields.problem("name", "is missing; it is what jobs find it by");
    const bool fine =
        !spec.name.empty() && spec.name.size() <= kDatastoreNameBytes &&
        std::ranges::all_of(spec.name, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
    if (fields.map().find("name")->is_string() && !fine)
        fields.problem("name", "'" + spec.name.substr(0, 80) +
                                   "' cannot be a datastore's name: " + "use letters, digits and '_'");
}

// An application of the tenant's, which proves itself by a password or a certificate.
void read_principal(Fields& fields, DatastoreCredentials& credentials) {
    credentials.tenant_id = needed(fields, "tenant_id", "00000000-0000-0000-0000-000000000000");
    credentials.client_id = needed(fields, "client_id", "00000000-0000-0000-0000-000000000000");
    credentials.authority_url = short_text(fields, "authority_url");
    if (credentials.authority_url.empty()) credentials.authority_url = short_text(fields, "authority_uri");
    credentials.resource_url = short_text(fields, "resource_url");
    if (fields.has("client_secret")) {
        credentials.kind = CredentialKind::ServicePrincipal;
        credentials.secret = needed(fields, "client_secret", "its password", kDatastoreSecretBytes);
        return;
    }
    credentials.kind = CredentialKind::Certificate;
    credentials.secret = short_text(fields, "certificate", kDatastoreSecretBytes);
    credentials.thumbprint = needed(fields, "thumbprint", "the certificate's SHA-1");
}

void read_credentials(Fields& parent, DatastoreSpec& spec) {
    const Document* map = parent.find_nullable("credentials");
    if (map == nullptr || map->is_null()) return;
    Fields fields(*map, parent.path_of("credentials"), parent.problems());
    if (!map->is_map()) return;
    const bool by_key = spec.type == "azure_blob" || spec.type == "azure_file";
    DatastoreCredentials& credentials = spec.credentials;
    if (by_key && fields.has("account_key") && fields.has("sas_token"))
        fields.problem("sas_token", "cannot stand beside account_key; keep one of the two");
    if (by_key && fields.has("account_key")) {
        credentials.kind = CredentialKind::AccountKey;
        credentials.secret = needed(fields, "account_key", "the account's key", kDatastoreSecretBytes);
    } else if (by_key && fields.has("sas_token")) {
        credentials.kind = CredentialKind::Sas;
        credentials.secret = needed(fields, "sas_token", "?sv=…&sig=…", kDatastoreSecretBytes);
    } else if (!by_key && !map->entries.empty()) {
        read_principal(fields, credentials);
    }
    if (by_key) fields.ignore({"account_key", "sas_token"});
    fields.finish();
}

void read_account(Fields& fields, DatastoreSpec& spec) {
    spec.account_name = needed(fields, "account_name", "mystorageaccount");
    spec.endpoint = short_text(fields, "endpoint");
    spec.protocol = fields.choice("protocol", {"https", "http", "abfss", "wasbs"});
}

void read_one_lake(Fields& fields, DatastoreSpec& spec) {
    spec.one_lake_workspace = needed(fields, "one_lake_workspace_name", "the workspace's name or GUID");
    spec.endpoint = needed(fields, "endpoint", "onelake.dfs.fabric.microsoft.com");
    const Document* map = fields.find("artifact");
    if (map == nullptr) return;
    Fields artifact(*map, fields.path_of("artifact"), fields.problems());
    spec.artifact_name = needed(artifact, "name", "the lakehouse's name or GUID");
    spec.artifact_type = artifact.choice("type", {"lake_house"});
    artifact.finish();
}

void read_folder(Fields& fields, DatastoreSpec& spec, const std::string& folder) {
    const std::string path = needed(fields, "path", "/data/team");
    if (path.empty()) return;
    if (is_remote(path)) return fields.problem("path", "must be a folder of the server's machine");
    spec.folder = join_path(folder, without_file_scheme(path));
    spec.beyond_azure.push_back(refused_there("type", "Azure has no datastore on a folder of one's own"));
}

}  // namespace

Result<DatastoreSpec> parse_datastore(const Document& document, const std::string& folder) {
    DatastoreSpec spec;
    Problems problems;
    Fields fields(document, "", problems);
    if (document.is_map()) {
        read_name(fields, spec);
        if (!fields.has("type"))
            fields.problem("type", "is missing; azure_blob, or local for a folder of your own");
        spec.type = fields.choice("type", type_names());
    }
    if (!spec.type.empty()) {
        spec.description = read_description(fields);
        spec.tags = read_pairs(fields, "tags");
        if (const std::string_view key = container_key(spec.type); !key.empty())
            spec.container = needed(fields, key, "my-" + to_lower(key.substr(0, key.find('_'))));
        if (spec.type == "azure_blob" || spec.type == "azure_file" || spec.type == "azure_data_lake_gen2")
            read_account(fields, spec);
        if (spec.type == "one_lake") read_one_lake(fields, spec);
        if (spec.type == "local") {
            read_folder(fields, spec, folder);
        } else {
            read_credentials(fields, spec);
        }
        fields.ignore({"$schema", "id", "is_default", "resourceGroup", "creation_context", "properties"});
        fields.finish();
    }
    if (!problems.empty()) return fail(problems.to_error("the datastore"));
    return spec;
}

}  // namespace lavant::spec
