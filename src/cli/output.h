#pragma once
// How a command's result is printed: -o and --query, the same for every command.

#include <functional>
#include <optional>
#include <string>

#include "cli/console.h"
#include "wire/jmespath.h"
#include "wire/json.h"

namespace lavant::cli {

enum class Format { Table, Json, Jsonc, Yaml, Tsv, None };

struct Output {
    Format format = Format::Table;
    std::optional<wire::Query> query;
};

// `as_table` makes the text for people; empty: columns of what there is. It is not called for other formats,
// nor for the answer of a query.
[[nodiscard]] Outcome<void> print(const wire::Json& document, const Output& output, const Console& console,
                                  const std::function<std::string()>& as_table);

}  // namespace lavant::cli
