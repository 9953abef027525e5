#include "api/history_routes.h"

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "api/answers.h"
#include "api/asset_names.h"
#include "api/byte_range.h"
#include "api/job_routes.h"
#include "api/job_view.h"
#include "api/log_links.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr Duration kLinkLife = std::chrono::hours(1);
constexpr Duration kStreamableFor = std::chrono::minutes(10);
constexpr std::size_t kSeenMax = 4096;
constexpr std::size_t kOutputsPerAsk = 1000;
constexpr int kLogFilesMax = 1000;
constexpr std::size_t kTagsMax = 1000;              // of a run: edits add up
constexpr std::size_t kWordsBytesMax = 256U << 10;  // its tags, description and display name together
constexpr std::string_view kOutputIdPrefix = "azureml://jobs/";

// azure-ai-ml prints a log only between two looks that say the job goes on. The first look at a job that
// ended shortly before is therefore answered with Finalizing; this remembers which jobs had theirs.
class FirstLooks {
 public:
    bool is_first(JobId job) {
        const std::lock_guard lock(mutex_);
        if (!seen_.insert(job).second) return false;
        order_.push_back(job);
        if (order_.size() > kSeenMax) {
            seen_.erase(order_.front());
            order_.pop_front();
        }
        return true;
    }

 private:
    std::mutex mutex_;  // guards both
    std::set<JobId> seen_;
    std::deque<JobId> order_;
};

struct History {
    History(Context& shared) : links(shared.ports.crypto, shared.settings.secret) {}
    LogLinks links;
    FirstLooks looks;
};

bool is_log_folder(std::string_view file) {
    for (const std::string_view folder : {"user_logs/", "system_logs/", "azureml-logs/", "logs/"})
        if (file.starts_with(folder)) return true;
    return false;
}

Result<Json> log_files(Context& context, const History& history, const Call& call, const std::string& job) {
    Json files = Json::object();
    const std::string origin = origin_of(context, call.request);
    const Instant expiry = context.ports.clock.now() + kLinkLife;
    ports::BlobListing listing;
    listing.container = artifact_container(call.workspace);
    listing.limit = kLogFilesMax;
    context.job_files.refresh(listing.container, artifact_prefix(job));
    for (const char* folder : {"user_logs/", "system_logs/", "logs/"}) {
        listing.prefix = artifact_prefix(job) + folder;
        LAVANT_TRY(const auto page, context.ports.blobs.list(listing));
        for (const ports::BlobInfo& blob : page.blobs)
            files.set(blob.name.substr(artifact_prefix(job).size()),
                      origin + "/logs/" + history.links.make(listing.container + "/" + blob.name, expiry));
    }
    return files;
}

Json error_body(const std::string& code, const std::string& message) {
    return Json::object({{"error", Json::object({{"code", code},
                                                 {"message", message},
                                                 {"messageFormat", nullptr},
                                                 {"details", Json::array()}})}});
}

Json error_view(const JobHead& head) {
    if (!head.error) return nullptr;
    return error_body(head.error->code, head.error->message);
}

// The name of its compute.
std::string target_of(const Job& job) {
    for (const auto& [key, value] : slice_object(job.body.properties)) {
        if (key != "computeId" || value.size() < 2) continue;
        const std::string_view id = value.substr(1, value.size() - 2);
        return std::string(id.substr(id.rfind('/') + 1));
    }
    return "serverless";
}

JobStatus streamed_status(Context& context, History& history, const Call& call, const JobHead& head) {
    const JobStatus shown = shown_status(context, call, head);
    if (!is_azure_sdk(call.request) || context.settings.sdk_settle == Duration::zero()) return shown;
    const bool first = history.looks.is_first(head.id);
    const bool lately = head.ended_at && context.ports.clock.now() - *head.ended_at < kStreamableFor;
    return first && lately && is_terminal(shown) ? JobStatus::Finalizing : shown;
}

