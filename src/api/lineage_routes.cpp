#include "api/lineage_routes.h"

#include <utility>

#include "api/answers.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

// ?job=NAME, or ?kind=data&name=NAME[&version=1].
Result<ports::HttpResponse> show(Context& context, const Call& call) {
    ports::LineageQuery query;
    query.workspace = call.workspace;
    query.job = call.request.query_value("job").value_or("");
    query.kind = call.request.query_value("kind").value_or("");
    query.name = call.request.query_value("name").value_or("");
    query.version = call.request.query_value("version").value_or("");
    if (query.job.empty() && (query.kind.empty() || query.name.empty()))
        return fail(ErrorCode::InvalidArgument,
                    "say of what: ?job=NAME, or ?kind=data&name=NAME&version=VERSION");
    LAVANT_TRY(const auto edges, context.ports.reader.list_lineage(query));
    Json value = Json::array();
    for (const LineageEdge& edge : edges)
        value.append(Json::object({{"job", edge.job_name},
                                   {"role", edge.role == LineageRole::Input ? "input" : "output"},
                                   {"port", edge.port},
                                   {"kind", edge.kind},
                                   {"name", edge.name},
                                   {"version", edge.version}}));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

}  // namespace

void add_lineage_routes(Router& router, Context& context) {
    router.add("GET", "/lavant/v1/lineage", answer_now(context, Need::Reader, show));
}

}  // namespace lavant::api
