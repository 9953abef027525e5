#include "api/compute_routes.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/compute_actions.h"
#include "api/computes.h"
#include "api/job_routes.h"
#include "api/sizes.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/model/lock.h"
#include "core/model/region.h"
#include "core/model/size.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr int kQueuedLookedAt = 200;  // for one that can say why a cluster does not grow

// --- how a compute reads ---

struct Live {
    wire::NodeCounts nodes;
    std::string not_growing;
    std::vector<std::string> warnings;
};

Json view(const Call& call, const Asset& asset, const Json& document, Live live) {
    wire::ComputeFacts facts;
    facts.id = compute_arm_id(workspace_of(call), asset.key.name);
    facts.name = asset.key.name;
    facts.created_by = asset.created_by;
    facts.created_at = asset.created_at;
    facts.modified_at = asset.modified_at;
    facts.nodes = live.nodes;
    facts.not_growing = std::move(live.not_growing);
    facts.warnings = std::move(live.warnings);
    return wire::to_arm_answer(document, facts);
}

// Headers have one line, and quotes of their own.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c < ' ' || c == '\x7f' ? '?' : c;
    }
    return out + '"';
}

void add_warnings(HttpResponse& response, const Json& answer) {
    for (const Json& warning : answer.get("properties.lavant.warnings").items())
        response.headers.emplace_back("Warning", "299 lavant " + quoted(warning.text()));
}

// `local` and `serverless` are no computes, but clients look them up before they submit.
Json stand_in(const Call& call) {
    const std::string& name = call.param("name");
    return Json::object(
        {{"id", compute_arm_id(workspace_of(call), name)},
         {"name", name},
         {"type", "Microsoft.MachineLearningServices/workspaces/computes"},
         {"location", kLocalRegion},
         {"properties", Json::object({{"computeType", "AmlCompute"},
                                      {"provisioningState", "Succeeded"},
                                      {"properties", Json::object({{"vmSize", kDefaultSize}})}})}});
}

// --- why a cluster has fewer nodes than it should ---

// One of the jobs that wait for its nodes, if there is one.
std::string waiting_job(Context& context, const Pool& pool) {
    ports::JobQuery query;
    query.workspace = pool.workspace;
    query.status = name_of(JobStatus::Queued);
    query.archived = std::nullopt;
    query.limit = kQueuedLookedAt;
    const auto jobs = context.ports.reader.list_jobs(query);
    if (!jobs) return {};
    // Newest first: the last one is nearest to its turn.
    std::string found;
    for (const Job& job : *jobs)
        if (job.head.pool == pool.id) found = job.head.name;
    return found;
}

std::string lock_in_words(Context& context, const Pool& pool) {
    const auto locks = context.ports.reader.list_locks();
    if (!locks) return {};
    for (const Lock& lock : *locks)
        if (covers(lock.scope, pool.terms.arm_id) || covers(lock.scope, pool.terms.subnet))
            return "lock '" + lock.name + "' (" + std::string(name_of(lock.level)) + ") on " + lock.scope +
                   " keeps it from scaling; remove the lock, and lock single items instead";
    return {};
}

// Reasons that lie with the cluster, not with the job that waits.
bool keeps_from_growing(const std::string& reason) {
    return reason == "lock" || reason == "quota" || reason == "room" || reason == "node_start_failed";
}

// What it waits for; what it needs and who is ahead of it is the job's own affair.
std::string first_part(const std::string& explanation) {
    return explanation.substr(0, explanation.find(". It needs"));
}

void get_compute(Context& context, const SharedCall& call) {
    const std::string& name = call->param("name");
    if (is_no_compute(name)) return call->respond(json_response(200, stand_in(*call)));
    auto compute = load_compute(context, call->workspace, name);
    if (!compute) return call->respond(error_response(compute.error()));
    const auto nodes = load_compute_nodes(context, call->workspace);
    if (!nodes) return call->respond(error_response(nodes.error()));
    Live live{.nodes = nodes->counts_of(compute->name()), .not_growing = {}, .warnings = {}};
    const Pool* pool = nodes->pool_of(compute->name());
    const std::string job = pool == nullptr ? "" : waiting_job(context, *pool);
    if (pool != nullptr && job.empty())  // A lock is worth knowing before the first job waits for it.
        live.not_growing = lock_in_words(context, *pool);
    const auto answer = [call, compute = std::move(*compute)](Live found) {
        call->respond(json_response(200, view(*call, compute.asset, compute.document, std::move(found))));
    };
    if (job.empty()) return answer(std::move(live));
    plane::ExplainJob event;
    event.workspace = call->workspace;
    event.name = job;
    const bool taken =
        context.ports.post(std::move(event), [answer, live, job](Result<plane::Answer> said) mutable {
            if (said && keeps_from_growing(said->explanation.reason))
                live.not_growing = "job " + job + " " + first_part(said->explanation.text);
            answer(std::move(live));
        });
    if (!taken) answer(std::move(live));  // A view without its reason is better than none.
}

