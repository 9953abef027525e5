#pragma once
// Which names a container and a blob may have, and where a blob's side files lie.

#include <string>
#include <string_view>

#include "base/limits.h"
#include "base/result.h"

namespace lavant::blobs {

inline constexpr std::size_t kContainerChars = 63;
inline constexpr std::size_t kNameBytes = 2'048;
inline constexpr std::size_t kSegmentBytes = limits::kBlobNamePartBytes;
inline constexpr std::size_t kSegments = 64;
inline constexpr std::string_view kBlocksSuffix = ".blocks";
inline constexpr std::size_t kBlockIdBytes = 100;  // base64 of at most 64 bytes, as on Azure, and some

[[nodiscard]] Result<void> check_container_name(std::string_view container);
[[nodiscard]] Result<void> check_blob_name(std::string_view name);
[[nodiscard]] Result<void> check_block_id(std::string_view id);

// The path of a blob's side file below a tree of its own. Folders get a suffix that files have not, so that
// the blobs "a" and "a.meta/b" do not meet. side_path("c", "x/y", ".meta") is "c/x.d/y.meta".
std::string side_path(const std::string& container, std::string_view name, std::string_view suffix);

}  // namespace lavant::blobs
