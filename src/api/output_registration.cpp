#include "api/output_registration.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/asset_names.h"
#include "api/asset_view.h"
#include "base/log.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using wire::Json;

// As it will be after the batch.
Result<std::optional<Asset>> find_now(ports::Reader& reader, const WriteBatch& writes, const AssetKey& key) {
    const auto pending = std::find_if(writes.assets.rbegin(), writes.assets.rend(),
                                      [&](const AssetWrite& write) { return write.asset.key == key; });
    if (pending != writes.assets.rend())
        return pending->remove ? std::nullopt : std::optional(pending->asset);
    return reader.find_asset(key);
}

std::string long_uri(const Launch& launch, const std::string& uri) {
    const auto place = parse_datastore_uri(uri);
    if (!place) return uri;
    return "azureml://subscriptions/" + launch.subscription + "/resourcegroups/" + launch.resource_group +
           "/workspaces/" + launch.workspace_name + "/datastores/" + place->datastore + "/paths/" +
           place->path;
}

Json body_of(const Launch& launch, const LaunchOutput& output, bool is_model) {
    Json body = Json::object(
        {{is_model ? "modelUri" : "dataUri", long_uri(launch, output.uri)},
         {is_model ? "modelType" : "dataType", output.type},
         {"description", "output '" + output.name + "' of job " + launch.job_name},
         {"tags", Json::object()},
         {"properties", Json::object({{"lavant.job", launch.job_name}, {"lavant.output", output.name}})},
         {"isAnonymous", false}});
    if (is_model) body.set("jobName", launch.job_name);
    return body;
}

Result<void> register_output(ports::Reader& reader, const JobHead& job, const Launch& launch,
                             const LaunchOutput& output, WriteBatch& writes) {
    const std::string kind = asset_kind_of_output(output.type);
    AssetWrite container;
    container.asset.key = {job.workspace, kind, output.asset_name, ""};
    LAVANT_TRY(const auto existing, find_now(reader, writes, container.asset.key));
    Json body = Json::object({{"nextVersion", "1"}});
    if (existing) {
        container.asset = *existing;
        LAVANT_TRY(body, wire::parse_json(existing->body));
    }
    const Instant now = job.ended_at.value_or(job.submitted_at);
    AssetWrite version;
    version.asset.key = {job.workspace, kind, output.asset_name,
                         output.asset_version.empty() ? body["nextVersion"].string() : output.asset_version};
    LAVANT_TRY(const auto taken, find_now(reader, writes, version.asset.key));
    if (taken) {  // Made since the job was submitted, which was refused otherwise.
        log(Level::Warning, "output_not_registered",
            {{"job", job.name}, {"asset", output.asset_name + ":" + version.asset.key.version}});
        return {};
    }
    version.expected = 0;
    version.asset.body = body_of(launch, output, kind == "models").dump();
    LAVANT_TRY(const Json advanced,
               advance_container(existing ? existing->body : "", version.asset.key.version));
    container.asset.body = advanced.dump();
    for (AssetWrite* write : {&version, &container}) {
        write->asset.modified_at = now;
        if (write == &container && existing) continue;
        write->asset.created_by = launch.user;
        write->asset.created_at = now;
    }
    writes.lineage.push_back({.job = job.id,
                              .job_name = job.name,
                              .workspace = job.workspace,
                              .role = LineageRole::Output,
                              .port = output.name,
                              .kind = kind,
                              .name = output.asset_name,
                              .version = version.asset.key.version});
    writes.assets.push_back(std::move(version));
    writes.assets.push_back(std::move(container));
    return {};
}

}  // namespace

const char* asset_kind_of_output(std::string_view type) {
    return type.ends_with("_model") ? "models" : "data";
}

Result<void> register_outputs(ports::Reader& reader, const JobHead& job, const std::string& encoded,
                              WriteBatch& writes) {
    LAVANT_TRY(const Launch launch, wire::decode_launch(encoded));
    for (const LaunchOutput& output : launch.outputs)
        if (!output.asset_name.empty()) LAVANT_TRY_VOID(register_output(reader, job, launch, output, writes));
    return {};
}

}  // namespace lavant::api
