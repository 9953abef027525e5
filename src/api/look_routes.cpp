#include "api/look_routes.h"

#include <utility>

#include "api/answers.h"
#include "api/job_routes.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

// The parts that Azure looks at are not here: there is nothing to be wrong with them.
Result<HttpResponse> diagnose(Context& /*context*/, const Call& /*call*/) {
    Json value = Json::object();
    for (const char* part :
         {"userDefinedRouteResults", "networkSecurityRuleResults", "resourceLockResults",
          "dnsResolutionResults", "storageAccountResults", "keyVaultResults", "containerRegistryResults",
          "applicationInsightsResults", "requiredResourceProvidersResults", "otherResults"})
        value.set(part, Json::array());
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> validate(Context& context, const Call& call) {
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    const Json& resources = body.get("properties.template.resources");
    if (!resources.is_array())
        return fail(ErrorCode::InvalidArgument, "properties.template.resources must be a list");
    const std::string group =
        "/subscriptions/" + call.param("subscription") + "/resourceGroups/" + call.param("group");
    Json properties = Json::object({{"provisioningState", "Succeeded"},
                                    {"mode", body.get("properties.mode").string("Incremental")},
                                    {"parameters", Json::object()},
                                    {"timestamp", to_rfc3339(context.ports.clock.now())},
                                    {"duration", "PT0S"},
                                    {"dependencies", Json::array()},
                                    {"providers", Json::array()},
                                    {"validatedResources", Json::array()}});
    const std::string& name = call.param("deployment");
    return json_response(200,
                         Json::object({{"id", group + "/providers/Microsoft.Resources/deployments/" + name},
                                       {"name", name},
                                       {"type", "Microsoft.Resources/deployments"},
                                       {"properties", std::move(properties)}}));
}

}  // namespace

void add_look_routes(Router& router, Context& context) {
    router.add("POST", std::string(kWorkspacePattern) + "/diagnose",
               answer_now(context, Need::Reader, diagnose));
    router.add("POST",
               "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Resources/"
               "deployments/{deployment}/validate",
               answer_now(context, Need::SignedIn, validate));
}

}  // namespace lavant::api