Result<HttpResponse> list(Context& context, const Call& call) {
    LAVANT_TRY(const auto computes, list_computes(context, call.workspace));
    LAVANT_TRY(const ComputeNodes nodes, load_compute_nodes(context, call.workspace));
    const std::string wanted = call.request.query_value("computeType").value_or("");
    const std::int64_t skip =
        std::max<std::int64_t>(0, parse_integer(call.request.query_value("$skip").value_or("0")).value_or(0));
    Json value = Json::array();
    std::int64_t at = 0;
    bool more = false;
    for (const StoredCompute& compute : computes) {
        if (!wanted.empty() &&
            !equals_ignoring_case(wanted, compute.document.get("properties.computeType").text()))
            continue;
        if (at++ < skip) continue;
        more = value.size() >= static_cast<std::size_t>(limits::kListPage);
        if (more) break;
        Live live{.nodes = nodes.counts_of(compute.name()), .not_growing = {}, .warnings = {}};
        value.append(view(call, compute.asset, compute.document, std::move(live)));
    }
    Json body = Json::object({{"value", std::move(value)}});
    if (more)
        body.set("nextLink", origin_of(context, call.request) + call.request.path +
                                 (wanted.empty() ? "?" : "?computeType=" + percent_encode(wanted) + "&") +
                                 "%24skip=" + std::to_string(skip + limits::kListPage));
    return json_response(200, body);
}

// --- making and changing ---

struct Planned {
    plane::PutCompute event;
    Json document;
    int status = 200;
};

Error taken(const StoredCompute& by) {
    return {ErrorCode::AlreadyExists,
            "the name '" + by.name() + "' is taken in this region by " + by.holder() +
                "; choose another name, or change that one: lavant compute update " + by.name(),
            {}};
}

Result<void> check_preconditions(const Call& call, const std::optional<StoredCompute>& stored) {
    if (stored && call.request.header("If-None-Match") == "*") return fail(taken(*stored));
    if (!stored && call.request.header("If-Match") == "*")
        return fail(ErrorCode::NotFound, "there is no compute '" + call.param("name") + "' to change");
    return {};
}

Result<void> check_count(Context& context, const std::string& workspace) {
    LAVANT_TRY(const auto all, list_computes(context, workspace));
    if (all.size() < static_cast<std::size_t>(kComputesMost)) return {};
    return fail(ErrorCode::Conflict, "there are " + std::to_string(all.size()) +
                                         " computes, and no more than that are possible; delete one first");
}

Result<Planned> plan_write(Context& context, const Call& call, wire::ComputeRequest request) {
    LAVANT_TRY(const std::int64_t made_from, load_pool_version(context, call.workspace, call.param("name")));
    LAVANT_TRY(const auto stored, find_compute(context, call.workspace, call.param("name")));
    if (request == wire::ComputeRequest::Patch && !stored)
        return fail(ErrorCode::NotFound, explain_no_compute(context, call.workspace, call.param("name")));
    LAVANT_TRY_VOID(check_preconditions(call, stored));
    if (!stored) LAVANT_TRY_VOID(check_count(context, call.workspace));
    const std::string& name = stored ? stored->name() : call.param("name");
    const auto choose = [&context](const std::string& size) -> Result<wire::ChosenSize> {
        LAVANT_TRY(ResolvedSize chosen, choose_size(context, size));
        return wire::ChosenSize{std::move(chosen.size.name), std::move(chosen.warning)};
    };
    auto compute = wire::parse_arm_compute(
        {request, name, call.request.body, stored ? &stored->document : nullptr, choose});
    if (!compute && compute.error().code == ErrorCode::AlreadyExists) return fail(taken(*stored));
    if (!compute) return fail(compute.error());
    LAVANT_TRY(PlannedCompute pool, plan_compute_pool(context, call, name, *compute));

    Planned planned;
    planned.status = stored ? 200 : 201;
    planned.document = compute->document;
    Json kept = Json::array();
    for (const std::string& warning : compute->warnings) kept.append(warning);
    if (!pool.warning.empty()) kept.append(pool.warning);
    if (kept.size() > 0) planned.document.set("lavant", Json::object({{"warnings", std::move(kept)}}));

    Asset& asset = planned.event.asset;
    if (stored) asset = stored->asset;
    const Instant now = context.ports.clock.now();
    asset.key = {call.workspace, kComputeKind, name, ""};
    asset.body = planned.document.dump();
    asset.modified_at = now;
    if (!stored) asset.created_at = now;
    if (!stored) asset.created_by = call.caller.user;
    planned.event.is_new = !stored;
    planned.event.pool = std::move(pool.pool);
    if (stored) planned.event.pool->version = made_from;
    planned.event.who = call.caller.user;
    return planned;
}

