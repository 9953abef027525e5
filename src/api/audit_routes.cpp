#include "api/audit_routes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/answers.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::size_t kPageMax = 1'000;

// Azure's wire asks some questions by POST.
constexpr std::array<std::string_view, 6> kQuestions{
    "/rundata", "/batchgetresolveduris", "/listnodes", "/validate", "/diagnose", "/device-logins/show"};

class AuditedResponder final : public ports::Responder {
 public:
    AuditedResponder(std::shared_ptr<AuditLog> log, std::shared_ptr<ports::Responder> inner,
                     std::shared_ptr<AuditNote> note)
        : log_(std::move(log)), inner_(std::move(inner)), note_(std::move(note)) {}
    ~AuditedResponder() override {
        if (!answered_) keep(500);  // what the server sends for one that was dropped
    }
    AuditedResponder(const AuditedResponder&) = delete;
    AuditedResponder& operator=(const AuditedResponder&) = delete;

    void respond(HttpResponse response) override {
        keep(response.status);
        inner_->respond(std::move(response));
    }
    std::shared_ptr<ports::ResponseStream> stream(HttpResponse head) override {
        keep(head.status);
        return inner_->stream(std::move(head));
    }

 private:
    void keep(int status) {
        if (std::exchange(answered_, true)) return;
        if (note_->reads && status < 400) return;
        note_->record.status = status;
        log_->write(note_->record);
    }

    std::shared_ptr<AuditLog> log_;
    std::shared_ptr<ports::Responder> inner_;
    std::shared_ptr<AuditNote> note_;
    bool answered_ = false;
};

Result<Instant> read_time(const Call& call, const char* name, Instant otherwise) {
    const auto text = call.request.query_value(name);
    if (!text || text->empty()) return otherwise;
    const auto at = parse_rfc3339(*text);
    if (!at)
        return fail(ErrorCode::InvalidArgument,
                    std::string(name) + " is a time such as 2030-01-31T00:00:00Z");
    return *at;
}

Result<AuditQuery> read_query(const Call& call) {
    const auto value = [&](const char* name) { return call.request.query_value(name).value_or(""); };
    AuditQuery query;
    query.user = value("user");
    query.key = value("key");
    query.method = value("method");
    query.workspace = value("workspace");
    query.path = value("path");
    query.status = value("status");
    query.position = value("position");
    LAVANT_TRY(query.since, read_time(call, "since", Instant{}));
    LAVANT_TRY(query.until, read_time(call, "until", Instant::max()));
    const auto limit = parse_integer(call.request.query_value("limit").value_or("100"));
    if (!limit || *limit < 1 || *limit > static_cast<std::int64_t>(kPageMax))
        return fail(ErrorCode::InvalidArgument, "limit is a number from 1 to " + std::to_string(kPageMax));
    query.limit = static_cast<std::size_t>(*limit);
    return query;
}

std::string next_link(const Context& context, const Call& call, const std::string& position) {
    std::string link = origin_of(context, call.request) + "/lavant/v1/audit?position=" + position;
    for (const char* name :
         {"user", "key", "method", "workspace", "path", "status", "since", "until", "limit"})
        if (const auto value = call.request.query_value(name); value && !value->empty())
            link += "&" + std::string(name) + "=" + percent_encode(*value);
    return link;
}

Result<HttpResponse> show_audit(Context& context, const Call& call) {
    LAVANT_TRY(const AuditQuery query, read_query(call));
    LAVANT_TRY(AuditPage page, context.audit->read(query));
    Json body = Json::object({{"value", Json(std::move(page.records))}});
    if (!page.next.empty()) body.set("nextLink", next_link(context, call, page.next));
    return json_response(200, body);
}

}  // namespace

bool is_write(const ports::HttpRequest& request) {
    return request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
}

std::shared_ptr<AuditNote> begin_note(Context& context, const ports::HttpRequest& request) {
    auto note = std::make_shared<AuditNote>();
    note->record.at = context.ports.clock.now();
    note->record.method = request.method;
    note->record.path = request.path;
    note->record.peer = request.peer;
    if (request.method == "POST") {
        const std::string path = to_lower(request.path);
        note->reads =
            std::ranges::any_of(kQuestions, [&](std::string_view end) { return path.ends_with(end); });
    }
    return note;
}

void sign_note(const Call& call) {
    if (!call.note) return;
    AuditRecord& record = call.note->record;
    record.user = call.caller.user;
    record.key = call.caller.key;
    record.job = call.caller.job;
    const bool signed_address = record.user.empty() && call.request.query.find("sig=") != std::string::npos;
    if (signed_address) record.key = "sas";
}

std::shared_ptr<ports::Responder> audited(Context& context, std::shared_ptr<ports::Responder> responder,
                                          std::shared_ptr<AuditNote> note) {
    return std::make_shared<AuditedResponder>(context.audit, std::move(responder), std::move(note));
}

void add_audit_routes(Router& router, Context& context) {
    router.add("GET", "/lavant/v1/audit", answer_now(context, Need::ServerOwner, show_audit));
}

}  // namespace lavant::api
