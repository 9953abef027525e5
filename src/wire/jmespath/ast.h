#pragma once
// What a query is made of. Two nodes may stand for several spellings: `a.b`, `a | b` and `a[0]` are all a
// Chain.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "wire/json.h"

namespace lavant::wire::jmespath {

struct Function;

enum class Kind {
    Current,           // @, and the left side that is not written: [0], [*], *
    Field,             // name
    Literal,           // value
    Index,             // begin
    Slice,             // begin, end, step
    Chain,             // the second of the first
    ListProjection,    // the second of each item of the first
    ObjectProjection,  // the second of each member's value of the first
    FilterProjection,  // the second of each item of the first for which the third holds
    Flatten,
    Or,
    And,
    Not,
    Compare,     // name is the operator
    SelectList,  // [a, b]
    SelectHash,  // {a: b}; keys go with the children
    Call,        // function
    Reference,   // &a, an argument only
};

struct Node {
    Kind kind = Kind::Current;
    std::size_t column = 0;
    int depth = 1;
    std::string name;
    Json value;
    std::optional<std::int64_t> begin, end, step;
    std::vector<std::string> keys;
    std::vector<Node> children;
    const Function* function = nullptr;
};

inline tl::unexpected<Error> fail_at(std::size_t column, const std::string& what) {
    return fail(ErrorCode::InvalidArgument, "the query, column " + std::to_string(column) + ": " + what);
}

}  // namespace lavant::wire::jmespath
