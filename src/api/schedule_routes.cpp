#include "api/schedule_routes.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/asset_lists.h"
#include "api/asset_names.h"
#include "api/job_routes.h"
#include "api/schedules.h"
#include "base/limits.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

// Of a job that a schedule makes: what is left of the schedule's name beside the time and a few letters.
constexpr std::size_t kNameChars = 200;

AssetKey key_of(const Call& call) { return {call.workspace, kScheduleKind, call.param("name"), ""}; }

Result<Asset> load_schedule(Context& context, const Call& call) {
    LAVANT_TRY(auto row, context.ports.reader.find_asset(key_of(call)));
    if (!row)
        return fail(ErrorCode::NotFound, "schedule '" + call.param("name") + "' not found in this workspace");
    return std::move(*row);
}

HttpResponse answer_schedule(const Call& call, int status, const Asset& asset) {
    const auto view = schedule_view(workspace_of(call), asset);
    return view ? json_response(status, *view) : error_response(view.error());
}

Result<HttpResponse> get_schedule(Context& context, const Call& call) {
    LAVANT_TRY(const Asset asset, load_schedule(context, call));
    return answer_schedule(call, 200, asset);
}

Result<HttpResponse> list_schedules(Context& context, const Call& call) {
    ports::AssetQuery query;
    query.workspace = call.workspace;
    query.kind = kScheduleKind;
    query.unversioned = true;
    LAVANT_TRY(query.archived, read_view(call, {"listViewType", "EnabledOnly", "DisabledOnly"}));
    LAVANT_TRY(const Page page, read_page(call));
    query.offset = page.skip;
    query.limit = static_cast<int>(page.rows()) + 1;
    LAVANT_TRY(auto rows, context.ports.reader.list_assets(query));
    const bool more = rows.size() > page.rows();
    if (more) rows.resize(page.rows());
    Json value = Json::array();
    for (const Asset& row : rows) {
        LAVANT_TRY(Json view, schedule_view(workspace_of(call), row));
        value.append(std::move(view));
    }
    Json body = Json::object({{"value", std::move(value)}});
    if (std::string link = link_to_next(context, call, page, more); !link.empty())
        body.set("nextLink", std::move(link));
    return json_response(200, body);
}

// A schedule is there when its PUT is answered. Clients are sent to look once more all the same: azure-ai-ml
// 1.27 reads an answer twice, and the first reading takes the type of the action out of it.
HttpResponse answer_put(const Context& context, const Call& call, int status, const Asset& asset) {
    HttpResponse response = answer_schedule(call, status, asset);
    response.headers.emplace_back("Azure-AsyncOperation", origin_of(context, call.request) +
                                                              arm_id(workspace_of(call)) + "/schedules/" +
                                                              asset.key.name + "/operations/put");
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

Result<HttpResponse> put_status(Context& context, const Call& call) {
    LAVANT_TRY([[maybe_unused]] const Asset asset, load_schedule(context, call));
    return json_response(200, Json::object({{"status", "Succeeded"}}));
}

// A schedule's action is a job of the workspace: whoever may change this one schedule alone may not make jobs
// by it, now or when somebody else triggers it.
Result<void> check_may_make_jobs(Context& context, const Call& call) {
    LAVANT_TRY(const Role role, context.access.role_in(call.caller, call.workspace, ""));
    if (role >= Role::Contributor) return {};
    return fail(ErrorCode::PermissionDenied, "what a schedule does is a job, and '" + call.caller.user +
                                                 "' may not make jobs in this workspace; ask an owner");
}

Result<bool> has_same_action(const Asset& existing, const Json& properties) {
    LAVANT_TRY(const Json before, wire::parse_json(existing.body));
    return before["action"] == properties["action"];
}

struct SchedulePut {
    Asset asset;
    int status = 201;
};

Result<SchedulePut> plan_put(Context& context, const Call& call) {
    LAVANT_TRY_VOID(check_asset_name("the name of a schedule", call.param("name")));
    LAVANT_TRY(const ScheduleBody schedule, read_schedule(call.request.body));
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(key_of(call)));
    bool same_action = false;
    if (existing) {
        LAVANT_TRY(same_action, has_same_action(*existing, schedule.properties));
    }
    if (!same_action) LAVANT_TRY_VOID(check_may_make_jobs(context, call));
    SchedulePut plan;
    const Instant now = context.ports.clock.now();
    if (existing) {
        plan.asset = *existing;
        plan.status = 200;
    } else {
        LAVANT_TRY_VOID(context.space.check_room());
        plan.asset.key = key_of(call);
        plan.asset.created_by = call.caller.user;
        plan.asset.created_at = now;
    }
    plan.asset.modified_at = now;
    plan.asset.body = schedule.properties.dump();
    plan.asset.archived = !schedule.enabled;
    return plan;
}

void put_schedule(Context& context, const SharedCall& call) {
    const Result<SchedulePut> plan = plan_put(context, *call);
    if (!plan) return call->respond(error_response(plan.error()));
    plane::WriteAssets event;
    event.writes.push_back({.asset = plan->asset, .expected = std::nullopt});
    post(context, call, std::move(event),
         [&context, call, asset = plan->asset, status = plan->status](const plane::Answer&) {
             call->respond(answer_put(context, *call, status, asset));
         });
}

