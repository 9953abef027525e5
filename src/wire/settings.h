#pragma once
// `--set a.b=c` on a document, before it is checked.

#include <string>

#include "base/result.h"
#include "core/spec/document.h"

namespace lavant::wire {

// The value is YAML, but for tags, properties and environment variables, whose names and values are the
// user's own text.
[[nodiscard]] Result<void> apply_setting(spec::Document& root, const std::string& setting);

}  // namespace lavant::wire
