#include "api/job_routes.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/job_submission.h"
#include "api/job_view.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/arm_job.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;

HttpResponse job_response(const Context& context, const Call& call, int status, const Job& job) {
    return json_response(status, view_job(context, call, job));
}

// A PUT of a name that is taken edits what may be edited, and never starts the job again.
struct Wanted {
    JobMeta meta;
    wire::Json properties;  // the user's own
};
void edit_existing(Context& context, const SharedCall& call, const Job& existing, Wanted wanted) {
    const std::string& stored = existing.body.properties;  // "" of one submitted in the same moment
    std::string properties = stored.empty() ? "" : with_own_properties(stored, wanted.properties);
    if (existing.meta == wanted.meta && properties == stored)
        return call->respond(job_response(context, *call, 200, existing));
    plane::EditJob edit;
    edit.workspace = call->workspace;
    edit.name = existing.head.name;
    edit.meta = std::move(wanted.meta);
    if (properties != stored) edit.properties = std::move(properties);
    post(context, call, std::move(edit), [&context, call](const plane::Answer& answer) {
        call->respond(answer.job
                          ? job_response(context, *call, 200, *answer.job)
                          : error_response({ErrorCode::Internal, "the edited job was not answered", {}}));
    });
}

Result<plane::SubmitJob> plan(Context& context, const Call& call) {
    const std::string& name = call.param("name");
    if (!is_plain_name(name, limits::kJobNameChars) || name.find('.') != std::string::npos)
        return fail(ErrorCode::InvalidArgument,
                    "a job's name has letters, digits, '-' and '_' only, and at most " +
                        std::to_string(limits::kJobNameChars) + " of them");
    LAVANT_TRY(wire::ArmCommandJob job, wire::parse_arm_job(call.request.body));
    return plan_submission(context,
                           {name, call.workspace, workspace_of(call), call.caller.user,
                            call.caller.server_role == Role::Owner, &call.caller},
                           std::move(job));
}

}  // namespace

void put_job(Context& context, const SharedCall& call) {
    if (auto room = context.space.check_room(); !room) return call->respond(no_room_response(room.error()));
    Result<plane::SubmitJob> event = plan(context, *call);
    if (!event) {
        // An old job may name assets that are gone: its metadata can be edited all the same.
        const auto existing = context.ports.reader.find_job(call->workspace, call->param("name"));
        const auto parsed = wire::parse_arm_job(call->request.body);
        if (existing && *existing && parsed) {
            JobMeta wanted{parsed->display_name, parsed->description, parsed->tags, parsed->archived};
            if (wanted.display_name.empty()) wanted.display_name = (*existing)->meta.display_name;
            return edit_existing(context, call, **existing,
                                 {std::move(wanted), own_properties(parsed->properties)});
        }
        return call->respond(error_response(event.error()));
    }
    Wanted wanted{event->job.meta, own_properties(event->job.body.properties)};
    post(context, call, std::move(*event),
         [&context, call, wanted = std::move(wanted)](const plane::Answer& answer) {
             if (!answer.job)
                 return call->respond(
                     error_response({ErrorCode::Internal, "the submitted job was not answered", {}}));
             if (answer.existed && call->request.header("If-None-Match") == "*")
                 return call->respond(error_response({ErrorCode::Conflict,
                                                      "a job '" + answer.job->head.name + "' exists and is " +
                                                          std::string(name_of(answer.job->head.status)) +
                                                          "; choose another name, or none",
                                                      {}}));
             if (answer.existed) return edit_existing(context, call, *answer.job, wanted);
             call->respond(job_response(context, *call, 201, *answer.job));
         });
}

