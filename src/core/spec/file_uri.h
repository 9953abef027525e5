#pragma once
// A file of the machine that a job runs on, as an input may name it.

#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace lavant::spec {

// "file:///x", "file:/x" or an absolute path: the path. The server checks it and the agent uses it: both must
// read the same.
inline std::optional<std::string> parse_file_uri(std::string_view uri) {
    if (uri.starts_with("file://")) return percent_decode(uri.substr(7));
    if (uri.starts_with("file:/")) return percent_decode(uri.substr(5));
    if (uri.starts_with('/')) return std::string(uri);
    return std::nullopt;
}

}  // namespace lavant::spec
