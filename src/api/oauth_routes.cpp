#include "api/oauth_routes.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/answers.h"
#include "api/audit_routes.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr Duration kTokenLife = std::chrono::hours(12);
constexpr Duration kDeviceKeyLife = std::chrono::hours(24 * 90);
constexpr int kPollSeconds = 1;
constexpr std::size_t kClientChars = 200;
constexpr std::size_t kAudienceChars = 1'000;
constexpr std::string_view kDeviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

// --- who we are ---

std::string issuer_of(const Context& context, const Call& call) {
    return origin_of(context, call.request) + "/" + std::string(kTenant) + "/v2.0";
}

// Clients give any tenant. The addresses they get carry the same one.
std::string tenant_of(const Call& call) {
    const std::string& tenant = call.param("tenant");
    return is_plain_name(tenant, 100) ? tenant : std::string(kTenant);
}

Json describe_openid(const Context& context, const Call& call, bool second_version) {
    const std::string base = origin_of(context, call.request) + "/" + tenant_of(call);
    const std::string oauth = base + (second_version ? "/oauth2/v2.0" : "/oauth2");
    return Json::object(
        {{"issuer", issuer_of(context, call)},
         {"authorization_endpoint", oauth + "/authorize"},
         {"token_endpoint", oauth + "/token"},
         {"device_authorization_endpoint", oauth + "/devicecode"},
         {"jwks_uri", base + (second_version ? "/discovery/v2.0/keys" : "/discovery/keys")},
         {"response_types_supported", Json::array({"code"})},
         {"grant_types_supported", Json::array({"client_credentials", "refresh_token", kDeviceGrant})},
         {"token_endpoint_auth_methods_supported",
          Json::array({"client_secret_post", "client_secret_basic"})},
         {"subject_types_supported", Json::array({"pairwise"})},
         {"id_token_signing_alg_values_supported", Json::array({"ES256"})},
         {"scopes_supported", Json::array({"openid", "profile", "offline_access"})}});
}

Result<HttpResponse> openid_first(Context& context, const Call& call) {
    return json_response(200, describe_openid(context, call, false));
}

Result<HttpResponse> openid_second(Context& context, const Call& call) {
    return json_response(200, describe_openid(context, call, true));
}

Result<HttpResponse> key_set(Context& context, const Call& /*call*/) {
    return json_response(200, context.access.key_set());
}

Result<HttpResponse> instance(Context& context, const Call& call) {
    const std::string origin = origin_of(context, call.request);
    const std::string host = origin.substr(std::string_view("https://").size());
    return json_response(
        200, Json::object({{"tenant_discovery_endpoint",
                            origin + "/" + std::string(kTenant) + "/v2.0/.well-known/openid-configuration"},
                           {"api-version", "1.1"},
                           {"metadata", Json::array({Json::object({{"preferred_network", host},
                                                                   {"preferred_cache", host},
                                                                   {"aliases", Json::array({host})}})})}}));
}

// There are no passwords here, so there is no page that asks for one.
Result<HttpResponse> authorize(Context& /*context*/, const Call& /*call*/) {
    return text_response(
        400,
        "This server has no page to log in with. Use a client secret (an API key), a device code, or\n\n"
        "    eval \"$(lavant env)\"\n");
}

Result<HttpResponse> device_page(Context& /*context*/, const Call& /*call*/) {
    return text_response(200,
                         "Approve the login in a terminal where you are signed in, with the code that the "
                         "other program shows:\n\n    lavant login --approve CODE\n");
}

// --- OAuth ---

HttpResponse oauth_error(int status, std::string_view code, std::string_view why) {
    HttpResponse response =
        json_response(status, Json::object({{"error", code}, {"error_description", why}}));
    response.headers.emplace_back("Cache-Control", "no-store");
    if (status == 429) response.headers.emplace_back("Retry-After", "1");
    return response;
}

class Form {
 public:
    explicit Form(const std::string& body) {
        request_.query = body;
        std::ranges::replace(request_.query, '+', ' ');
    }
    std::string get(std::string_view name) const { return request_.query_value(name).value_or(""); }

 private:
    ports::HttpRequest request_;
};

struct Client {
    std::string id;
    std::string secret;
};

