#pragma once
// Reads the XML with which blob storage lists a container: only the elements that are needed, no entity
// beyond the five of XML.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lavant::cli {

struct ListedBlob {
    std::string name;
    std::uint64_t bytes = 0;
    std::string modified = {};  // Fri, 02 Jan 2026 03:04:05 GMT
    std::string md5 = {};       // base64; "" where nobody made one
    bool operator==(const ListedBlob&) const = default;
};

struct BlobPage {
    std::vector<ListedBlob> blobs;
    std::vector<std::string> folders = {};  // of a listing with a delimiter; each ends in '/'
    std::string next_marker;
};

BlobPage parse_blob_list(std::string_view xml);  // What is not understood is left out.
// The <Message> with which blob storage refuses; "" if there is none.
std::string storage_message(std::string_view xml);

}  // namespace lavant::cli
