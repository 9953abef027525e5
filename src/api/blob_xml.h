#pragma once
// The XML documents of the Blob protocol that carry more than an error.

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

// The containers of the account.
std::string render_container_list(const std::string& endpoint, const std::string& prefix,
                                  const std::vector<std::string>& containers);

// Block ids are those of the store, base64url without padding.
std::string render_block_list(const ports::BlockList& blocks, bool committed, bool uncommitted);
// Of <BlockList><Latest>id</Latest>…</BlockList>, in order, ids as they are; also Committed and Uncommitted.
[[nodiscard]] Result<std::vector<ports::BlockRef>> parse_block_list(std::string_view xml);

}  // namespace lavant::api
