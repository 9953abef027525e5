#pragma once
// A datastore file: a store of Azure's, of which the connection is kept, or a folder of the server's machine.

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/spec/document.h"
#include "core/spec/finding.h"

namespace lavant::spec {

inline constexpr std::size_t kDatastoreNameBytes = 255;
inline constexpr std::size_t kDatastoreTextBytes = 2'048;
inline constexpr std::size_t kDatastoreSecretBytes = 64U << 10;  // a certificate is the longest

enum class CredentialKind { None, AccountKey, Sas, ServicePrincipal, Certificate };

struct DatastoreCredentials {
    CredentialKind kind = CredentialKind::None;
    std::string secret;  // the key, the signature, the password or the certificate
    std::string tenant_id;
    std::string client_id;
    std::string thumbprint;  // of a certificate
    std::string authority_url;
    std::string resource_url;
};

struct DatastoreSpec {
    std::string name;
    std::string type;  // azure_blob, azure_file, azure_data_lake_gen1, azure_data_lake_gen2, one_lake, local
    std::string description;
    std::map<std::string, std::string> tags;
    std::string account_name;
    std::string container;  // container_name, file_share_name, filesystem, store_name: what holds the files
    std::string endpoint;
    std::string protocol;
    std::string one_lake_workspace;
    std::string artifact_name;
    std::string artifact_type;
    std::string folder;  // of type local: an absolute path on the server's machine
    DatastoreCredentials credentials;

    std::vector<Finding> beyond_azure;
};

// All problems at once in Error::fields. `folder` is the file's: where a relative path of type local begins.
// No secret is in a message.
[[nodiscard]] Result<DatastoreSpec> parse_datastore(const Document& document, const std::string& folder);

}  // namespace lavant::spec
