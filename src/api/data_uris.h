#pragma once
// Where data lies, whatever clients call it: registered assets, outputs of jobs, datastores, Azure storage
// that is mirrored here, the web, files.

#include <map>
#include <string>

#include "api/context.h"
#include "base/result.h"
#include "core/model/lineage.h"

namespace lavant::api {

struct DataPlace {
    std::string uri;        // azureml://datastores/D/paths/P, https://..., file:///...
    std::string datastore;  // D; "" for the others
    LineageEdge asset;      // which one it is: kind, name, version; kind "" for none
};

[[nodiscard]] Result<DataPlace> resolve_data_uri(Context& context, const std::string& workspace,
                                                 const std::string& uri);

// azureml://jobs/J/outputs/O/paths/P, and azureml://jobs/J/outputs/artifacts/paths/P for what a job kept
// besides.
bool is_job_uri(std::string_view uri);

// The blob container behind a datastore of the workspace, or of an upload, which is called by it. NotFound
// names those there are; InvalidArgument: it lies elsewhere.
[[nodiscard]] Result<std::string> container_of_datastore(Context& context, const std::string& workspace,
                                                         const std::string& datastore);

// A place in Azure's storage: wasbs://, abfss:// and https:// of its accounts. nullopt for anything else.
struct AzurePlace {
    std::string account;
    std::string container;
    std::string path;
};
std::optional<AzurePlace> parse_azure_url(std::string_view uri);
// "account/container" or "account" to a folder, a datastore or a URL that has the same below it.
std::optional<std::string> find_mirror(const std::map<std::string, std::string>& mirrors,
                                       const AzurePlace& place);

}  // namespace lavant::api
