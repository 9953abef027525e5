#include "api/workspace_routes.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/answers.h"
#include "api/job_routes.h"
#include "base/limits.h"
#include "base/text.h"
#include "core/model/size.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr Duration kTokenLife = std::chrono::hours(12);
constexpr std::int64_t kSecretHoursMax = 24;

Result<HttpResponse> health(Context& context, const Call& /*call*/) {
    return json_response(200, Json::object({{"status", "ok"}, {"version", context.settings.version}}));
}

Result<HttpResponse> metrics(Context& context, const Call& /*call*/) {
    ServerFigures server;
    server.requests = context.requests.load();
    server.requests_refused = context.refused.load();
    server.waiters = context.ports.feed.subscribers();
    server.disk_free_bytes = context.space.free_bytes();
    HttpResponse response = text_response(200, render_metrics(context.ports.loop_stats(), server));
    response.headers = {{"Content-Type", kOpenMetricsType}};
    return response;
}

// Asked for again and again by azure-ai-ml, so it is put together by hand.
Result<HttpResponse> metadata(Context& context, const Call& call) {
    const std::string origin = origin_of(context, call.request) + "/";
    return json_response(
        200, R"([{"name":"Lavant","portal":"https://portal.azure.lavant","resourceManager":")" + origin +
                 R"(","authentication":{"loginEndpoint":")" + origin + R"(","audiences":[")" + origin +
                 R"("]},"suffixes":{"storage":"core.windows.net"}}])");
}

Result<HttpResponse> token(Context& context, const Call& call) {
    LAVANT_TRY(const Caller caller,
               context.access.check_credential(call.request.header("X-IDENTITY-HEADER")));
    if (caller.key.empty())
        return fail(ErrorCode::PermissionDenied, "a job's token cannot be exchanged for another");
    const std::string audience = call.request.query_value("resource").value_or("");
    if (audience.empty())
        return fail(ErrorCode::InvalidArgument, "ask for a resource: ?resource=https://...");
    const Instant expiry = context.ports.clock.now() + kTokenLife;
    return json_response(200,
                         Json::object({{"access_token", context.access.make_token(caller, audience, expiry)},
                                       {"expires_on", std::to_string(to_micros(expiry) / 1'000'000)},
                                       {"resource", audience},
                                       {"token_type", "Bearer"}}));
}

Result<HttpResponse> discovery(Context& context, const Call& call) {
    const std::string origin = origin_of(context, call.request);
    return json_response(200, Json::object({{"api", origin}, {"history", origin}}));
}

// --- datastores: the two built-in ones ---

std::string container_of(const Call& call, const std::string& datastore) {
    if (datastore == kBlobDatastore) return blob_container(call.workspace);
    if (datastore == kArtifactDatastore) return artifact_container(call.workspace);
    return "";
}

tl::unexpected<Error> no_datastore(const std::string& name) {
    return fail(ErrorCode::NotFound, "there is no datastore '" + name + "'; there are " + kBlobDatastore +
                                         " and " + kArtifactDatastore);
}

Json datastore_view(const Context& context, const Call& call, const std::string& name) {
    // The client puts "https://" in front and ".blob.core.windows.net" behind the account's name: path style
    // storage on this very port, without a name server.
    const std::string origin = origin_of(context, call.request);
    const std::string account =
        origin.substr(std::string_view("https://").size()) + "/storage/" + kStorageAccount;
    return Json::object(
        {{"id", arm_id(workspace_of(call)) + "/datastores/" + name},
         {"name", name},
         {"type", "Microsoft.MachineLearningServices/workspaces/datastores"},
         {"properties", Json::object({{"datastoreType", "AzureBlob"},
                                      {"accountName", account},
                                      {"containerName", container_of(call, name)},
                                      {"endpoint", "core.windows.net"},
                                      {"protocol", "https"},
                                      {"isDefault", name == kBlobDatastore},
                                      {"credentials", Json::object({{"credentialsType", "AccountKey"}})},
                                      {"tags", Json::object()},
                                      {"properties", Json::object()}})}});
}

Result<HttpResponse> get_datastore(Context& context, const Call& call) {
    const std::string& name = call.param("name");
    if (container_of(call, name).empty()) return no_datastore(name);
    return json_response(200, datastore_view(context, call, name));
}

Result<HttpResponse> list_datastores(Context& context, const Call& call) {
    const std::string is_default = to_lower(call.request.query_value("isDefault").value_or(""));
    Json value = Json::array();
    if (is_default != "false") value.append(datastore_view(context, call, kBlobDatastore));
    if (is_default != "true") value.append(datastore_view(context, call, kArtifactDatastore));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> list_secrets(Context& context, const Call& call) {
    const std::string& name = call.param("name");
    const std::string container = container_of(call, name);
    if (container.empty()) return no_datastore(name);
    std::int64_t hours = 1;
    if (!call.request.body.empty()) {
        LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
        hours = std::clamp<std::int64_t>(body["expireAfterHours"].integer(1), 1, kSecretHoursMax);
    }
    SasOffer offer;
    offer.container = container;
    offer.permissions = call.caller.role >= Role::Contributor ? "racwdl" : "rl";
    offer.expires_at = context.ports.clock.now() + std::chrono::hours(hours);
    return json_response(200, Json::object({{"secretsType", "Sas"}, {"sasToken", context.sas.make(offer)}}));
}

// Jobs link to it, as on Azure. Until there is a studio it says how to see the job otherwise.
Result<HttpResponse> studio(Context& /*context*/, const Call& call) {
    const std::string job = call.request.query_value("job").value_or("");
    const bool plain = is_plain_name(job, limits::kJobNameChars);
    return text_response(
        200, "There is no studio in this version of Lavant yet. In a terminal:\n\n    lavant job show " +
                 (plain ? job : std::string("NAME")) + "\n    lavant job stream " +
                 (plain ? job : std::string("NAME")) + "\n");
}

}  // namespace

void add_workspace_routes(Router& router, Context& context) {
    const std::string ws = kWorkspacePattern;
    const auto add = [&](const char* method, const std::string& pattern, Need need, Answering handler) {
        router.add(method, pattern, answer_now(context, need, std::move(handler)));
    };
    add("GET,HEAD", "/health", Need::Nothing, health);
    add("GET", "/studio", Need::Nothing, studio);
    add("GET", "/metrics", Need::Reader, metrics);
    add("GET", "/metadata/endpoints", Need::Nothing, metadata);
    add("GET", "/msi/token", Need::Nothing, token);
    add("GET", "/discovery", Need::Nothing, discovery);
    add("GET", ws + "/datastores", Need::Reader, list_datastores);
    add("GET", ws + "/datastores/{name}", Need::Reader, get_datastore);
    add("POST", ws + "/datastores/{name}/listSecrets", Need::Reader, list_secrets);
}

}  // namespace lavant::api
