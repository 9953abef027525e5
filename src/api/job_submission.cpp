#include "api/job_submission.h"

#include <chrono>
#include <utility>

#include "api/assets.h"
#include "api/environments.h"
#include "api/job_view.h"
#include "api/pool_plan.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/model/launch.h"
#include "core/spec/command_job.h"
#include "core/spec/output_path.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using Problems = std::vector<FieldProblem>;

constexpr const char* kPythonHome = "lavant.python_home";

void add(Problems& problems, std::string path, std::string message) {
    problems.push_back({std::move(path), std::move(message), 0, 0});
}

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
    return text;
}

// The words of a switch were checked when the job was parsed.
bool is_on(std::string_view word) {
    return equals_ignoring_case(word, "true") || equals_ignoring_case(word, "on") ||
           equals_ignoring_case(word, "yes");
}

// The folder of the code asset in the blob store.
Result<void> resolve_code(Context& context, const std::string& code_id, Launch& launch) {
    if (code_id.empty()) return {};
    if (auto known = context.codes.find(code_id)) {
        launch.code_uri = std::move(known->uri);
        launch.code_hash = std::move(known->hash);
        return {};
    }
    const auto name = parse_asset_name(code_id, "codes");
    if (!name) return fail(ErrorCode::InvalidArgument, "'" + code_id + "' is not the id of a code version");
    LAVANT_TRY(const auto asset, find_version(context, "codes", *name));
    if (!asset)
        return fail(ErrorCode::NotFound,
                    "code '" + name->name + ":" + name->version + "' is not there; upload it again");
    LAVANT_TRY(const wire::Json body, wire::parse_json(asset->body));
    launch.code_uri = body["codeUri"].string();
    // Nodes keep snapshots under this key: ours, not the hash that the client claims.
    launch.code_hash = to_hex(context.ports.crypto.sha256(launch.code_uri));
    if (!name->version.empty()) context.codes.put(code_id, {launch.code_uri, launch.code_hash});
    return {};
}

// To azureml://datastores/D/paths/P where it can be; other schemes are the agent's business.
Result<std::string> resolve_uri(Context& context, const std::string& uri) {
    if (const auto place = parse_datastore_uri(uri)) {
        if (place->datastore != kBlobDatastore && place->datastore != kArtifactDatastore)
            return fail(ErrorCode::NotFound, "there is no datastore '" + place->datastore + "'; there are " +
                                                 kBlobDatastore + " and " + kArtifactDatastore);
        return to_short_uri(*place);
    }
    const bool is_id = uri.starts_with("/subscriptions/");
    if (!is_id && !uri.starts_with("azureml:")) return uri;
    for (const auto& [kind, field] : {std::pair{"data", "dataUri"}, std::pair{"models", "modelUri"}}) {
        const auto name = parse_asset_name(uri, kind);
        if (!name) continue;
        LAVANT_TRY(const auto asset, find_version(context, kind, *name));
        if (!asset) continue;
        LAVANT_TRY(const wire::Json body, wire::parse_json(asset->body));
        std::string resolved = body[field].string();
        if (const auto place = parse_datastore_uri(resolved)) return to_short_uri(*place);
        return resolved;
    }
    return fail(ErrorCode::NotFound, "'" + uri + "' is not a registered data asset or model");
}

void resolve_inputs(Context& context, Launch& launch, Problems& problems) {
    for (LaunchInput& input : launch.inputs) {
        if (input.type == "literal") continue;
        auto resolved = resolve_uri(context, input.value);
        if (resolved) {
            input.value = std::move(*resolved);
        } else {
            add(problems, "properties.inputs." + input.name + ".uri", resolved.error().message);
        }
    }
}

void resolve_outputs(const std::string& job_name, Launch& launch, Problems& problems) {
    for (LaunchOutput& output : launch.outputs) {
        const std::string path = "properties.outputs." + output.name;
        if (!is_plain_name(output.name, 255)) {
            add(problems, path, "the name of an output has letters, digits, '-', '_' and '.' only");
            continue;
        }
        if (output.uri.empty()) {
            output.uri = to_short_uri({kBlobDatastore, output_prefix(job_name) + output.name + "/"});
            continue;
        }
        std::string uri = replace_all(output.uri, "${{name}}", job_name);
        uri = replace_all(std::move(uri), "${{output_name}}", output.name);
        uri = replace_all(std::move(uri), "${{default_datastore}}", kBlobDatastore);
        const auto place = parse_datastore_uri(uri);
        if (!place || (place->datastore != kBlobDatastore && place->datastore != kArtifactDatastore)) {
            add(problems, path + ".uri",
                "outputs are kept in a datastore of this workspace: "
                "azureml://datastores/workspaceblobstore/paths/...");
            continue;
        }
        output.uri = to_short_uri(*place);
    }
    for (const LaunchOutput& output : launch.outputs) {
        const auto problem = spec::find_output_problem(output.uri);
        if (problem && output.mode != "direct")
            add(problems, "properties.outputs." + output.name + ".uri",
                "output '" + output.name + "' cannot be kept there: " + *problem);
    }
}

