#pragma once
// Outputs that a job gave a name become data assets and models in the transaction that makes it Completed.

#include <string>

#include "base/result.h"
#include "core/model/record.h"
#include "ports/store.h"

namespace lavant::api {

// Adds to `writes` what the outputs of the launch become. Called on the control loop's thread, the only one
// that writes: what the reader and `writes` show is what is there.
[[nodiscard]] Result<void> register_outputs(ports::Reader& reader, const JobHead& job,
                                            const std::string& launch, WriteBatch& writes);

// "models" or "data", by an output's type.
const char* asset_kind_of_output(std::string_view type);

}  // namespace lavant::api
