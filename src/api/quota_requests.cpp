#include "api/quota_requests.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "api/quota_rows.h"
#include "api/request_body.h"
#include "base/text.h"
#include "core/quota/quota_answer.h"
#include "core/quota/quota_names.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr const char* kRequestKind = "quota_requests";
constexpr std::size_t kReasonCharsMax = 1000;
constexpr std::ptrdiff_t kPendingOfOneUser = 20;
constexpr std::ptrdiff_t kPendingMax = 1000;
constexpr std::size_t kKeptMax = 1000;  // of those that are decided
constexpr std::string_view kPending = "pending";

// Quotas are the server's, not a workspace's.
AssetKey key_of(const std::string& id) { return {kDefaultWorkspace, kRequestKind, id, ""}; }

Json view(const Asset& asset, const Json& body) {
    Json shown = Json::object({{"id", asset.key.name}});
    for (const auto& [key, value] : body.members()) shown.set(key, value);
    shown.set("requestedBy", asset.created_by).set("requestedAt", to_rfc3339(asset.created_at));
    return shown;
}

bool is_pending(const Json& body) { return body["status"].text() == kPending; }

struct Stored {
    Asset asset;
    Json body;
};

// Newest first.
Result<std::vector<Stored>> load_requests(Context& context) {
    ports::AssetQuery query;
    query.workspace = kDefaultWorkspace;
    query.kind = kRequestKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = ports::kRowsPerQuery;
    LAVANT_TRY(auto assets, context.ports.reader.list_assets(query));
    std::vector<Stored> found;
    for (Asset& asset : assets) {
        LAVANT_TRY(Json body, wire::parse_json(asset.body));
        found.push_back({std::move(asset), std::move(body)});
    }
    return found;
}

