#pragma once
// Walks a container in the order of names, page by page, reading only the folders a page needs.

#include <sys/stat.h>

#include "adapters/blobs_fs/sidecar.h"
#include "ports/blobs.h"

namespace lavant::blobs {

inline constexpr int kPageMax = 5'000;

// `container` is the open folder. Metadata is read from `sidecars` for the blobs of the page only.
[[nodiscard]] Result<ports::BlobPage> list_blobs(int container, const ports::BlobListing& listing,
                                                 const Sidecars& sidecars);

ports::BlobInfo describe(const std::string& name, const struct stat& status);
// Takes the content type out of what a side file holds.
void add_metadata(ports::BlobInfo& blob, Metadata metadata);

}  // namespace lavant::blobs
