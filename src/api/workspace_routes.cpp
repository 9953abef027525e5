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

Result<HttpResponse> discovery(Context& context, const Call& call) {
    const std::string origin = origin_of(context, call.request);
    return json_response(200, Json::object({{"api", origin}, {"history", origin}}));
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
    add("GET", "/metrics", Need::ServerReader, metrics);
    add("GET", "/metadata/endpoints", Need::Nothing, metadata);
    add("GET", "/discovery", Need::Nothing, discovery);
}

}  // namespace lavant::api
