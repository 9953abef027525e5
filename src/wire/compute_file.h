#pragma once
// A compute file on disk, or the flags that say the same, to a checked specification.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/spec/compute.h"

namespace lavant::wire {

// `sets` are "a.b=c" with YAML values, applied before checking. Error::fields has every problem at once.
[[nodiscard]] Result<spec::ComputeSpec> load_compute_file(const std::string& path,
                                                          const std::vector<std::string>& sets);
// The same of a text; messages call it `label`.
[[nodiscard]] Result<spec::ComputeSpec> load_compute_text(std::string_view text, const std::string& label,
                                                          const std::vector<std::string>& sets);
// The same without a file: `root` has what flags said.
[[nodiscard]] Result<spec::ComputeSpec> load_compute(spec::Document root, spec::ComputeText text,
                                                     const std::vector<std::string>& sets);

}  // namespace lavant::wire
