#pragma once
// A job file of any kind on disk to a checked specification: reads it, applies --set, follows the files it
// names.

#include <string>
#include <vector>

#include "base/result.h"
#include "core/spec/component.h"
#include "core/spec/job.h"

namespace lavant::wire {

// `sets` are "a.b=c" with YAML values, applied before checking. Error::fields has every problem at once.
[[nodiscard]] Result<spec::JobSpec> load_job_file(const std::string& path,
                                                  const std::vector<std::string>& sets);

// The same of a text; messages call it `label`, relative paths start from `folder`.
[[nodiscard]] Result<spec::JobSpec> load_job_text(std::string_view text, const std::string& label,
                                                  const std::string& folder,
                                                  const std::vector<std::string>& sets);

// The same of a text that came from somebody else: a path in it that would be read from this machine's disk
// is refused.
[[nodiscard]] Result<spec::JobSpec> load_foreign_job_text(std::string_view text, const std::string& label,
                                                          const std::vector<std::string>& sets);

// A component file of any kind, likewise.
[[nodiscard]] Result<spec::ComponentSpec> load_component_file(const std::string& path,
                                                              const std::vector<std::string>& sets);
[[nodiscard]] Result<spec::ComponentSpec> load_component_text(std::string_view text, const std::string& label,
                                                              const std::string& folder,
                                                              const std::vector<std::string>& sets);

// Reads real files; `folder` is the job file's.
spec::ComponentLoader disk_loader(std::string folder);

// What Azure would refuse or ignore in a job that is fine here, for `job validate --target azure`.
std::vector<spec::Finding> azure_findings(const spec::JobSpec& job);

}  // namespace lavant::wire
