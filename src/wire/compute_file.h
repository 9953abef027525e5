#pragma once
// A compute file on disk, or the flags that say the same, to a checked specification.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/spec/compute.h"

namespace lavant::wire {

// A file, or a text that messages call `label`, as it is: a mapping.
[[nodiscard]] Result<spec::Document> read_compute_file(const std::string& path);
[[nodiscard]] Result<spec::Document> read_compute_text(std::string_view text, const std::string& label);

// `sets` are "a.b=c" with YAML values, applied before checking. Error::fields has every problem at once.
[[nodiscard]] Result<spec::ComputeSpec> load_compute_file(const std::string& path,
                                                          const std::vector<std::string>& sets);
// The same of a text; messages call it `label`.
[[nodiscard]] Result<spec::ComputeSpec> load_compute_text(std::string_view text, const std::string& label,
                                                          const std::vector<std::string>& sets);
// The same of a document to which flags may have been added.
[[nodiscard]] Result<spec::ComputeSpec> load_compute(spec::Document root, spec::ComputeText text,
                                                     const std::vector<std::string>& sets);

}  // namespace lavant::wire
