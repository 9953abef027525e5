#include "api/job_submission.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/assets.h"
#include "api/container_places.h"
#include "api/data_uris.h"
#include "api/datastores.h"
#include "api/environments.h"
#include "api/job_references.h"
#include "api/job_view.h"
#include "api/output_registration.h"
#include "api/pool_plan.h"
#include "api/webhooks.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/model/launch.h"
#include "core/spec/command_job.h"
#include "core/spec/file_uri.h"
#include "core/spec/output_path.h"
#include "core/spec/problems.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

using Problems = std::vector<FieldProblem>;

constexpr const char* kPythonHome = "lavant.python_home";
constexpr const char* kNotify = "lavant.notify";

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
Result<CodePlace> find_code(Context& context, const std::string& workspace, const std::string& code_id) {
    if (auto known = context.codes.find(workspace + code_id)) return std::move(*known);
    const std::uint64_t generation = context.codes.generation();
    LAVANT_TRY_VOID(check_scope(context, workspace, code_id));
    const auto name = parse_asset_name(code_id, "codes");
    if (!name) return fail(ErrorCode::InvalidArgument, "'" + code_id + "' is not the id of a code version");
    LAVANT_TRY(const auto asset, find_version(context, workspace, "codes", *name));
    if (!asset)
        return fail(ErrorCode::NotFound,
                    "code '" + name->name + ":" + name->version + "' is not there; upload it again");
    LAVANT_TRY(const wire::Json body, wire::parse_json(asset->body));
    CodePlace code;
    code.uri = body["codeUri"].string();
    // Nodes keep snapshots under this key: ours, not the hash that the client claims.
    code.hash = to_hex(context.ports.crypto.sha256(code.uri));
    LAVANT_TRY(code.datastore, find_code_datastore(context, workspace, code.uri));
    if (!name->version.empty()) context.codes.put(workspace + code_id, code, generation);
    return code;
}

// The datastore in which it lies, if it lies in one.
std::string resolve_code(Context& context, const std::string& code_id, Launch& launch, Problems& problems) {
    if (code_id.empty()) return "";
    auto code = find_code(context, launch.workspace, code_id);
    if (!code) {
        add(problems, "properties.codeId", code.error().message);
        return "";
    }
    launch.code_uri = std::move(code->uri);
    launch.code_hash = std::move(code->hash);
    return std::move(code->datastore);
}

// The container behind a datastore that the launch names, for the agent.
Result<void> add_container(Context& context, const std::string& datastore, Launch& launch) {
    if (datastore.empty() || launch.containers.contains(datastore)) return {};
    LAVANT_TRY(launch.containers[datastore], container_of_datastore(context, launch.workspace, datastore));
    return {};
}

// An upload has a container of its own, which is no datastore's.
bool is_upload(const Launch& launch, const std::string& datastore) {
    const auto container = launch.containers.find(datastore);
    return container != launch.containers.end() && container->second == datastore;
}

struct Lineage {
    std::vector<LineageEdge> edges;

    void add(LineageEdge edge, const Launch& launch, const std::string& port) {
        if (edge.kind.empty()) return;
        edge.job_name = launch.job_name;
        edge.workspace = launch.workspace;
        edge.port = port;
        edges.push_back(std::move(edge));
    }
};

void resolve_inputs(Context& context, Launch& launch, Lineage& lineage, Problems& problems) {
    for (LaunchInput& input : launch.inputs) {
        if (input.type == "literal") continue;
        auto resolved = resolve_data_uri(context, launch.workspace, input.value);
        const auto added = resolved ? add_container(context, resolved->datastore, launch) : Result<void>{};
        if (!resolved || !added) {
            add(problems, "properties.inputs." + input.name + ".uri",
                resolved ? added.error().message : resolved.error().message);
            continue;
        }
        input.value = std::move(resolved->uri);
        lineage.add(std::move(resolved->asset), launch, input.name);
    }
}