Result<HttpResponse> list_requests(Context& context, const Call& call) {
    LAVANT_TRY(const auto requests, load_requests(context));
    const std::string status = call.request.query_value("status").value_or("");
    Json value = Json::array();
    for (const Stored& one : requests)
        if (status.empty() || one.body["status"].text() == status) value.append(view(one.asset, one.body));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<Json> parse_request(Context& context, const Call& call) {
    LAVANT_TRY(const Json body, parse_body(call, {"family", "cores", "location", "tier", "reason"}));
    LAVANT_TRY(const QuotaState state, load_quotas(context));
    LAVANT_TRY(const QuotaWish wish, parse_quota_wish(body, state.sizes));
    const std::string reason = body["reason"].string();
    if (reason.size() > kReasonCharsMax)
        return fail(ErrorCode::InvalidArgument,
                    "the reason has more than " + std::to_string(kReasonCharsMax) + " characters");
    const std::int64_t limit = state.book.limit(wish.key);
    if (*wish.cores <= limit)
        return fail(ErrorCode::InvalidArgument,
                    "the limit of " + in_words(wish.key) + " is " + std::to_string(limit) + " cores already");
    return Json::object({{"location", wish.key.location},
                         {"family", family_word(wish.key)},
                         {"tier", name_of(wish.key.tier)},
                         {"cores", *wish.cores},
                         {"reason", reason},
                         {"status", kPending}});
}

// The new one, and what has to go to make room: the oldest that are decided.
Result<plane::WriteAssets> plan_request(Context& context, const Call& call, const Json& body) {
    LAVANT_TRY(const auto known, load_requests(context));
    const auto pending = std::ranges::count_if(known, [](const Stored& one) { return is_pending(one.body); });
    const auto mine = std::ranges::count_if(known, [&call](const Stored& one) {
        return is_pending(one.body) && one.asset.created_by == call.caller.user;
    });
    if (mine >= kPendingOfOneUser || pending >= kPendingMax)
        return fail(ErrorCode::Conflict,
                    "too many requests wait for an answer already; ask an owner to grant or deny them");
    plane::WriteAssets event;
    AssetWrite write;
    write.asset.key = key_of("qr-" + to_hex(context.ports.crypto.random_bytes(5)));
    write.asset.body = body.dump();
    write.asset.created_by = call.caller.user;
    write.asset.created_at = write.asset.modified_at = context.ports.clock.now();
    write.expected = 0;
    event.writes.push_back(std::move(write));
    std::size_t decided = 0;
    for (const Stored& one : known) {
        if (is_pending(one.body) || ++decided < kKeptMax) continue;
        AssetWrite old;
        old.asset.key = one.asset.key;
        old.remove = true;
        event.writes.push_back(std::move(old));
    }
    return event;
}

void create_request(Context& context, const SharedCall& call) {
    const auto body = parse_request(context, *call);
    if (!body) return call->respond(error_response(body.error()));
    auto event = plan_request(context, *call, *body);
    if (!event) return call->respond(error_response(event.error()));
    post(context, call, *event,
         [call, body = *body, asset = event->writes.front().asset](const plane::Answer& answer) {
             if (answer.assets_written.empty() || !answer.assets_written.front())
                 return call->respond(
                     error_response({ErrorCode::Conflict, "the request's id is taken; try again", {}}));
             call->respond(json_response(201, view(asset, body)));
         });
}

// --- decisions ---

Result<Stored> load_pending(Context& context, const std::string& id) {
    LAVANT_TRY(auto asset, context.ports.reader.find_asset(key_of(id)));
    if (!asset)
        return fail(ErrorCode::NotFound,
                    "there is no request '" + id + "'; list them with `lavant quota requests`");
    LAVANT_TRY(Json body, wire::parse_json(asset->body));
    if (!is_pending(body))
        return fail(ErrorCode::Conflict, "request '" + id + "' was " + body["status"].string() +
                                             " already by " + body["decidedBy"].string());
    return Stored{std::move(*asset), std::move(body)};
}

void store_decision(Context& context, const SharedCall& call, Stored request, const char* status) {
    const Instant now = context.ports.clock.now();
    request.body.set("status", status).set("decidedBy", call->caller.user).set("decidedAt", to_rfc3339(now));
    AssetWrite write;
    write.expected = request.asset.row_version;
    write.asset = request.asset;
    write.asset.body = request.body.dump();
    write.asset.modified_at = now;
    plane::WriteAssets event;
    event.writes.push_back(std::move(write));
    post(context, call, std::move(event), [call, request = std::move(request)](const plane::Answer& answer) {
        if (answer.assets_written.empty() || !answer.assets_written.front())
            return call->respond(
                error_response({ErrorCode::Conflict, "somebody else decided on it at the same time", {}}));
        call->respond(json_response(200, view(request.asset, request.body)));
    });
}

// The levels whose limit is too small for what is granted.
std::vector<Quota> limits_to_raise(const QuotaState& state, const QuotaWish& wish) {
    std::vector<Quota> raised;
    for (const QuotaLevel level : {QuotaLevel::Subscription, QuotaLevel::Workspace})
        if (state.book.limit(wish.key, level) < *wish.cores) raised.push_back({wish.key, level, *wish.cores});
    return raised;
}

// First the limits, one after the other, then the request: after a crash in between it can be granted again.
void raise_limits(Context& context, const SharedCall& call, Stored request, std::vector<Quota> limits) {
    if (limits.empty()) return store_decision(context, call, std::move(request), "granted");
    plane::SetQuota event;
    event.quota = limits.back();
    event.who = call->caller.user;
    limits.pop_back();
    post(context, call, std::move(event),
         [&context, call, request = std::move(request), limits = std::move(limits)](const plane::Answer&) {
             raise_limits(context, call, request, limits);
         });
}

struct Grant {
    Stored request;
    std::vector<Quota> limits;
};

Result<Grant> plan_grant(Context& context, const Call& call) {
    LAVANT_TRY(Stored request, load_pending(context, call.param("id")));
    LAVANT_TRY(const Json body, parse_body(call, {"cores"}));
    Json wanted = request.body;
    if (body.has("cores")) wanted.set("cores", body["cores"]);
    LAVANT_TRY(const QuotaState state, load_quotas(context));
    LAVANT_TRY(const QuotaWish wish, parse_quota_wish(wanted, state.sizes));
    request.body.set("granted", *wish.cores);
    return Grant{std::move(request), limits_to_raise(state, wish)};
}

void grant_request(Context& context, const SharedCall& call) {
    auto grant = plan_grant(context, *call);
    if (!grant) return call->respond(error_response(grant.error()));
    raise_limits(context, call, std::move(grant->request), std::move(grant->limits));
}

void deny_request(Context& context, const SharedCall& call) {
    auto request = load_pending(context, call->param("id"));
    if (!request) return call->respond(error_response(request.error()));
    store_decision(context, call, std::move(*request), "denied");
}

}  // namespace

void add_quota_request_routes(Router& router, Context& context) {
    const std::string base = "/lavant/v1/quotas/requests";
    router.add("GET", base, answer_now(context, Need::Reader, list_requests));
    router.add("POST", base, answer_later(context, Need::Reader, create_request));
    router.add("POST", base + "/{id}/grant", answer_later(context, Need::ServerOwner, grant_request));
    router.add("POST", base + "/{id}/deny", answer_later(context, Need::ServerOwner, deny_request));
}

}  // namespace lavant::api