Result<HttpResponse> details(History& history, Context& context, const Call& call) {
    LAVANT_TRY(const Job job, load_job(context, call.workspace, call.param("name")));
    const JobHead& head = job.head;
    LAVANT_TRY(Json files, log_files(context, history, call, head.name));
    Json warnings = Json::array();
    for (const std::string& warning : {head.warning, head.queue_warning})
        if (!warning.empty()) warnings.append(Json::object({{"message", warning}}));
    Json body = Json::object({{"runId", head.name},
                              {"target", target_of(job)},
                              {"status", name_of(streamed_status(context, history, call, head))},
                              {"startTimeUtc", head.started_at ? Json(to_rfc3339(*head.started_at)) : Json()},
                              {"endTimeUtc", head.ended_at ? Json(to_rfc3339(*head.ended_at)) : Json()},
                              {"error", error_view(head)},
                              {"warnings", std::move(warnings)},
                              {"properties", own_properties(job.body.properties)},
                              {"logFiles", std::move(files)}});
    return json_response(200, body);
}

// Older releases send no api-version here and know the types by other names.
std::string type_name(const std::string& type, bool old_release) {
    if (!old_release) return type;
    if (type == "uri_folder") return "UriFolder";
    if (type == "uri_file") return "UriFile";
    return type == "mltable" ? "MLTable" : type;
}

std::string model_type_name(const std::string& type) {
    if (type == "mlflow_model") return "MLFlowModel";
    return type == "triton_model" ? "TritonModel" : "CustomModel";
}

Json run_view(Context& context, const Call& call, const Job& job) {
    Json tags = Json::object();
    for (const auto& [key, value] : job.meta.tags) tags.set(key, value);
    return Json::object(
        {{"runId", job.head.name},
         {"displayName", job.meta.display_name},
         {"description", job.meta.description},
         {"experimentId", job.body.experiment},
         {"status", name_of(shown_status(context, call, job.head))},
         {"startTimeUtc", job.head.started_at ? Json(to_rfc3339(*job.head.started_at)) : Json()},
         {"endTimeUtc", job.head.ended_at ? Json(to_rfc3339(*job.head.ended_at)) : Json()},
         {"hidden", job.meta.archived},
         {"tags", std::move(tags)},
         {"properties", own_properties(job.body.properties)}});
}

Result<HttpResponse> run_data(Context& context, const Call& call) {
    LAVANT_TRY(const Json ask, wire::parse_json(call.request.body));
    LAVANT_TRY(const Job job, load_job(context, call.workspace, ask["runId"].string()));
    LAVANT_TRY(const Launch launch, wire::decode_launch(job.body.launch));
    const bool old_release = !call.request.query_value("api-version");
    Json outputs = Json::object();
    for (const LaunchOutput& output : launch.outputs)
        outputs.set(output.name, Json::object({{"assetId", std::string(kOutputIdPrefix) + job.head.name +
                                                               "/outputs/" + output.name},
                                               {"type", type_name(output.type, old_release)}}));
    Json metadata = run_view(context, call, job);
    metadata.set("outputs", std::move(outputs));
    return json_response(200, Json::object({{"runMetadata", std::move(metadata)}}));
}

// "azureml://jobs/{job}/outputs/{output}" to the folder it lies in.
Result<std::optional<Json>> resolve_output(Context& context, const Call& call, const std::string& id) {
    if (!id.starts_with(kOutputIdPrefix)) return std::optional<Json>{};
    const auto parts = split(std::string_view(id).substr(kOutputIdPrefix.size()), '/');
    if (parts.size() != 3 || parts[1] != "outputs") return std::optional<Json>{};
    LAVANT_TRY(const auto job, context.ports.reader.find_job(call.workspace, std::string(parts[0])));
    if (!job) return std::optional<Json>{};
    LAVANT_TRY(const Launch launch, wire::decode_launch(job->body.launch));
    const WorkspaceName workspace = workspace_of(call);
    for (const LaunchOutput& output : launch.outputs) {
        const auto place = parse_datastore_uri(output.uri);
        if (output.name != parts[2] || !place) continue;
        return std::optional<Json>(
            Json::object({{"uri", "azureml://subscriptions/" + workspace.subscription + "/resourcegroups/" +
                                      workspace.resource_group + "/workspaces/" + workspace.name +
                                      "/datastores/" + place->datastore + "/paths/" + place->path},
                          {"type", output.type}}));
    }
    return std::optional<Json>{};
}

