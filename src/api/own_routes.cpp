#include "api/own_routes.h"

#include <utility>

#include "api/answers.h"
#include "api/event_stream.h"
#include "api/job_routes.h"
#include "api/job_wait.h"
#include "api/log_stream.h"
#include "api/webhooks.h"
#include "base/files.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::size_t kAuthorityBytesMax = 64U << 10;

// --- jobs ---

constexpr std::int64_t kLookUpMax = 100;

// What a name that is not written out may stand for: newest first, archived ones too.
Result<HttpResponse> look_up_jobs(Context& context, const Call& call) {
    ports::JobQuery query;
    query.workspace = call.workspace;
    query.archived = std::nullopt;
    query.name_prefix = call.request.query_value("prefix").value_or("");
    const std::string mine = call.request.query_value("mine").value_or("");
    if (mine == "1" || mine == "true") query.created_by = call.caller.user;
    const auto limit = parse_integer(call.request.query_value("limit").value_or("6"));
    if (!limit || *limit < 1 || *limit > kLookUpMax)
        return fail(ErrorCode::InvalidArgument, "limit is a number from 1 to " + std::to_string(kLookUpMax));
    query.limit = static_cast<int>(*limit);
    LAVANT_TRY(auto jobs, context.ports.reader.list_jobs(query));
    // The one that is called exactly so comes first, however many newer ones begin with its name.
    if (!query.name_prefix.empty()) {
        LAVANT_TRY(auto exact, context.ports.reader.find_job(call.workspace, query.name_prefix));
        const bool wanted = exact && (query.created_by.empty() || exact->body.created_by == query.created_by);
        std::erase_if(jobs, [&](const Job& job) { return wanted && job.head.id == exact->head.id; });
        if (wanted) jobs.insert(jobs.begin(), std::move(*exact));
        if (std::ssize(jobs) > *limit) jobs.pop_back();
    }
    Json value = Json::array();
    for (const Job& job : jobs)
        value.append(Json::object({{"name", job.head.name},
                                   {"status", name_of(job.head.status)},
                                   {"createdAt", to_rfc3339(job.head.submitted_at)},
                                   {"createdBy", job.body.created_by}}));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

void add_numbers(const plane::Explanation& why, Json& body) {
    body.set("reason", why.reason);
    body.set("jobsAhead", why.jobs_ahead);
    body.set("nodes", Json::object({{"needed", why.nodes_needed},
                                    {"idle", why.nodes_idle},
                                    {"starting", why.nodes_starting},
                                    {"busy", why.nodes_busy},
                                    {"max", why.nodes_max}}));
    if (!why.quota.empty())
        body.set("quota",
                 Json::object({{"of", why.quota}, {"used", why.cores_used}, {"limit", why.cores_limit}}));
    if (!why.lock.empty()) body.set("lock", why.lock);
    if (!why.starts_at) return;
    body.set("startsAt", to_rfc3339(*why.starts_at));
    body.set("startsAtLeast", why.at_least);
}

void explain_job(Context& context, const SharedCall& call) {
    const auto job = load_job(context, call->workspace, call->param("name"));
    if (!job) return call->respond(error_response(job.error()));
    const auto answer_with = [call, status = job->head.status](const plane::Explanation& why) {
        Json body = Json::object(
            {{"name", call->param("name")}, {"status", name_of(status)}, {"explanation", why.text}});
        if (status == JobStatus::Queued) add_numbers(why, body);
        call->respond(json_response(200, body));
    };
    if (is_terminal(job->head.status)) {
        const auto& error = job->head.error;
        return answer_with({.text = "the job has ended: " + std::string(name_of(job->head.status)) +
                                    (error ? " (" + error->code + ": " + error->message + ")" : "")});
    }
    plane::ExplainJob event;
    event.workspace = call->workspace;
    event.name = call->param("name");
    post(context, call, std::move(event),
         [answer_with](const plane::Answer& answer) { answer_with(answer.explanation); });
}

// What receivers of webhooks check signatures with.
Result<HttpResponse> webhook_secret(Context& context, const Call& call) {
    const Webhooks hooks(context.ports.crypto, context.settings.secret);
    return json_response(200, Json::object({{"secret", hooks.secret_of(call.workspace)}}));
}

// --- nodes and status ---

Result<HttpResponse> list_nodes(Context& context, const Call& /*call*/) {
    LAVANT_TRY(const auto nodes, context.ports.reader.list_nodes());
    LAVANT_TRY(const auto pools, context.ports.reader.list_pools());
    Json value = Json::array();
    for (const Node& node : nodes) {
        std::string pool_key;
        for (const Pool& pool : pools)
            if (pool.id == node.pool) pool_key = pool.key;
        value.append(Json::object({{"name", to_string(node.id)},
                                   {"pool", pool_key},
                                   {"state", name_of(node.state)},
                                   {"reason", node.reason},
                                   {"requestedAt", to_rfc3339(node.requested_at)},
                                   {"protections", node.protections}}));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Json counts_of(const std::map<std::string, std::size_t>& counts) {
    Json view = Json::object();
    for (const auto& [key, count] : counts) view.set(key, count);
    return view;
}

Result<HttpResponse> status(Context& context, const Call& call) {
    const app::LoopStats loop = context.ports.loop_stats();
    LAVANT_TRY(const auto workspace, context.workspaces.find(workspace_of(call)));
    LAVANT_TRY(const Role role, context.access.role_in(call.caller, call.workspace, ""));
    return json_response(200, Json::object({{"version", context.settings.version},
                                            {"user", call.caller.user},
                                            {"role", name_of(role)},
                                            {"workspaceId", workspace ? workspace->id : ""},
                                            {"jobsLive", loop.census.jobs_live},
                                            {"queuedByReason", counts_of(loop.census.queued_by_reason)},
                                            {"nodesByState", counts_of(loop.census.nodes_by_state)},
                                            {"inbox", loop.inbox},
                                            {"outbox", loop.census.outbox}}));
}

// For `lavant login`, which shows its fingerprint and pins it. A certificate is no secret.
Result<HttpResponse> authority(Context& context, const Call& /*call*/) {
    if (context.settings.ca_file.empty())
        return fail(ErrorCode::NotFound, "this server has no certificate authority of its own");
    LAVANT_TRY(std::string pem, read_file(context.settings.ca_file, kAuthorityBytesMax));
    HttpResponse response;
    response.headers.emplace_back("Content-Type", "application/x-pem-file");
    response.body = std::move(pem);
    return response;
}

}  // namespace

void add_own_routes(Router& router, Context& context) {
    const auto later = [&context](Need need, void (*handler)(Context&, const SharedCall&)) {
        return Route{need, [&context, handler](const SharedCall& call) { handler(context, call); }};
    };
    const std::string base = "/lavant/v1";
    router.add("GET", base + "/jobs", answer_now(context, Need::Reader, look_up_jobs));
    router.add("GET", base + "/webhooks/secret", answer_now(context, Need::Contributor, webhook_secret));
    router.add("GET", base + "/jobs/{name}/explain", later(Need::Reader, explain_job));
    router.add("GET", base + "/jobs/{name}/wait", later(Need::Reader, start_job_wait));
    router.add("GET", base + "/jobs/{name}/events", later(Need::Reader, start_event_stream));
    router.add("GET", base + "/jobs/{name}/logs", later(Need::Reader, serve_log));
    router.add("GET", base + "/events", later(Need::Reader, start_event_stream));
    router.add("GET", base + "/nodes", answer_now(context, Need::ServerReader, list_nodes));
    router.add("GET", base + "/status", answer_now(context, Need::SignedIn, status));
    router.add("GET", base + "/ca", answer_now(context, Need::Nothing, authority));
}

}  // namespace lavant::api