int priority_of(const std::string& word) {
    if (equals_ignoring_case(word, "high")) return 1;
    if (equals_ignoring_case(word, "low")) return -1;
    return 0;
}

Launch make_launch(const SubmissionAsk& ask, wire::ArmCommandJob& job) {
    Launch launch;
    launch.workspace = kWorkspaceKey;
    launch.subscription = ask.workspace.subscription;
    launch.resource_group = ask.workspace.resource_group;
    launch.workspace_name = ask.workspace.name;
    launch.job_name = launch.root_job_name = ask.name;
    launch.experiment_name = launch.experiment_id = job.experiment_name;
    launch.command = std::move(job.command);
    launch.environment_variables = std::move(job.environment_variables);
    launch.inputs = std::move(job.inputs);
    launch.outputs = std::move(job.outputs);
    launch.timeout_micros = job.timeout_micros;
    launch.distribution = job.distribution;
    launch.process_count = job.process_count;
    return launch;
}

}  // namespace

OwnProperties read_own_properties(const std::map<std::string, std::string>& extra) {
    OwnProperties own;
    if (const auto home = extra.find(kPythonHome); home != extra.end()) own.python_home = home->second;
    if (auto retry = spec::parse_retry(extra)) own.retry = std::move(*retry);
    if (const auto keep = extra.find("lavant.keep_on_failure"); keep != extra.end())
        own.keep_on_failure = is_on(keep->second);
    if (const auto sandbox = extra.find("lavant.sandbox"); sandbox != extra.end())
        own.confined = is_on(sandbox->second);
    return own;
}

Result<plane::SubmitJob> plan_submission(Context& context, const SubmissionAsk& ask,
                                         wire::ArmCommandJob job) {
    Problems problems;
    plane::SubmitJob event;
    PoolPlan placed = plan_pool(context, ask.workspace, job);
    event.pool = std::move(placed.pool);
    event.job.head.demand = {.user = ask.user,
                             .processes = std::max(1, job.process_count),
                             .bound = Duration(job.timeout_micros),
                             .task = placed.task,
                             .grace = spec::parse_preemption_grace(job.extra)};
    event.job.head.warning = std::move(placed.warning);
    problems = std::move(placed.problems);
    const OwnProperties own = read_own_properties(job.extra);
    if (job.instance_count < 1 || job.instance_count > limits::kInstancesPerJob)
        add(problems, "properties.resources.instanceCount",
            "must be from 1 to " + std::to_string(limits::kInstancesPerJob));
    else if (job.process_count > limits::kTasksPerNode)
        add(problems, "properties.distribution.processCountPerInstance",
            "a node runs at most " + std::to_string(limits::kTasksPerNode) + " processes; use more nodes");
    else if (job.instance_count * std::max(1, job.process_count) > limits::kInstancesPerJob)
        add(problems, "properties.distribution.processCountPerInstance",
            "nodes times processes must not exceed " + std::to_string(limits::kInstancesPerJob));
    if (job.experiment_name.empty()) job.experiment_name = "Default";

    Launch launch = make_launch(ask, job);
    launch.user = ask.user;
    launch.keep_on_failure = own.keep_on_failure;
    launch.confined = own.confined;
    if (!own.confined && !ask.is_owner)
        add(problems, "properties.properties.lavant.sandbox",
            "only an owner may run a job unconfined; leave it out, or ask an owner");
    if (auto code = resolve_code(context, job.code_id, launch); !code)
        add(problems, "properties.codeId", code.error().message);
    auto environment = resolve_environment(context, {job.environment_id, own.python_home});
    if (environment) {
        launch.environment = std::move(*environment);
    } else {
        add(problems, "properties.environmentId", environment.error().message);
    }
    resolve_inputs(context, launch, problems);
    resolve_outputs(ask.name, launch, problems);
    if (!problems.empty())
        return fail(
            Error{ErrorCode::InvalidArgument, "cannot submit job '" + ask.name + "'", std::move(problems)});

    JobHead& head = event.job.head;
    head.workspace = kWorkspaceKey;
    head.name = ask.name;
    head.instances = job.instance_count;
    head.priority = priority_of(job.priority);
    head.retry = own.retry;
    event.job.meta = {job.display_name.empty() ? ask.name : std::move(job.display_name),
                      std::move(job.description), std::move(job.tags), job.archived};
    event.job.body.experiment = job.experiment_name;
    event.job.body.created_by = ask.user;
    event.job.body.properties = to_stored_properties(job.properties);
    event.job.body.launch = wire::encode_launch(launch);
    return event;
}

}  // namespace lavant::api
