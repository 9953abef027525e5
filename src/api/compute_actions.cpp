#include "api/compute_actions.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/computes.h"
#include "api/job_routes.h"
#include "api/request_body.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr int kSshPort = 22;  // of this machine, which is where a local node is

// --- start, stop, restart: of an instance ---

HttpResponse accepted(const Context& context, const Call& call) {
    HttpResponse response;
    response.status = 202;
    add_operation(response, context, call);
    response.headers.emplace_back("Location", response.headers.front().second);
    return response;
}

Result<HttpResponse> power_status(Context& /*context*/, const Call& /*call*/) {
    return json_response(200, Json::object({{"status", "Succeeded"}}));
}

Result<plane::PutCompute> plan_power(Context& context, const Call& call, bool running) {
    LAVANT_TRY(const std::int64_t made_from, load_pool_version(context, call.workspace, call.param("name")));
    LAVANT_TRY(StoredCompute stored, load_compute(context, call.workspace, call.param("name")));
    const Json document = wire::with_power(stored.document, running);
    LAVANT_TRY(const wire::ArmCompute compute, wire::read_stored_compute(document));
    if (compute.kind != ComputeKind::Instance)
        return fail(ErrorCode::InvalidArgument,
                    "compute '" + stored.name() + "' is of type " + std::string(name_of(compute.kind)) +
                        ": only a computeinstance is started and stopped; a cluster does so by itself");
    LAVANT_TRY(PlannedCompute pool, plan_compute_pool(context, call, stored.name(), compute));
    plane::PutCompute event;
    event.asset = std::move(stored.asset);
    event.asset.body = document.dump();
    event.asset.modified_at = context.ports.clock.now();
    event.pool = std::move(pool.pool);
    event.pool->version = made_from;
    event.who = call.caller.user;
    return event;
}

void set_power(Context& context, const SharedCall& call, bool running) {
    auto event = plan_power(context, *call, running);
    if (!event) return call->respond(error_response(event.error()));
    post(context, call, std::move(*event),
         [&context, call](const plane::Answer&) { call->respond(accepted(context, *call)); });
}

void start_instance(Context& context, const SharedCall& call) { set_power(context, call, true); }
void stop_instance(Context& context, const SharedCall& call) { set_power(context, call, false); }

// Half of a restart is done: whoever asked for it has to know in which state it is.
void respond_stopped(const Call& call, Error why) {
    const std::string& name = call.param("name");
    why.message = "'" + name + "' is stopped now, and could not be started again: " + why.message +
                  "; start it with: lavant compute start " + name;
    call.respond(error_response(why));
}

void start_again(Context& context, const SharedCall& call) {
    auto event = plan_power(context, *call, true);
    if (!event) return respond_stopped(*call, event.error());
    const bool taken =
        context.ports.post(std::move(*event), [&context, call](const Result<plane::Answer>& answer) {
            if (!answer) return respond_stopped(*call, answer.error());
            call->respond(accepted(context, *call));
        });
    if (!taken) respond_stopped(*call, inbox_is_full());
}

// Off and on again: its node goes, and another one comes.
void restart_instance(Context& context, const SharedCall& call) {
    auto event = plan_power(context, *call, false);
    if (!event) return call->respond(error_response(event.error()));
    post(context, call, std::move(*event),
         [&context, call](const plane::Answer&) { start_again(context, call); });
}

// --- nodes ---

struct TaskOnNode {
    NodeId node;
    std::string job;
};

// The jobs that are on nodes of this pool now.
Result<std::vector<TaskOnNode>> tasks_on(Context& context, const Pool& pool) {
    std::vector<TaskOnNode> found;
    for (const JobStatus status :
         {JobStatus::Preparing, JobStatus::Running, JobStatus::Finalizing, JobStatus::CancelRequested}) {
        ports::JobQuery query;
        query.workspace = pool.workspace;
        query.status = name_of(status);
        query.archived = std::nullopt;
        query.limit = ports::kRowsPerQuery;
        LAVANT_TRY(const auto jobs, context.ports.reader.list_jobs(query));
        for (const Job& job : jobs) {
            if (job.head.pool != pool.id) continue;
            LAVANT_TRY(const auto tasks, context.ports.reader.list_tasks(job.head.id));
            for (const Task& task : tasks)
                if (task.ref.attempt == job.head.attempt) found.push_back({task.node, job.head.name});
        }
    }
    return found;
}