Result<HttpResponse> resolve_uris(Context& context, const Call& call) {
    LAVANT_TRY(const Json ask, wire::parse_json(call.request.body));
    if (ask["values"].size() > kOutputsPerAsk)
        return fail(ErrorCode::InvalidArgument, "at most 1000 ids can be resolved at once");
    Json values = Json::object();
    for (const Json& id : ask["values"].items()) {
        LAVANT_TRY(auto resolved, resolve_output(context, call, id.string()));
        if (resolved) values.set(id.text(), std::move(*resolved));
    }
    return json_response(200, Json::object({{"values", std::move(values)}}));
}

// Outputs that are models: the same places under other names.
Result<HttpResponse> resolve_model_uris(Context& context, const Call& call) {
    LAVANT_TRY(const Json ask, wire::parse_json(call.request.body));
    if (ask["values"].size() > kOutputsPerAsk)
        return fail(ErrorCode::InvalidArgument, "at most 1000 ids can be resolved at once");
    Json values = Json::object();
    for (const Json& id : ask["values"].items()) {
        LAVANT_TRY(const auto resolved, resolve_output(context, call, id.string()));
        if (resolved)
            values.set(id.text(), Json::object({{"path", (*resolved)["uri"]},
                                                {"uri", (*resolved)["uri"]},
                                                {"type", model_type_name((*resolved)["type"].string())}}));
    }
    return json_response(200, Json::object({{"values", std::move(values)}}));
}

Result<HttpResponse> get_run(Context& context, const Call& call) {
    LAVANT_TRY(const Job job, load_job(context, call.workspace, call.param("name")));
    return json_response(200, run_view(context, call, job));
}

Result<HttpResponse> children(Context& context, const Call& call) {
    LAVANT_TRY([[maybe_unused]] const Job job, load_job(context, call.workspace, call.param("name")));
    return json_response(200, std::string(R"({"value":[]})"));
}

// Services are kept with their job; nothing starts them yet.
Result<HttpResponse> service_instances(Context& context, const Call& call) {
    LAVANT_TRY(const Job job, load_job(context, call.workspace, call.param("name")));
    LAVANT_TRY(const Json properties, wire::parse_json(job.body.properties));
    Json instances = Json::object();
    for (const Json::Member& service : properties["services"].members())
        instances.set(
            service.key,
            Json::object({{"type", service.value["jobServiceType"].string()},
                          {"port", service.value["port"].is_null() ? Json() : service.value["port"]},
                          {"status", "NotSupported"},
                          {"endpoint", service.value["endpoint"].string()},
                          {"error", error_body("NotSupported",
                                               "interactive services are not started by this version yet")},
                          {"properties", service.value["properties"].is_object() ? service.value["properties"]
                                                                                 : Json::object()}}));
    return json_response(200, Json::object({{"instances", std::move(instances)}}));
}

Result<void> check_words(const JobMeta& meta) {
    std::size_t bytes = meta.display_name.size() + meta.description.size();
    for (const auto& [key, value] : meta.tags) bytes += key.size() + value.size();
    if (meta.tags.size() <= kTagsMax && bytes <= kWordsBytesMax) return {};
    return fail(ErrorCode::InvalidArgument, "a run has at most " + std::to_string(kTagsMax) +
                                                " tags, and with its description and display name at most " +
                                                std::to_string(kWordsBytesMax >> 10U) +
                                                " KiB of them; keep large values in a file of the job");
}

Result<plane::EditJob> plan_edit(Context& context, const Call& call) {
    LAVANT_TRY(const Json patch, wire::parse_json(call.request.body));
    LAVANT_TRY(const Job job, load_job(context, call.workspace, call.param("name")));
    plane::EditJob edit;
    edit.workspace = call.workspace;
    edit.name = job.head.name;
    edit.meta = job.meta;
    if (patch["displayName"].is_string()) edit.meta.display_name = patch["displayName"].string();
    if (patch["description"].is_string()) edit.meta.description = patch["description"].string();
    if (patch["hidden"].is_boolean()) edit.meta.archived = patch["hidden"].boolean();
    for (const Json::Member& tag : patch["tags"].members()) edit.meta.tags[tag.key] = tag.value.scalar_text();
    if (patch["displayName"].is_string() || patch["description"].is_string() || patch["tags"].size() > 0)
        LAVANT_TRY_VOID(check_words(edit.meta));
    if (patch["properties"].size() > 0) {
        edit.properties = with_own_properties(job.body.properties, patch["properties"]);
        if (edit.properties->size() > limits::kJsonBytes)
            return fail(ErrorCode::InvalidArgument,
                        "the job's properties would become larger than a request "
                        "may be; keep large values in a file of the job");
    }
    return edit;
}

