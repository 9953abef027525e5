#pragma once
// Blocks that were uploaded and never committed to a blob.

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace lavant::blobs {

// Removes the blocks of every blob that has got none since `before`. `folder` is the tree of all blocks,
// `temporary` a folder of the same file system. Returns of how many blobs.
[[nodiscard]] Result<std::size_t> drop_old_blocks(const std::string& folder, const std::string& temporary,
                                                  Instant before);

}  // namespace lavant::blobs