// In the form, or as Basic authorization.
Client client_of(const Call& call, const Form& form) {
    constexpr std::string_view kBasic = "basic ";
    const std::string_view header = call.request.header("Authorization");
    if (header.size() > kBasic.size() && equals_ignoring_case(header.substr(0, kBasic.size()), kBasic)) {
        const std::string both = base64_decode(trim(header.substr(kBasic.size()))).value_or("");
        const std::size_t colon = both.find(':');
        if (colon == std::string::npos) return {};
        return {percent_decode(both.substr(0, colon)), percent_decode(both.substr(colon + 1))};
    }
    return {form.get("client_id"), form.get("client_secret")};
}

// The second version asks for scopes, the first for a resource. "https://x/.default" is resource https://x.
std::string audience_of(const Form& form) {
    constexpr std::string_view kDefault = "/.default";
    if (const std::string resource = form.get("resource"); !resource.empty()) return resource;
    const std::string scopes = form.get("scope");
    for (const std::string_view scope : split(scopes, ' ')) {
        if (scope.empty() || scope == "openid" || scope == "profile" || scope == "email" ||
            scope == "offline_access")
            continue;
        if (scope.ends_with(kDefault)) return std::string(scope.substr(0, scope.size() - kDefault.size()));
        const std::size_t slash = scope.rfind('/');
        const bool has_path = slash != std::string_view::npos && slash > 0 && scope[slash - 1] != '/';
        return std::string(has_path ? scope.substr(0, slash) : scope);
    }
    return "";
}

struct Grant {
    Caller caller;
    std::string audience;
    std::string client;
    std::string refresh_token;  // "": a client with a secret needs none
};

