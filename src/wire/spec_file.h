#pragma once
// A YAML file of any kind as its readers take it: a mapping, and where its relative paths begin.

#include <string>
#include <string_view>

#include "base/result.h"
#include "core/spec/document.h"

namespace lavant::wire {

struct SpecFile {
    spec::Document root = spec::Document::map();
    std::string folder;  // absolute
    std::string label;   // what messages call it; "" if there is no file
};

// `what` for messages: "a data file".
[[nodiscard]] Result<SpecFile> read_spec_file(const std::string& path, const std::string& what);
[[nodiscard]] Result<SpecFile> read_spec_text(std::string_view text, const std::string& label,
                                              const std::string& what);

}  // namespace lavant::wire