void delete_schedule(Context& context, const SharedCall& call) {
    const auto row = context.ports.reader.find_asset(key_of(*call));
    if (!row) return call->respond(error_response(row.error()));
    if (!*row) return call->respond(HttpResponse{.status = 204});
    if (!(*row)->archived)
        return call->respond(error_response({ErrorCode::Conflict,
                                             "Cannot delete an active trigger: schedule '" +
                                                 call->param("name") + "' is enabled; disable it first",
                                             {}}));
    plane::WriteAssets event;
    // Somebody may enable it in this very moment.
    event.writes.push_back({.asset = **row, .expected = (*row)->row_version, .remove = true});
    post(context, call, std::move(event), [call](const plane::Answer& answer) {
        if (!answer.assets_written.empty() && !answer.assets_written.front())
            return call->respond(
                error_response({ErrorCode::Conflict,
                                "schedule '" + call->param("name") +
                                    "' was changed by another client at the same time; try again",
                                {}}));
        call->respond(HttpResponse{.status = 204});
    });
}

// --- by hand ---

// Stands where a client of the jobs' route would: a job that was made is told of as a schedule tells of it.
class SubmissionAnswer final : public ports::Responder {
 public:
    SubmissionAnswer(SharedCall call, std::string job) : call_(std::move(call)), job_(std::move(job)) {}

    void respond(HttpResponse response) override {
        if (response.status != 200 && response.status != 201) return call_->respond(std::move(response));
        call_->respond(
            json_response(200, Json::object({{"scheduleActionType", "CreateJob"}, {"submissionId", job_}})));
    }
    std::shared_ptr<ports::ResponseStream> stream(HttpResponse head) override {
        return call_->responder->stream(std::move(head));
    }

 private:
    SharedCall call_;
    std::string job_;
};

std::string name_of_job(Context& context, const std::string& schedule) {
    std::string name = schedule.substr(0, kNameChars);
    std::ranges::replace(name, '.', '-');
    std::string stamp = to_rfc3339(context.ports.clock.now()).substr(0, 19);
    std::erase_if(stamp, [](char c) { return c == '-' || c == ':' || c == 'T'; });
    return name + "-" + stamp + "-" + to_hex(context.ports.crypto.random_bytes(3));
}

// Of a schedule that names a job: that job's, with what the schedule says differently.
Result<Json> definition_of(Context& context, const Call& call, const Json& properties) {
    const Json& definition = properties["action"]["jobDefinition"];
    const std::string source = definition["sourceJobId"].string();
    if (source.empty() || definition["jobs"].size() > 0 || !definition["command"].text().empty())
        return definition;
    const std::string name = source.substr(source.find_last_of("/:") + 1);
    LAVANT_TRY(const Job job, load_job(context, call.workspace, name));
    LAVANT_TRY(Json whole, wire::parse_json(job.body.properties));
    for (const Json::Member& member : definition.members())
        if (!member.value.is_null() && member.key != "jobType" &&
            !(member.value.is_string() && member.value.text().empty()) &&
            !((member.value.is_object() || member.value.is_array()) && member.value.size() == 0))
            whole.set(member.key, member.value);
    return whole;
}

Result<Json> plan_trigger(Context& context, const Call& call) {
    LAVANT_TRY_VOID(check_may_make_jobs(context, call));
    LAVANT_TRY(const Asset asset, load_schedule(context, call));
    if (asset.archived)
        return fail(ErrorCode::Conflict,
                    "schedule '" + call.param("name") + "' is disabled; enable it, then trigger it");
    Instant at = context.ports.clock.now();
    if (!call.request.body.empty()) {
        LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
        if (!body["scheduleTime"].is_null()) {
            const auto given = parse_rfc3339(body["scheduleTime"].text());
            if (!given)
                return fail(ErrorCode::InvalidArgument,
                            "scheduleTime must be a time in RFC 3339, as 2026-01-31T10:00:00Z");
            at = *given;
        }
    }
    LAVANT_TRY(const Json properties, wire::parse_json(asset.body));
    const std::string type = properties["action"]["actionType"].string();
    if (type != "CreateJob")
        return fail(ErrorCode::InvalidArgument,
                    "a schedule's action " + type + " is kept but not supported yet; only CreateJob is");
    LAVANT_TRY(Json definition, definition_of(context, call, properties));
    return job_of_schedule(std::move(definition), call.param("name"), at);
}

void trigger_schedule(Context& context, const SharedCall& call) {
    const Result<Json> job = plan_trigger(context, *call);
    if (!job) return call->respond(error_response(job.error()));
    const std::string name = name_of_job(context, call->param("name"));
    auto submission = std::make_shared<Call>(*call);
    submission->request.method = "PUT";
    submission->request.path = arm_id(workspace_of(*call)) + "/jobs/" + name;
    submission->request.query.clear();
    submission->request.body = job->dump();
    submission->params = {};
    for (const char* kept : {"subscription", "group", "workspace"})
        submission->params.add(kept, call->param(kept));
    submission->params.add("name", name);
    submission->responder = std::make_shared<SubmissionAnswer>(call, name);
    put_job(context, submission);
}

}  // namespace

void add_schedule_routes(Router& router, Context& context) {
    const std::string all = std::string(kWorkspacePattern) + "/schedules";
    const std::string one = all + "/{name}";
    router.add("GET", all, answer_now(context, Need::Reader, list_schedules));
    router.add("GET", one, answer_now(context, Need::Reader, get_schedule));
    router.add("PUT", one, answer_later(context, Need::Contributor, put_schedule));
    router.add("DELETE", one, answer_later(context, Need::Contributor, delete_schedule));
    router.add("GET", one + "/operations/put", answer_now(context, Need::Reader, put_status));
    router.add("POST", one + "/trigger", answer_later(context, Need::Contributor, trigger_schedule));
}

}  // namespace lavant::api
