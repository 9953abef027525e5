#pragma once
// The body of a request to our own routes: an object with known members only, so that a slip of the pen is
// not taken for a wish to have the default.

#include <initializer_list>
#include <string_view>

#include "api/context.h"
#include "base/result.h"
#include "wire/json.h"

namespace lavant::api {

// An empty body is an empty object.
[[nodiscard]] Result<wire::Json> parse_body(const Call& call, std::initializer_list<std::string_view> known);

// The members of `object` that are not known, with the nearest that is.
void refuse_unknown(const wire::Json& object, std::string_view path,
                    std::initializer_list<std::string_view> known, std::vector<FieldProblem>& problems);

}  // namespace lavant::api
