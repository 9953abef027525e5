#include "api/output_registration.h"

#include <optional>
#include <utility>

#include "api/asset_names.h"
#include "api/asset_view.h"
#include "app/job_warning.h"
#include "base/log.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr int kVersionsTried = 1000;

// As it will be after the batch, in which the commit refuses what expects something else than is there.
Result<std::optional<Asset>> find_now(ports::Reader& reader, const WriteBatch& writes, const AssetKey& key) {
    LAVANT_TRY(std::optional<Asset> now, reader.find_asset(key));
    for (const AssetWrite& write : writes.assets) {
        if (write.asset.key != key) continue;
        const std::int64_t there = now ? now->row_version : 0;
        if (write.expected && *write.expected != there) continue;
        now = write.remove ? std::nullopt : std::optional(write.asset);
        if (now) now->row_version = there + 1;
    }
    return now;
}

// The version that an output becomes: the one that was asked for, else the next that is free. nullopt: taken.
Result<std::optional<std::string>> free_version(ports::Reader& reader, const WriteBatch& writes, AssetKey key,
                                                const std::string& asked, const std::string& container) {
    LAVANT_TRY(Json body, wire::parse_json(container));
    for (int tried = 0; tried < kVersionsTried; ++tried) {
        key.version = asked.empty() ? body["nextVersion"].text() : asked;
        if (key.version.empty()) key.version = "1";
        LAVANT_TRY(const auto taken, find_now(reader, writes, key));
        if (!taken) return key.version;
        if (!asked.empty()) break;
        LAVANT_TRY(body, advance_container(body.dump(), key.version));
    }
    return std::nullopt;
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
    if (existing) container.asset = *existing;
    container.expected = existing ? existing->row_version : 0;
    const Instant now = job.ended_at.value_or(job.submitted_at);
    LAVANT_TRY(const auto free, free_version(reader, writes, container.asset.key, output.asset_version,
                                             existing ? existing->body : "{}"));
    if (!free) {  // Made since the job was submitted, which was refused otherwise.
        const std::string asset =
            output.asset_name + (output.asset_version.empty() ? "" : ":" + output.asset_version);
        log(Level::Warning, "output_not_registered", {{"job", job.name}, {"asset", asset}});
        app::warn_of(job,
                     "output '" + output.name + "' did not become " + asset +
                         ", which somebody made while the job ran",
                     writes);
        return {};
    }
    AssetWrite version;
    version.asset.key = {job.workspace, kind, output.asset_name, *free};
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