HttpResponse answer_grant(Context& context, const Call& call, const Form& form, const Grant& grant) {
    if (call.note) {
        call.note->record.user = grant.caller.user;
        call.note->record.key = grant.caller.key;
    }
    const Instant now = context.ports.clock.now();
    const std::string issuer = issuer_of(context, call);
    const Instant expiry = std::min(now + kTokenLife, grant.caller.expires_at);
    const std::int64_t seconds = to_unix_seconds(expiry) - to_unix_seconds(now);
    Json body =
        Json::object({{"token_type", "Bearer"},
                      {"expires_in", seconds},
                      {"ext_expires_in", seconds},
                      {"expires_on", std::to_string(to_unix_seconds(expiry))},
                      {"resource", grant.audience},
                      {"access_token", context.access.make_token(
                                           grant.caller, {grant.audience, issuer, expiry, grant.client})}});
    if (const std::string scope = form.get("scope"); !scope.empty()) body.set("scope", scope);
    if (!grant.refresh_token.empty()) {
        body.set("refresh_token", grant.refresh_token);
        body.set("id_token",
                 context.access.make_id_token(grant.caller, {grant.client, issuer, expiry, grant.client}));
        const Json info =
            Json::object({{"uid", id_of_name(context.ports.crypto, grant.caller.user)}, {"utid", kTenant}});
        body.set("client_info", base64url_encode(info.dump()));
    }
    HttpResponse response = json_response(200, body);
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

// The caller behind a secret, which must be an API key: a token is not made from another token.
Result<Caller> check_secret(Context& context, const Call& call, const std::string& secret) {
    if (!looks_like_key(secret))
        return fail(ErrorCode::Unauthenticated,
                    "the secret is none of this server's; make one with `lavant key create`");
    return context.access.check_credential(secret, call.request.peer);
}

bool is_client(Context& context, const Caller& caller, const std::string& id) {
    return id == caller.key || id == caller.user ||
           equals_ignoring_case(id, id_of_name(context.ports.crypto, caller.user));
}

HttpResponse refuse_secret(const Error& error, std::string_view code, int status) {
    if (error.code == ErrorCode::ResourceExhausted)
        return oauth_error(429, "temporarily_unavailable", error.message);
    return oauth_error(status, code, error.message);
}

HttpResponse grant_client(Context& context, const Call& call, const Form& form, Grant grant) {
    const Client client = client_of(call, form);
    auto caller = check_secret(context, call, client.secret);
    if (!caller) return refuse_secret(caller.error(), "invalid_client", 401);
    if (!is_client(context, *caller, client.id))
        return oauth_error(
            401, "invalid_client",
            "client_id is neither the id of this key nor the name or id of whom it belongs to");
    grant.caller = std::move(*caller);
    return answer_grant(context, call, form, grant);
}

HttpResponse grant_refresh(Context& context, const Call& call, const Form& form, Grant grant) {
    grant.refresh_token = form.get("refresh_token");
    auto caller = check_secret(context, call, grant.refresh_token);
    if (!caller) return refuse_secret(caller.error(), "invalid_grant", 400);
    grant.caller = std::move(*caller);
    return answer_grant(context, call, form, grant);
}

HttpResponse grant_device(Context& context, const Call& call, const Form& form, Grant grant) {
    std::string code = form.get("device_code");
    if (code.empty()) code = form.get("code");  // the first version's word
    DeviceLogins::Polled polled = context.device_logins.poll(code, grant.client, context.ports.clock.now());
    switch (polled.state) {
        case DeviceLogins::State::Unknown:
            return oauth_error(400, "expired_token",
                               "the device code is not known or has expired; begin anew");
        case DeviceLogins::State::Waiting:
            return oauth_error(400, "authorization_pending", "nobody has approved this login yet");
        case DeviceLogins::State::Denied:
            return oauth_error(400, "authorization_declined", "the login was declined");
        case DeviceLogins::State::Approved:
            break;
    }
    grant.refresh_token = std::move(polled.key);
    auto caller = check_secret(context, call, grant.refresh_token);
    if (!caller) return refuse_secret(caller.error(), "invalid_grant", 400);
    grant.caller = std::move(*caller);
    return answer_grant(context, call, form, grant);
}

Result<HttpResponse> token(Context& context, const Call& call) {
    const Form form(call.request.body);
    const std::string type = form.get("grant_type");
    Grant grant;
    grant.client = client_of(call, form).id;
    grant.audience = audience_of(form);
    if (grant.client.empty() || grant.client.size() > kClientChars)
        return oauth_error(400, "invalid_request", "client_id is missing or too long");
    const bool is_device = type == kDeviceGrant || type == "device_code";
    if (grant.audience.empty() && is_device) grant.audience = origin_of(context, call.request);
    if (grant.audience.empty() || grant.audience.size() > kAudienceChars)
        return oauth_error(400, "invalid_scope", "say for what: scope=https://.../.default");
    if (type == "client_credentials") return grant_client(context, call, form, std::move(grant));
    if (type == "refresh_token") return grant_refresh(context, call, form, std::move(grant));
    if (is_device) return grant_device(context, call, form, std::move(grant));
    return oauth_error(
        400, "unsupported_grant_type",
        "grant_type is one of client_credentials, refresh_token, " + std::string(kDeviceGrant));
}

Result<HttpResponse> begin_device_login(Context& context, const Call& call) {
    const Form form(call.request.body);
    const std::string client = form.get("client_id");
    if (client.empty() || client.size() > kClientChars)
        return oauth_error(400, "invalid_request", "client_id is missing or too long");
    const auto begun =
        context.device_logins.begin(client, host_of_peer(call.request.peer), context.ports.clock.now());
    if (!begun)
        return oauth_error(429, "temporarily_unavailable", "too many logins wait for an approval already");
    const std::string page = origin_of(context, call.request) + "/device";
    HttpResponse response = json_response(
        200,
        Json::object(
            {{"user_code", begun->user_code},
             {"device_code", begun->device_code},
             {"verification_uri", page},
             {"verification_url", page},
             {"expires_in", std::chrono::duration_cast<std::chrono::seconds>(kDeviceLoginLife).count()},
             {"interval", kPollSeconds},
             {"message", "To sign in, run in a terminal where you are signed in: lavant login --approve " +
                             begun->user_code}}));
    response.headers.emplace_back("Cache-Control", "no-store");
    return response;
}

// The managed identity's endpoint, as in an App Service.
Result<HttpResponse> identity_token(Context& context, const Call& call) {
    LAVANT_TRY(const Caller caller,
               context.access.check_credential(call.request.header("X-IDENTITY-HEADER"), call.request.peer));
    if (caller.key.empty())
        return fail(ErrorCode::PermissionDenied, "a job's token cannot be exchanged for another");
    const std::string audience = call.request.query_value("resource").value_or("");
    if (audience.empty() || audience.size() > kAudienceChars)
        return fail(ErrorCode::InvalidArgument, "ask for a resource: ?resource=https://...");
    const Instant expiry = std::min(context.ports.clock.now() + kTokenLife, caller.expires_at);
    const std::string issuer = issuer_of(context, call);
    return json_response(
        200, Json::object(
                 {{"access_token", context.access.make_token(caller, {audience, issuer, expiry, caller.key})},
                  {"expires_on", std::to_string(to_unix_seconds(expiry))},
                  {"resource", audience},
                  {"token_type", "Bearer"}}));
}

// --- approval, by somebody who is signed in ---

Result<std::string> code_of(const Call& call) {
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    std::string code = body["code"].string();
    if (code.empty()) return fail(ErrorCode::InvalidArgument, R"(say which: {"code": "BCDF-GHJK"})");
    return code;
}

Error no_such_login() {
    return {
        ErrorCode::NotFound, "no login waits with this code; codes live 15 minutes and are used once", {}};
}

Result<HttpResponse> show_device_login(Context& context, const Call& call) {
    LAVANT_TRY(const std::string code, code_of(call));
    const auto asked = context.device_logins.find(code, context.ports.clock.now());
    if (!asked) return fail(no_such_login());
    return json_response(200, Json::object({{"client", asked->client}, {"address", asked->host}}));
}

Result<HttpResponse> deny_device_login(Context& context, const Call& call) {
    LAVANT_TRY(const std::string code, code_of(call));
    if (!context.device_logins.deny(code, context.ports.clock.now())) return fail(no_such_login());
    HttpResponse response;
    response.status = 204;
    return response;
}

// The client gets a key of its own: it is listed, and can be revoked without touching others. It has no more
// than the key that approved it, and ends with it.
Result<KeyFacts> facts_of_device(Context& context, const Caller& caller, const std::string& host) {
    LAVANT_TRY(const auto parent, context.ports.reader.find_asset({"", kKeyKind, caller.key, ""}));
    if (!parent) return fail(ErrorCode::Unauthenticated, "the key that approves this was revoked");
    return KeyFacts{.user = caller.user,
                    .role = caller.key_role,
                    .label = "device login from " + host,
                    .expires_at = std::min(context.ports.clock.now() + kDeviceKeyLife, caller.expires_at),
                    .limits = caller.limits,
                    .parent = caller.key,
                    .parent_hash = Access::hash_mark(*parent)};
}

void approve_device_login(Context& context, const SharedCall& call) {
    const auto code = code_of(*call);
    if (!code) return call->respond(error_response(code.error()));
    const Instant now = context.ports.clock.now();
    const auto asked = context.device_logins.find(*code, now);
    if (!asked) return call->respond(error_response(no_such_login()));
    const auto facts = facts_of_device(context, call->caller, asked->host);
    if (!facts) return call->respond(error_response(facts.error()));
    const std::string id = "key-" + to_hex(context.ports.crypto.random_bytes(6));
    NewKey made = context.access.make_key(id, *facts);
    made.write.asset.created_by = call->caller.user;
    made.write.asset.created_at = made.write.asset.modified_at = now;
    plane::WriteAssets event;
    event.writes.push_back(std::move(made.write));
    post(context, call, std::move(event),
         [&context, call, code = *code, id, plain = made.plain](const plane::Answer& answer) {
             const bool stored = !answer.assets_written.empty() && answer.assets_written.front();
             // A key that nobody fetches stays unknown to all: it is listed and ends by itself.
             if (!stored || !context.device_logins.approve(code, plain, context.ports.clock.now()))
                 return call->respond(error_response(no_such_login()));
             call->respond(json_response(200, Json::object({{"key", id}, {"user", call->caller.user}})));
         });
}

}  // namespace