// A version that is there already cannot be made by the job.
Result<void> check_asset_name(Context& context, const Launch& launch, const LaunchOutput& output) {
    if (output.asset_name.empty()) return {};
    for (const std::string& name : {output.asset_name, output.asset_version})
        if (!name.empty() && !is_plain_name(name, 255))
            return fail(ErrorCode::InvalidArgument,
                        "'" + name + "': names and versions have letters, digits, '-', '_' and '.' only");
    if (output.asset_version.empty()) return {};
    const std::string kind = asset_kind_of_output(output.type);
    LAVANT_TRY(const auto taken, context.ports.reader.find_asset(
                                     {launch.workspace, kind, output.asset_name, output.asset_version}));
    if (!taken) return {};
    return fail(ErrorCode::Conflict, kind + " '" + output.asset_name + ":" + output.asset_version +
                                         "' exists already; leave the version out, or take another");
}

void resolve_outputs(Context& context, Launch& launch, Problems& problems) {
    const std::string& job_name = launch.job_name;
    for (LaunchOutput& output : launch.outputs) {
        const std::string path = "properties.outputs." + output.name;
        if (!is_plain_name(output.name, 255)) {
            add(problems, path, "the name of an output has letters, digits, '-', '_' and '.' only");
            continue;
        }
        if (const auto free = check_asset_name(context, launch, output); !free)
            add(problems, path + ".assetName", free.error().message);
        if (output.uri.empty()) {
            output.uri = to_short_uri({kBlobDatastore, output_prefix(job_name) + output.name + "/"});
            continue;
        }
        std::string uri = replace_all(output.uri, "${{name}}", job_name);
        uri = replace_all(std::move(uri), "${{output_name}}", output.name);
        uri = replace_all(std::move(uri), "${{default_datastore}}", kBlobDatastore);
        const auto place = parse_datastore_uri(uri);
        auto kept = check_scope(context, launch.workspace, uri);
        if (place && kept) kept = add_container(context, place->datastore, launch);
        if (!place || !kept || is_upload(launch, place->datastore)) {
            add(problems, path + ".uri",
                kept ? "outputs are kept in a datastore of this workspace: "
                       "azureml://datastores/workspaceblobstore/paths/..."
                     : kept.error().message);
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

// A path of the machine may be, hold or lie in a folder that is somebody's datastore.
Result<void> check_path(Context& context, const Caller& caller, const std::string& path) {
    LAVANT_TRY(const auto datastores, list_datastores_at(context, path));
    for (const AssetKey& one : datastores)
        if (!context.access.may_use_datastore(caller, one.workspace, one.name, false))
            return fail(ErrorCode::PermissionDenied, "'" + caller.user + "' may not read '" + path +
                                                         "': it is the folder of a datastore; ask an owner");
    return {};
}

// A job reads and writes data with the rights of whoever submits it.
Result<void> check_data_rights(Context& context, const SubmissionAsk& ask, const Launch& launch,
                               const std::string& code_datastore) {
    if (ask.caller == nullptr) return {};
    const Caller& caller = *ask.caller;
    if (!code_datastore.empty())
        LAVANT_TRY_VOID(context.access.may_use_datastore(caller, ask.workspace, code_datastore, false));
    const auto check = [&](const std::string& uri, bool write) -> Result<void> {
        if (const auto path = spec::parse_file_uri(uri)) return check_path(context, caller, *path);
        const auto place = parse_datastore_uri(uri);
        if (!place) return {};
        const std::string store = is_upload(launch, place->datastore) ? kBlobDatastore : place->datastore;
        return context.access.may_use_datastore(caller, ask.workspace, store, write);
    };
    for (const LaunchInput& input : launch.inputs)
        if (input.type != "literal") LAVANT_TRY_VOID(check(input.value, false));
    for (const LaunchOutput& output : launch.outputs) LAVANT_TRY_VOID(check(output.uri, true));
    const std::string& python = launch.environment.python_home;
    return python.empty() ? Result<void>{} : check_path(context, caller, python);
}

int priority_of(const std::string& word) {
    if (equals_ignoring_case(word, "high")) return 1;
    if (equals_ignoring_case(word, "low")) return -1;
    return 0;
}

Result<void> check_notify(const Context& context, const std::map<std::string, std::string>& extra) {
    const auto notify = extra.find(kNotify);
    const auto& hosts = context.settings.notify_hosts;
    if (notify == extra.end() || hosts.empty()) return {};
    if (std::ranges::find(hosts, host_of_url(notify->second)) != hosts.end()) return {};
    return fail(ErrorCode::InvalidArgument, "webhooks of this server go to " + spec::listed(hosts) +
                                                " only; ask an owner (notify_hosts)");
}

Box<JobHooks> hooks_of(const Launch& launch, const std::map<std::string, std::string>& extra) {
    JobHooks hooks;
    hooks.registers_outputs = std::ranges::any_of(
        launch.outputs, [](const LaunchOutput& output) { return !output.asset_name.empty(); });
    if (const auto notify = extra.find(kNotify); notify != extra.end()) hooks.notify = notify->second;
    return hooks == JobHooks{} ? Box<JobHooks>{} : Box<JobHooks>(std::move(hooks));
}

Launch make_launch(const SubmissionAsk& ask, wire::ArmCommandJob& job) {
    Launch launch;
    launch.workspace = ask.workspace;
    launch.subscription = ask.workspace_name.subscription;
    launch.resource_group = ask.workspace_name.resource_group;
    launch.workspace_name = ask.workspace_name.name;
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

// Kept for those who want to read it, and told of.
static Result<plane::SubmitJob> plan_unsupported(Context& context, const SubmissionAsk& ask,
                                                 wire::ArmCommandJob job) {
    plane::SubmitJob event;
    const std::string kind = job.kind;
    event.unsupported = kind + " jobs are not supported yet: this one is stored and has ended";
    if (kind == "sweep") event.unsupported += "; its trial can be submitted as a command job";
    if (kind == "pipeline") event.unsupported += "; its steps can be submitted as command jobs";
    if (job.experiment_name.empty()) job.experiment_name = "Default";
    JobHead& head = event.job.head;
    head.workspace = ask.workspace;
    head.name = ask.name;
    head.demand.user = ask.user;
    head.warning = event.unsupported;
    event.job.meta = {job.display_name.empty() ? ask.name : std::move(job.display_name),
                      std::move(job.description), std::move(job.tags), job.archived};
    event.job.body.kind = kind;
    event.job.body.experiment = job.experiment_name;
    event.job.body.created_by = ask.user;
    LAVANT_TRY(const std::string properties, resolve_references(context, ask, job.properties));
    event.job.body.properties = to_stored_properties(properties);
    Launch launch = make_launch(ask, job);
    launch.user = ask.user;
    event.job.body.launch = wire::encode_launch(launch);
    LAVANT_TRY_VOID(check_notify(context, job.extra));
    head.hooks = hooks_of(launch, job.extra);
    return event;
}

Result<plane::SubmitJob> plan_submission(Context& context, const SubmissionAsk& ask,
                                         wire::ArmCommandJob job) {
    if (job.kind != "command") return plan_unsupported(context, ask, std::move(job));
    Problems problems;
    plane::SubmitJob event;
    PoolPlan placed = plan_pool(context, ask, job);
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
    if (const auto told = check_notify(context, job.extra); !told)
        add(problems, std::string("properties.properties.") + kNotify, told.error().message);
    if (!own.confined && !ask.is_owner)
        add(problems, "properties.properties.lavant.sandbox",
            "only an owner of the server may run a job unconfined; leave it out, or ask an owner");
    const std::string code_datastore = resolve_code(context, job.code_id, launch, problems);
    auto environment = resolve_environment(context, {ask.workspace, job.environment_id, own.python_home});
    if (environment) {
        launch.environment = std::move(*environment);
    } else {
        add(problems, "properties.environmentId", environment.error().message);
    }
    Lineage lineage;
    resolve_inputs(context, launch, lineage, problems);
    resolve_outputs(context, launch, problems);
    if (!problems.empty())
        return fail(
            Error{ErrorCode::InvalidArgument, "cannot submit job '" + ask.name + "'", std::move(problems)});
    LAVANT_TRY_VOID(check_data_rights(context, ask, launch, code_datastore));

    JobHead& head = event.job.head;
    head.workspace = ask.workspace;
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
    event.lineage = std::move(lineage.edges);
    head.hooks = hooks_of(launch, job.extra);
    return event;
}

}  // namespace lavant::api
