#pragma once
// Files of a datastore, listed and brought to this machine. Several travel at once, each in ranges, so that a
// broken transfer repeats one piece; what is here already is not fetched again.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "cli/datastore.h"
#include "cli/session.h"
#include "cli/storage_list.h"

namespace lavant::cli {

inline constexpr int kFilesAtOnce = 8;  // if nobody says otherwise

struct BlobPlace {
    std::string datastore;
    std::string path;
};
// azureml://…/datastores/{d}/paths/{p}; nothing for any other address.
std::optional<BlobPlace> parse_blob_place(std::string_view uri);

struct BlobListing {
    std::vector<ListedBlob> blobs;
    std::vector<std::string> folders;  // each ends in '/'; none if what they hold is listed too
};
// More than can be kept in mind is an error, never a part of the list.
[[nodiscard]] Outcome<BlobListing> list_blobs(Session& session, const DatastorePlace& place,
                                              const std::string& prefix, bool recursive);

// What lies below a folder, or the one file of that name; without blobs and folders there is nothing.
struct BlobTree {
    DatastorePlace place;
    std::string path;  // without slashes at its ends
    bool is_file = false;
    BlobListing found = {};
};
[[nodiscard]] Outcome<BlobTree> find_tree(Session& session, const DatastorePlace& place,
                                          const std::string& path, bool recursive = true);

struct Fetched {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    std::size_t there = 0;  // already
};
// Everything of the tree to `folder`. Names that would leave the folder are left out with a warning. A file
// that is here is the same one if its checksum says so; where the server has none, if its size and its time
// of change do, which a download sets.
[[nodiscard]] Outcome<Fetched> fetch_tree(Session& session, const Context& context, const BlobTree& tree,
                                          const std::string& folder, int parallel);

// False for names that would lie outside of the folder they are written to.
bool stays_inside_folder(std::string_view relative);
std::string without_slashes(std::string path);  // at its ends
// "; 1 was there already", "" for none.
std::string said_of_those_there(std::size_t count);

}  // namespace lavant::cli
