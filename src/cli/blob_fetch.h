#pragma once
// Files of a datastore to this machine. They come in ranges, so that a broken transfer repeats one piece.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/console.h"
#include "cli/datastore.h"
#include "cli/session.h"

namespace lavant::cli {

struct BlobPlace {
    std::string datastore;
    std::string path;
};
// azureml://…/datastores/{d}/paths/{p}; nothing for any other address.
std::optional<BlobPlace> parse_blob_place(std::string_view uri);

struct BlobTree {
    DatastorePlace place;
    std::string prefix;  // a folder with a slash at the end, or one blob
};
struct Fetched {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
};
// Everything below the prefix to `folder`. Names that would leave the folder are left out with a warning.
[[nodiscard]] Outcome<Fetched> fetch_tree(Session& session, const Console& console, const BlobTree& tree,
                                          const std::string& folder);

// False for names that would lie outside of the folder they are written to.
bool stays_inside_folder(std::string_view relative);

}  // namespace lavant::cli
