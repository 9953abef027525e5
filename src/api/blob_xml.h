#pragma once
// The two XML documents of the Blob protocol that carry more than an error.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/blobs.h"

namespace lavant::api {

struct ListView {
    std::string endpoint;  // "https://host/storage/acct/"
    bool with_metadata = false;
};
std::string render_blob_list(const ports::BlobListing& listing, const ports::BlobPage& page,
                             const ListView& view);

// Block ids of <BlockList><Latest>id</Latest>…</BlockList>, in order; also Committed and Uncommitted.
[[nodiscard]] Result<std::vector<std::string>> parse_block_list(std::string_view xml);

}  // namespace lavant::api
