#include "api/job_references.h"

#include <utility>

#include "api/asset_names.h"
#include "api/assets.h"
#include "api/computes.h"
#include "api/curated.h"
#include "base/text.h"
#include "core/model/compute.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

class References {
 public:
    References(Context& context, const SubmissionAsk& ask) : context_(context), ask_(ask) {}

    Result<void> check_compute(const std::string& path, const Json& sent) {
        std::string name = sent.string();
        if (const std::size_t slash = name.rfind('/'); slash != std::string::npos)
            name = name.substr(slash + 1);
        if (name.starts_with("azureml:")) name = name.substr(std::string_view("azureml:").size());
        // A binding is known when the pipeline runs.
        if (name.empty() || name.find("${{") != std::string::npos || is_no_compute(name)) return {};
        LAVANT_TRY(const auto found, find_compute(context_, ask_.workspace, name));
        if (!found) add(path, explain_no_compute(context_, ask_.workspace, name));
        return {};
    }

    Result<void> check_component(const std::string& path, const Json& sent) {
        const std::string id = sent.string();
        const auto named = id.empty() ? std::nullopt : parse_asset_name(id, "components");
        if (!named || id.starts_with("azureml://")) return {};
        if (const auto here = check_scope(context_, ask_.workspace, id); !here) {
            add(path, here.error().message);
            return {};
        }
        LAVANT_TRY(const auto found, find_version(context_, ask_.workspace, "components", *named));
        if (!found)
            add(path, "component '" + named->name + ":" +
                          (named->version.empty() ? named->label : named->version) +
                          "' is not registered; register it first");
        return {};
    }

    Result<void> done() {
        if (problems_.empty()) return {};
        return fail(
            Error{ErrorCode::InvalidArgument, "cannot submit job '" + ask_.name + "'", std::move(problems_)});
    }

 private:
    void add(std::string path, std::string message) {
        problems_.push_back({std::move(path), std::move(message), 0, 0});
    }

    Context& context_;
    const SubmissionAsk& ask_;
    std::vector<FieldProblem> problems_;
};

// "" when it is to stay as it was sent.
Result<std::string> trial_environment(Context& context, const SubmissionAsk& ask, const std::string& id) {
    const auto named =
        id.empty() || id.starts_with("/") ? std::nullopt : parse_asset_name(id, "environments");
    if (!named || id.starts_with("azureml://")) return std::string();
    LAVANT_TRY_VOID(check_scope(context, ask.workspace, id));
    LAVANT_TRY(const auto asset, find_version(context, ask.workspace, "environments", *named));
    if (asset)
        return arm_id(ask.workspace_name) + "/environments/" + asset->key.name + "/versions/" +
               asset->key.version;
    if (const CuratedEnvironment* curated = find_curated(named->name))
        if (const auto version =
                curated_version(*curated, named->version.empty() ? named->label : named->version))
            return curated_id(named->name, *version);
    return fail(ErrorCode::NotFound, "environment '" + id + "' is not registered; register it first");
}

}  // namespace

Result<std::string> resolve_references(Context& context, const SubmissionAsk& ask,
                                       const std::string& properties) {
    LAVANT_TRY(Json job, wire::parse_json(properties));
    References references(context, ask);
    LAVANT_TRY_VOID(references.check_compute("properties.computeId", job["computeId"]));
    LAVANT_TRY_VOID(
        references.check_compute("properties.settings.default_compute", job["settings"]["default_compute"]));
    LAVANT_TRY_VOID(references.check_component("properties.componentId", job["componentId"]));
    for (const Json::Member& step : job["jobs"].members()) {
        const std::string path = "properties.jobs." + step.key;
        LAVANT_TRY_VOID(references.check_compute(path + ".computeId", step.value["computeId"]));
        LAVANT_TRY_VOID(references.check_component(path + ".componentId", step.value["componentId"]));
    }
    LAVANT_TRY_VOID(references.done());
    LAVANT_TRY(const std::string environment,
               trial_environment(context, ask, job["trial"]["environmentId"].string()));
    if (!environment.empty()) job.member("trial").set("environmentId", environment);
    // There is one measure for this task, and clients only read it.
    const bool wants_metric = equals_ignoring_case(job["taskDetails"]["taskType"].text(), "TextNER") &&
                              job["taskDetails"]["primaryMetric"].is_null();
    if (wants_metric) job.member("taskDetails").set("primaryMetric", "Accuracy");
    if (environment.empty() && !wants_metric) return properties;
    return job.dump();
}

}  // namespace lavant::api
