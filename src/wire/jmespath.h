#pragma once
// JMESPath, the language of `--query`: the whole specification (jmespath.org), over wire::Json.
//
// A query is read once and may be evaluated many times. Reading finds what needs no document: grammar,
// unknown functions, wrong numbers of arguments. Both fail with a sentence that names the column, counted
// from 1.

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "wire/json.h"

namespace lavant::wire {

namespace jmespath {
struct Node;
}

class Query {
 public:
    explicit Query(std::shared_ptr<const jmespath::Node> root) : root_(std::move(root)) {}
    const jmespath::Node& root() const { return *root_; }

 private:
    std::shared_ptr<const jmespath::Node> root_;
};

inline constexpr std::size_t kQueryBytes = 4U << 10;
inline constexpr int kQueryDepth = 64;
inline constexpr std::size_t kQuerySteps = 2'000'000;  // expressions visited and values copied

[[nodiscard]] Result<Query> parse_query(std::string_view text);
[[nodiscard]] Result<Json> evaluate(const Query& query, const Json& document);

}  // namespace lavant::wire