void add_oauth_routes(Router& router, Context& context) {
    const auto open = [&](const char* method, const std::string& pattern, Answering handler) {
        router.add(method, pattern, answer_now(context, Need::Nothing, std::move(handler)));
    };
    const std::string well_known = "/.well-known/openid-configuration";
    open("GET", "/common/discovery/instance", instance);
    open("GET", "/device", device_page);
    open("GET", "/msi/token", identity_token);
    for (const std::string version : {"", "/v2.0"}) {
        const bool second = !version.empty();
        open("GET", "/{tenant}" + version + well_known, second ? openid_second : openid_first);
        open("GET", "/{tenant}/discovery" + version + "/keys", key_set);
        open("POST", "/{tenant}/oauth2" + version + "/token", token);
        open("POST", "/{tenant}/oauth2" + version + "/devicecode", begin_device_login);
        open("GET", "/{tenant}/oauth2" + version + "/authorize", authorize);
    }
    const std::string logins = "/lavant/v1/device-logins";
    router.add("POST", logins + "/show", answer_now(context, Need::SignedIn, show_device_login));
    router.add("POST", logins + "/deny", answer_now(context, Need::SignedIn, deny_device_login));
    router.add("POST", logins + "/approve", answer_later(context, Need::SignedIn, approve_device_login));
}

}  // namespace lavant::api