void edit_run(Context& context, const SharedCall& call) {
    Result<plane::EditJob> edit = plan_edit(context, *call);
    if (!edit) return call->respond(error_response(edit.error()));
    post(context, call, std::move(*edit), [&context, call](const plane::Answer& answer) {
        call->respond(answer.job
                          ? json_response(200, run_view(context, *call, *answer.job))
                          : error_response({ErrorCode::Internal, "the edited job was not answered", {}}));
    });
}

Result<HttpResponse> log_file(History& history, Context& context, const Call& call) {
    const auto linked = history.links.open(call.param("token"), context.ports.clock.now());
    const std::size_t slash = linked ? linked->find('/') : std::string::npos;
    const std::string container = slash == std::string::npos ? "" : linked->substr(0, slash);
    const auto blob =
        container.empty() ? std::optional<std::string>{} : std::optional(linked->substr(slash + 1));
    if (!blob || blob->find("/dcid.") == std::string::npos ||
        !is_log_folder(blob->substr(blob->find('/', blob->find("/dcid.") + 1) + 1)))
        return fail(ErrorCode::PermissionDenied,
                    "the link to this log has expired; ask for the run's details again");
    context.job_files.refresh(container, *blob);
    LAVANT_TRY(const auto found, context.ports.blobs.find(container, *blob));
    if (!found) return fail(ErrorCode::NotFound, "the log is not there any more");
    HttpResponse response = text_response(200, "");
    const ByteRange range = resolve_range(call.request.header("Range"), found->bytes);
    if (range.kind == ByteRange::Kind::Impossible) {
        response.status = 416;
        response.headers.emplace_back("Content-Range", "bytes */" + std::to_string(found->bytes));
        return response;
    }
    if (range.kind == ByteRange::Kind::Part) {
        response.status = 206;
        response.headers.emplace_back("Content-Range", range.content_range(found->bytes));
    }
    if (range.bytes > 0)
        response.file =
            ports::FileBody{context.ports.blobs.path_of(container, *blob), range.offset, range.bytes};
    return response;
}

}  // namespace

void add_history_routes(Router& router, Context& context) {
    const auto history = std::make_shared<History>(context);  // shared by the handlers below
    const std::string base = std::string("/history/v1.0") + kWorkspacePattern;
    const std::string run = base + "/runs/{name}";
    router.add("GET", run, answer_now(context, Need::Reader, get_run));
    router.add("GET", run + "/details",
               answer_now(context, Need::Reader, [history](Context& shared, const Call& call) {
                   return details(*history, shared, call);
               }));
    router.add("GET", run + "/children", answer_now(context, Need::Reader, children));
    router.add("GET", run + "/serviceinstances/{node}", answer_now(context, Need::Reader, service_instances));
    router.add("POST", base + "/rundata", answer_now(context, Need::Reader, run_data));
    router.add("PATCH", base + "/experiments/{experiment}/runs/{name}",
               Route{Need::Contributor, [&context](const SharedCall& call) { edit_run(context, call); }});
    router.add("POST", std::string("/data/v1.0") + kWorkspacePattern + "/dataversion/batchGetResolvedUris",
               answer_now(context, Need::Reader, resolve_uris));
    router.add("POST",
               std::string("/modelregistry/v1.0") + kWorkspacePattern + "/models/batchGetResolvedUris",
               answer_now(context, Need::Reader, resolve_model_uris));
    router.add("GET", "/logs/{token}",
               answer_now(context, Need::Nothing, [history](Context& shared, const Call& call) {
                   return log_file(*history, shared, call);
               }));
}

}  // namespace lavant::api
