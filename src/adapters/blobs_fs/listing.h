#pragma once
// Walks a container in the order of names, page by page, reading only the folders a page needs.

#include "adapters/blobs_fs/sidecar.h"
#include "ports/blobs.h"

namespace lavant::blobs {

inline constexpr int kPageMax = 5'000;

// `container` is the open folder. Metadata is read from `sidecars` for the blobs of the page only.
[[nodiscard]] Result<ports::BlobPage> list_blobs(int container, const ports::BlobListing& listing,
                                                 const Sidecars& sidecars);

}  // namespace lavant::blobs