Result<HttpResponse> list_nodes(Context& context, const Call& call) {
    LAVANT_TRY(const StoredCompute compute, load_compute(context, call.workspace, call.param("name")));
    const auto kind = parse_compute_kind(compute.document.get("properties.computeType").text());
    if (kind && is_attached(*kind))
        return fail(ErrorCode::InvalidArgument,
                    "compute '" + compute.name() + "' is attached: its nodes are not known here");
    LAVANT_TRY(const ComputeNodes all, load_compute_nodes(context, call.workspace));
    Json nodes = Json::array();
    const Pool* pool = all.pool_of(compute.name());
    std::vector<TaskOnNode> tasks;
    if (pool != nullptr) {
        LAVANT_TRY(tasks, tasks_on(context, *pool));
    }
    for (const Node& node : all.nodes) {
        if (pool == nullptr || node.pool != pool->id) continue;
        const auto task = std::ranges::find(tasks, node.id, &TaskOnNode::node);
        nodes.append(Json::object({{"nodeId", to_string(node.id)},
                                   {"privateIpAddress", "127.0.0.1"},
                                   {"publicIpAddress", nullptr},
                                   {"port", kSshPort},
                                   {"nodeState", azure_word(node.state)},
                                   {"runId", task == tasks.end() ? Json() : Json(task->job)}}));
    }
    return json_response(200, Json::object({{"nodes", std::move(nodes)}, {"nextLink", nullptr}}));
}

// "node-17", 17 or nothing.
Result<NodeId> parse_node(const Call& call) {
    LAVANT_TRY(const Json body, parse_body(call, {"node"}));
    const Json& node = body["node"];
    if (node.is_null() || node.text() == "any") return NodeId{};
    std::string_view text = node.text();
    if (text.starts_with("node-")) text.remove_prefix(5);
    const auto number = node.is_integer() ? node.integer() : parse_integer(text).value_or(0);
    if (number <= 0)
        return fail(ErrorCode::InvalidArgument, "'" + node.scalar_text().substr(0, 80) +
                                                    "' is no node; write it as node-17, or leave it out");
    return NodeId{number};
}

void evict(Context& context, const SharedCall& call) {
    const std::string& asked = call->param("name");
    const auto node = parse_node(*call);
    if (!node) return call->respond(error_response(node.error()));
    plane::EvictNode event;
    event.workspace = call->workspace;
    event.compute = "serverless";
    event.node = *node;
    event.who = call->caller.user;
    if (!is_no_compute(asked)) {
        const auto compute = load_compute(context, call->workspace, asked);
        if (!compute) return call->respond(error_response(compute.error()));
        event.compute = compute->name();
    }
    post(context, call, std::move(event), [call](const plane::Answer& answer) {
        call->respond(json_response(200, Json::object({{"node", to_string(answer.node)}})));
    });
}

}  // namespace

void add_operation(HttpResponse& response, const Context& context, const Call& call) {
    response.headers.emplace_back(
        "Azure-AsyncOperation", origin_of(context, call.request) + arm_id(workspace_of(call)) + "/computes/" +
                                    percent_encode(call.param("name")) + "/operations/power");
    response.headers.emplace_back("Retry-After", "1");
}

void add_compute_actions(Router& router, Context& context) {
    const std::string one = std::string(kWorkspacePattern) + "/computes/{name}";
    router.add("POST", one + "/listNodes", answer_now(context, Need::Reader, list_nodes));
    router.add("POST", one + "/start", answer_later(context, Need::Contributor, start_instance));
    router.add("POST", one + "/stop", answer_later(context, Need::Contributor, stop_instance));
    router.add("POST", one + "/restart", answer_later(context, Need::Contributor, restart_instance));
    router.add("GET", one + "/operations/power", answer_now(context, Need::Reader, power_status));
    router.add("POST", "/lavant/v1/computes/{name}/evict", answer_later(context, Need::Contributor, evict));
}

}  // namespace lavant::api
