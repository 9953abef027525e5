#pragma once
// YAML text to a document, with the scalar rules of Python's safe loader (YAML 1.1: `yes` is a boolean, 0777
// is octal, 1e3 is a string), because that is how Azure's clients read the same files. Bounded: bytes, depth,
// and nodes after aliases are expanded. Refuses repeated keys, tags and several documents in one file.

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/spec/document.h"

namespace lavant::wire {

// `file_name` is only for messages. An empty file is an error.
[[nodiscard]] Result<spec::Document> parse_yaml(std::string_view text, const std::string& file_name);

// The type a plain (unquoted) scalar has by those rules.
spec::Document plain_scalar(std::string text, spec::Position at);

}  // namespace lavant::wire