void write_compute(Context& context, const SharedCall& call, wire::ComputeRequest request) {
    auto planned = plan_write(context, *call, request);
    if (!planned) return call->respond(error_response(planned.error()));
    if (planned->event.is_new)
        if (auto room = context.space.check_room(); !room)
            return call->respond(no_room_response(room.error()));
    post(context, call, std::move(planned->event),
         [&context, call, asset = planned->event.asset, document = planned->document,
          status = planned->status](plane::Answer answer) {
             Live live{.nodes = {}, .not_growing = {}, .warnings = std::move(answer.warnings)};
             if (const auto nodes = load_compute_nodes(context, call->workspace))
                 live.nodes = nodes->counts_of(asset.key.name);
             const Json made = view(*call, asset, document, std::move(live));
             HttpResponse response = json_response(status, made);
             add_warnings(response, made);
             // azure-ai-ml 1.27 reads an answer without an operation twice, and the second time it no longer
             // finds the type of the compute in it.
             add_operation(response, context, *call);
             call->respond(std::move(response));
         });
}

// All that can be said of a PUT without making it: quota and locks are judged when it is made.
Result<HttpResponse> validate(Context& context, const Call& call) {
    LAVANT_TRY(const Planned planned, plan_write(context, call, wire::ComputeRequest::Put));
    Json body = Json::object({{"valid", true}, {"exists", !planned.event.is_new}});
    body.set("warnings", planned.document.get("lavant.warnings").is_null()
                             ? Json::array()
                             : planned.document.get("lavant.warnings"));
    return json_response(200, body);
}

void put_compute(Context& context, const SharedCall& call) {
    write_compute(context, call, wire::ComputeRequest::Put);
}
void patch_compute(Context& context, const SharedCall& call) {
    write_compute(context, call, wire::ComputeRequest::Patch);
}

// Whoever asks to detach means to lose a record, never nodes.
Result<void> check_removal(const Call& call, const StoredCompute& compute) {
    const std::string action = call.request.query_value("underlyingResourceAction").value_or("");
    const auto kind = parse_compute_kind(compute.document.get("properties.computeType").text());
    if (!equals_ignoring_case(action, "Detach") || !kind || is_attached(*kind)) return {};
    return fail(ErrorCode::InvalidArgument, "compute '" + compute.name() + "' is of type " +
                                                std::string(name_of(*kind)) +
                                                ": it is not attached: delete it instead");
}

void delete_compute(Context& context, const SharedCall& call) {
    const auto compute = load_compute(context, call->workspace, call->param("name"));
    if (!compute) return call->respond(error_response(compute.error()));
    if (const auto checked = check_removal(*call, *compute); !checked)
        return call->respond(error_response(checked.error()));
    plane::DeleteCompute event;
    event.workspace = call->workspace;
    event.name = compute->name();
    event.who = call->caller.user;
    post(context, call, std::move(event), [call](const plane::Answer&) {
        HttpResponse response;
        response.status = 200;
        call->respond(std::move(response));
    });
}

}  // namespace

void add_compute_routes(Router& router, Context& context) {
    const std::string all = std::string(kWorkspacePattern) + "/computes";
    const std::string one = all + "/{name}";
    router.add("GET", all, answer_now(context, Need::Reader, list));
    router.add("GET", one, answer_later(context, Need::Reader, get_compute));
    router.add("PUT", one, answer_later(context, Need::Contributor, put_compute));
    router.add("PATCH", one, answer_later(context, Need::Contributor, patch_compute));
    router.add("DELETE", one, answer_later(context, Need::Contributor, delete_compute));
    router.add("POST", "/lavant/v1/computes/{name}/validate",
               answer_now(context, Need::Contributor, validate));
}

}  // namespace lavant::api
