#include "api/key_routes.h"

#include <functional>
#include <memory>
#include <utility>

#include "api/access_changes.h"
#include "api/answers.h"
#include "api/principals.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::size_t kLabelChars = 200;
constexpr std::int64_t kLimitMost = 1'000'000'000;

Result<Asset> find_key(Context& context, const std::string& id) {
    LAVANT_TRY(auto row, context.ports.reader.find_asset({"", kKeyKind, id, ""}));
    if (!row)
        return fail(ErrorCode::NotFound, "there is no key '" + id + "'; list them with `lavant key list`");
    return std::move(*row);
}

Result<Json> view_of(const Asset& row) {
    LAVANT_TRY(const KeyFacts facts, key_facts(row));
    Json view = Json::object({{"id", row.key.name},
                              {"user", facts.user},
                              {"role", name_of(facts.role)},
                              {"label", facts.label},
                              {"createdAt", to_rfc3339(row.created_at)},
                              {"createdBy", row.created_by}});
    if (facts.expires_at != Instant::max()) view.set("expiresAt", to_rfc3339(facts.expires_at));
    const KeyLimits& limits = facts.limits;
    if (limits.requests_per_s > 0) view.set("requestsPerSecond", limits.requests_per_s);
    if (limits.upload_mib_per_s > 0) view.set("uploadMibPerSecond", limits.upload_mib_per_s);
    if (limits.body_mib > 0) view.set("bodyMib", limits.body_mib);
    return view;
}