namespace {

Result<HttpResponse> get_job(Context& context, const Call& call) {
    LAVANT_TRY(const Job job, load_job(context, call.workspace, call.param("name")));
    return job_response(context, call, 200, job);
}

std::string next_link(const Context& context, const Call& call, std::int64_t before, std::int64_t top_left) {
    std::string link = origin_of(context, call.request) + call.request.path + "?";
    for (const std::string_view pair : split(call.request.query, '&'))
        if (!pair.empty() && !pair.starts_with("$skip=") && !pair.starts_with("%24skip=") &&
            !pair.starts_with("$top=") && !pair.starts_with("%24top="))
            (link += pair) += '&';
    if (top_left > 0) link += "%24top=" + std::to_string(top_left) + "&";
    return link + "%24skip=" + std::to_string(before);
}

constexpr int kScheduledLookedAt = 2'000;  // for one page; the next goes on from there
constexpr int kScheduledAtOnce = 500;

struct ListedJobs {
    std::vector<Job> jobs;
    std::int64_t stopped_at = 0;  // the id of the last one looked at, where there are more; else 0
};

Result<ListedJobs> list_scheduled(Context& context, ports::JobQuery query, const std::string& schedule) {
    const auto wanted = static_cast<std::size_t>(query.limit);
    query.limit = kScheduledAtOnce;
    ListedJobs found;
    for (int looked_at = 0; looked_at < kScheduledLookedAt; looked_at += query.limit) {
        LAVANT_TRY(auto jobs, context.ports.reader.list_jobs(query));
        if (!jobs.empty()) query.before_id = jobs.back().head.id.value;
        for (Job& job : jobs) {
            const bool made = own_properties(job.body.properties)[kScheduleProperty].text() == schedule;
            if (made && found.jobs.size() < wanted) found.jobs.push_back(std::move(job));
        }
        if (std::ssize(jobs) < query.limit || found.jobs.size() == wanted) return found;
    }
    found.stopped_at = query.before_id;
    return found;
}

Result<ListedJobs> list_all(Context& context, const ports::JobQuery& query) {
    LAVANT_TRY(auto jobs, context.ports.reader.list_jobs(query));
    return ListedJobs{std::move(jobs), 0};
}

Result<HttpResponse> list_jobs(Context& context, const Call& call) {
    ports::JobQuery query;
    query.workspace = call.workspace;
    const std::string view = call.request.query_value("listViewType").value_or("ActiveOnly");
    if (equals_ignoring_case(view, "All")) query.archived = std::nullopt;
    if (equals_ignoring_case(view, "ArchivedOnly")) query.archived = true;
    query.tag = call.request.query_value("tag").value_or(call.request.query_value("tags").value_or(""));
    query.status = call.request.query_value("status").value_or("");
    query.experiment = call.request.query_value("experimentName").value_or("");
    query.kind = to_lower(call.request.query_value("jobType").value_or(""));
    // Jobs that a schedule made are found by the property it gave them.
    const std::string schedule = call.request.query_value("scheduleId").value_or("");
    query.before_id = parse_integer(call.request.query_value("$skip").value_or("0")).value_or(0);
    const std::int64_t top =
        std::max<std::int64_t>(0, parse_integer(call.request.query_value("$top").value_or("0")).value_or(0));
    const auto page = static_cast<std::size_t>(top == 0 ? limits::kListPage
                                                        : std::min<std::int64_t>(top, limits::kListPage));
    query.limit = static_cast<int>(page) + 1;  // one more tells whether there is a next page
    LAVANT_TRY(auto listed,
               schedule.empty() ? list_all(context, query) : list_scheduled(context, query, schedule));
    std::vector<Job>& jobs = listed.jobs;
    const bool full = jobs.size() > page;
    if (full) jobs.resize(page);
    const std::int64_t left = top == 0 ? 0 : top - std::ssize(jobs);  // 0: all of them
    const bool more = (full || listed.stopped_at != 0) && (top == 0 || left > 0);
    std::string body = R"({"value":[)";
    for (const Job& job : jobs) {
        if (body.back() != '[') body += ',';
        body += view_job(context, call, job);
    }
    body += ']';
    if (more)
        body +=
            R"(,"nextLink":)" +
            json_quote(next_link(context, call, full ? jobs.back().head.id.value : listed.stopped_at, left));
    return json_response(200, body + "}");
}

void cancel_job(Context& context, const SharedCall& call) {
    plane::CancelJob cancel;
    cancel.workspace = call->workspace;
    cancel.name = call->param("name");
    cancel.who = call->caller.user;
    post(context, call, std::move(cancel), [&context, call](const plane::Answer&) {
        HttpResponse response;
        response.status = 202;
        response.headers.emplace_back("Location", origin_of(context, call->request) +
                                                      arm_id(workspace_of(*call)) + "/jobs/" +
                                                      call->param("name") + "/operations/cancel");
        response.headers.emplace_back("Retry-After", "1");
        call->respond(std::move(response));
    });
}

// The rows are gone when this answers, and the files soon after.
void delete_job(Context& context, const SharedCall& call) {
    plane::DeleteJob gone;
    gone.workspace = call->workspace;
    gone.name = call->param("name");
    gone.who = call->caller.user;
    post(context, call, std::move(gone), [call](const plane::Answer&) {
        HttpResponse response;
        response.status = 204;
        call->respond(std::move(response));
    });
}

// Where the poller of a cancel looks: 202 until the caller sees that the job has ended.
Result<HttpResponse> cancel_status(Context& context, const Call& call) {
    LAVANT_TRY(const Job job, load_job(context, call.workspace, call.param("name")));
    HttpResponse response;
    if (is_terminal(shown_status(context, call, job.head))) return response;
    response.status = 202;
    response.headers.emplace_back("Location", origin_of(context, call.request) + arm_id(workspace_of(call)) +
                                                  "/jobs/" + job.head.name + "/operations/cancel");
    response.headers.emplace_back("Retry-After", "1");
    return response;
}

}  // namespace

Result<Job> load_job(Context& context, const std::string& workspace, const std::string& name) {
    LAVANT_TRY(auto job, context.ports.reader.find_job(workspace, name));
    if (!job) return fail(ErrorCode::NotFound, "there is no job '" + name + "'");
    return std::move(*job);
}

bool is_azure_sdk(const ports::HttpRequest& request) {
    return request.header("User-Agent").find("azure-ai-ml") != std::string_view::npos;
}

JobStatus shown_status(const Context& context, const Call& call, const JobHead& head) {
    const bool fresh = is_terminal(head.status) && head.ended_at &&
                       context.ports.clock.now() - *head.ended_at < context.settings.sdk_settle;
    return fresh && is_azure_sdk(call.request) ? JobStatus::Finalizing : head.status;
}

std::string view_job(const Context& context, const Call& call, const Job& job) {
    return render_job(
        job, {origin_of(context, call.request), workspace_of(call), shown_status(context, call, job.head)});
}

void add_job_routes(Router& router, Context& context) {
    const std::string jobs = std::string(kWorkspacePattern) + "/jobs";
    const auto later = [&context](Need need, void (*handler)(Context&, const SharedCall&)) {
        return Route{need, [&context, handler](const SharedCall& call) { handler(context, call); }};
    };
    router.add("GET", jobs, answer_now(context, Need::Reader, list_jobs));
    router.add("GET", jobs + "/{name}", answer_now(context, Need::Reader, get_job));
    router.add("PUT", jobs + "/{name}", later(Need::Contributor, put_job));
    router.add("DELETE", jobs + "/{name}", later(Need::Contributor, delete_job));
    router.add("POST", jobs + "/{name}/cancel", later(Need::Contributor, cancel_job));
    router.add("GET", jobs + "/{name}/operations/cancel", answer_now(context, Need::Reader, cancel_status));
}

}  // namespace lavant::api
