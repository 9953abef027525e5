#include "api/registry_routes.h"

#include <utility>

#include "api/answers.h"
#include "api/curated.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

Result<void> check_registry(const Call& call) {
    if (equals_ignoring_case(call.param("registry"), kCuratedRegistry)) return {};
    return fail(ErrorCode::NotFound, "registry '" + call.param("registry") + "' not found; there is " +
                                         std::string(kCuratedRegistry) + " alone");
}

Result<const CuratedEnvironment*> load_environment(const Call& call) {
    LAVANT_TRY_VOID(check_registry(call));
    if (const CuratedEnvironment* found = find_curated(call.param("name"))) return found;
    return fail(ErrorCode::NotFound, "environment '" + call.param("name") + "' not found in registry " +
                                         std::string(kCuratedRegistry));
}

// Where clients find the registry: here. The two names are those of nobody; they come back in paths.
Result<HttpResponse> discover(Context& context, const Call& call) {
    LAVANT_TRY_VOID(check_registry(call));
    const std::string origin = origin_of(context, call.request);
    return json_response(200, Json::object({{"registryName", kCuratedRegistry},
                                            {"primaryRegion", "local"},
                                            {"regions", Json::array({"local"})},
                                            {"subscriptionId", kCuratedRegistry},
                                            {"resourceGroup", kCuratedRegistry},
                                            {"primaryRegionResourceProviderUri", origin + "/"}}));
}

Result<HttpResponse> list_environments(Context& /*context*/, const Call& call) {
    LAVANT_TRY_VOID(check_registry(call));
    Json value = Json::array();
    for (const CuratedEnvironment& one : curated_environments()) value.append(curated_container_view(one));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> get_environment(Context& /*context*/, const Call& call) {
    LAVANT_TRY(const CuratedEnvironment* found, load_environment(call));
    return json_response(200, curated_container_view(*found));
}

Result<HttpResponse> list_versions(Context& /*context*/, const Call& call) {
    LAVANT_TRY(const CuratedEnvironment* found, load_environment(call));
    Json value = Json::array();
    value.append(curated_version_view(*found, std::to_string(found->latest)));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> get_version(Context& /*context*/, const Call& call) {
    LAVANT_TRY(const CuratedEnvironment* found, load_environment(call));
    const std::string& wanted = call.param("version");
    const auto version = curated_version(*found, wanted.empty() ? call.param("label") : wanted);
    if (!version)
        return fail(ErrorCode::NotFound, "environment '" + call.param("name") + "' not found in version '" +
                                             wanted + call.param("label") + "'; the newest is " +
                                             std::to_string(found->latest));
    return json_response(200, curated_version_view(*found, *version));
}

}  // namespace

void add_registry_routes(Router& router, Context& context) {
    const auto add = [&](const std::string& path, Result<HttpResponse> (*handler)(Context&, const Call&)) {
        router.add("GET", path, answer_now(context, Need::SignedIn, handler));
    };
    add("/registrymanagement/v1.0/registries/{registry}/discovery", discover);
    for (const std::string start : {"", "/mferp/managementfrontend"}) {
        const std::string all = start +
                                "/subscriptions/{subscription}/resourceGroups/{group}/providers/"
                                "Microsoft.MachineLearningServices/registries/{registry}/environments";
        add(all, list_environments);
        add(all + "/{name}", get_environment);
        add(all + "/{name}/versions", list_versions);
        add(all + "/{name}/versions/{version}", get_version);
        add(all + "/{name}/labels/{label}", get_version);
    }
}

}  // namespace lavant::api
