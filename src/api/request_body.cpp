#include "api/request_body.h"

#include <algorithm>
#include <utility>

#include "core/spec/problems.h"

namespace lavant::api {

using wire::Json;

void refuse_unknown(const Json& object, std::string_view path, std::initializer_list<std::string_view> known,
                    std::vector<FieldProblem>& problems) {
    for (const auto& [key, value] : object.members()) {
        if (std::ranges::find(known, key) != known.end()) continue;
        problems.push_back(
            {std::string(path) + key, "unknown" + spec::suggestion(key, {known.begin(), known.end()}), 0, 0});
    }
}

Result<Json> parse_body(const Call& call, std::initializer_list<std::string_view> known) {
    if (call.request.body.empty()) return Json::object();
    LAVANT_TRY(Json body, wire::parse_json(call.request.body));
    if (!body.is_object())
        return fail(ErrorCode::InvalidArgument,
                    "the body must be a JSON object, but is " + std::string(body.type_name()));
    std::vector<FieldProblem> problems;
    refuse_unknown(body, "", known, problems);
    if (!problems.empty())
        return fail(Error{ErrorCode::InvalidArgument, "the request has unknown fields", std::move(problems)});
    return body;
}

}  // namespace lavant::api