Result<HttpResponse> list_keys(Context& context, const Call& call) {
    LAVANT_TRY(const auto keys, list_rows(context.ports.reader, kKeyKind));
    const std::string user = call.request.query_value("user").value_or("");
    Json value = Json::array();
    for (const Asset& key : keys) {
        LAVANT_TRY(Json view, view_of(key));
        if (user.empty() || view["user"].text() == user) value.append(std::move(view));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> show_key(Context& context, const Call& call) {
    LAVANT_TRY(const Asset row, find_key(context, call.param("id")));
    LAVANT_TRY(const Json view, view_of(row));
    return json_response(200, view);
}

Result<int> read_limit(const Json& body, const char* name, int otherwise) {
    if (!body.has(name) || body[name].is_null()) return body.has(name) ? 0 : otherwise;
    const std::int64_t value = body[name].integer(-1);
    if (value < 0 || value > kLimitMost)
        return fail(
            ErrorCode::InvalidArgument,
            std::string(name) + " is a number from 0 (the server's limit) to " + std::to_string(kLimitMost));
    return static_cast<int>(value);
}

// What a body says over what was there before.
Result<KeyFacts> read_facts(Context& context, const Json& body, KeyFacts facts) {
    if (body.has("role")) {
        if (body["role"].text() == name_of(Role::None)) {
            facts.role = Role::None;
        } else {
            LAVANT_TRY(facts.role, parse_role(body["role"].text()));
        }
    }
    if (body.has("label")) facts.label = body["label"].string();
    if (facts.label.size() > kLabelChars)
        return fail(ErrorCode::InvalidArgument, "the label has more than 200 characters");
    if (body.has("expiresAt") && body["expiresAt"].is_null()) facts.expires_at = Instant::max();
    if (body["expiresAt"].is_string()) {
        const auto at = parse_rfc3339(body["expiresAt"].text());
        if (!at || *at <= context.ports.clock.now())
            return fail(ErrorCode::InvalidArgument,
                        "expiresAt is a time to come, such as 2030-01-31T00:00:00Z");
        facts.expires_at = *at;
    }
    KeyLimits& limits = facts.limits;
    LAVANT_TRY(limits.requests_per_s, read_limit(body, "requestsPerSecond", limits.requests_per_s));
    LAVANT_TRY(limits.upload_mib_per_s, read_limit(body, "uploadMibPerSecond", limits.upload_mib_per_s));
    LAVANT_TRY(limits.body_mib, read_limit(body, "bodyMib", limits.body_mib));
    return facts;
}

Result<KeyFacts> parse_new_key(Context& context, const Call& call) {
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    KeyFacts facts;
    facts.user = body["user"].string();
    if (!is_principal_name(facts.user))
        return fail(ErrorCode::InvalidArgument, "say whose key it is: {\"user\": \"ann\"}");
    // Somebody who has roles of their own needs none with the key.
    LAVANT_TRY(const bool known, is_known_principal(context.ports.reader, facts.user));
    facts.role = known ? Role::None : Role::Contributor;
    return read_facts(context, body, std::move(facts));
}

void answer_with_secret(const SharedCall& call, int status, const Asset& row, const std::string& plain) {
    auto view = view_of(row);
    if (!view) return call->respond(error_response(view.error()));
    view->set("key", plain);
    HttpResponse response = json_response(status, *view);
    response.headers.emplace_back("Cache-Control", "no-store");
    call->respond(std::move(response));
}

Error changed_meanwhile() { return {ErrorCode::Conflict, "somebody else changed the key; try again", {}}; }

bool is_written(const plane::Answer& answer) {
    return !answer.assets_written.empty() && answer.assets_written.front();
}

void store_key(Context& context, const SharedCall& call, int status, std::function<Result<NewKey>()> plan) {
    const auto made = std::make_shared<NewKey>();  // shared by the two steps
    change_access(
        context, call,
        [made, plan = std::move(plan)]() -> Result<plane::WriteAssets> {
            LAVANT_TRY(*made, plan());
            return plane::WriteAssets{.writes = {made->write}};
        },
        [call, status, made](const plane::Answer& answer) {
            if (!is_written(answer)) return call->respond(error_response(changed_meanwhile()));
            answer_with_secret(call, status, made->write.asset, made->plain);
        });
}

Result<NewKey> plan_creation(Context& context, const Call& call) {
    LAVANT_TRY(const KeyFacts facts, parse_new_key(context, call));
    NewKey made = context.access.make_key("key-" + to_hex(context.ports.crypto.random_bytes(6)), facts);
    made.write.asset.created_by = call.caller.user;
    made.write.asset.created_at = made.write.asset.modified_at = context.ports.clock.now();
    return made;
}

void create_key(Context& context, const SharedCall& call) {
    store_key(context, call, 201, [&context, call] { return plan_creation(context, *call); });
}

Result<NewKey> plan_rotation(Context& context, const std::string& id) {
    LAVANT_TRY(const Asset before, find_key(context, id));
    LAVANT_TRY(const KeyFacts facts, key_facts(before));
    NewKey made = context.access.make_key(id, facts);
    made.write.asset.created_by = before.created_by;
    made.write.asset.created_at = before.created_at;
    made.write.asset.modified_at = context.ports.clock.now();
    made.write.expected = before.row_version;
    return made;
}

// The same key with another secret: the old one and every token made from it are dead at once.
void rotate_key(Context& context, const SharedCall& call) {
    store_key(context, call, 200, [&context, call] { return plan_rotation(context, call->param("id")); });
}

Result<AssetWrite> plan_change(Context& context, const Call& call) {
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    LAVANT_TRY(const Asset before, find_key(context, call.param("id")));
    LAVANT_TRY(const KeyFacts old_facts, key_facts(before));
    LAVANT_TRY(const KeyFacts facts, read_facts(context, body, old_facts));
    const bool loses_role = old_facts.role == Role::Owner && facts.role != Role::Owner;
    const bool gets_end = old_facts.expires_at == Instant::max() && facts.expires_at != Instant::max();
    if (loses_role || gets_end) {
        Departure leaving;
        leaving.keys.insert(before.key.name);
        LAVANT_TRY_VOID(check_owner_stays(context.ports.reader, leaving));
    }
    AssetWrite write;
    write.asset = before;
    write.asset.body = key_body(facts);
    write.asset.modified_at = context.ports.clock.now();
    write.expected = before.row_version;
    return write;
}

void change_key(Context& context, const SharedCall& call) {
    const auto row = std::make_shared<Asset>();  // shared by the two steps
    change_access(
        context, call,
        [&context, call, row]() -> Result<plane::WriteAssets> {
            LAVANT_TRY(AssetWrite write, plan_change(context, *call));
            *row = write.asset;
            return plane::WriteAssets{.writes = {std::move(write)}};
        },
        [call, row](const plane::Answer& answer) {
            if (!is_written(answer)) return call->respond(error_response(changed_meanwhile()));
            const auto view = view_of(*row);
            call->respond(view ? json_response(200, *view) : error_response(view.error()));
        });
}

Result<plane::WriteAssets> plan_revoke(Context& context, const std::string& id) {
    LAVANT_TRY(const Asset row, find_key(context, id));
    Departure leaving;
    leaving.keys.insert(id);
    LAVANT_TRY_VOID(check_owner_stays(context.ports.reader, leaving));
    AssetWrite write;
    write.asset.key = row.key;
    write.remove = true;
    return plane::WriteAssets{.writes = {std::move(write)}};
}

void revoke_key(Context& context, const SharedCall& call) {
    change_access(
        context, call, [&context, call] { return plan_revoke(context, call->param("id")); },
        [&context, call](const plane::Answer&) {
            drop_dead_owner_key(context);
            call->respond(HttpResponse{.status = 204});
        });
}

}  // namespace

void add_key_routes(Router& router, Context& context) {
    const std::string keys = "/lavant/v1/keys";
    router.add("GET", keys, answer_now(context, Need::ServerOwner, list_keys));
    router.add("POST", keys, answer_later(context, Need::ServerOwner, create_key));
    router.add("GET", keys + "/{id}", answer_now(context, Need::ServerOwner, show_key));
    router.add("PATCH", keys + "/{id}", answer_later(context, Need::ServerOwner, change_key));
    router.add("DELETE", keys + "/{id}", answer_later(context, Need::ServerOwner, revoke_key));
    router.add("POST", keys + "/{id}/rotate", answer_later(context, Need::ServerOwner, rotate_key));
}

}  // namespace lavant::api
