#pragma once
// Moves a folder of files to its final place by renames, so that a repeated call finishes what a crash left.

#include <string>

#include "base/result.h"

namespace lavant::blobs {

// Both paths are below the open folder `container`. Durable when it returns.
[[nodiscard]] Result<void> publish_beneath(int container, const std::string& from, const std::string& to);

}  // namespace lavant::blobs
