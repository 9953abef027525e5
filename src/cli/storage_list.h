#pragma once
// Reads the XML with which blob storage lists a container: only the three elements that are needed, no entity
// beyond the five of XML.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lavant::cli {

struct ListedBlob {
    std::string name;
    std::uint64_t bytes = 0;
    bool operator==(const ListedBlob&) const = default;
};

struct BlobPage {
    std::vector<ListedBlob> blobs;
    std::string next_marker;
};

BlobPage parse_blob_list(std::string_view xml);  // What is not understood is left out.

}  // namespace lavant::cli
