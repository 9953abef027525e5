#pragma once
// Files of datastores: ls, upload, download. Several files travel at once, and what is there already with the
// same size and checksum is not sent again, so that a broken run is carried on by repeating it.

#include <string>

#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

struct StoreListing {
    std::string datastore;
    std::string path;        // "" for all; a folder, with or without a slash at the end, or one file
    bool recursive = false;  // also what is in its folders
};
[[nodiscard]] Outcome<Exit> list_store_files(Session& session, const Console& console,
                                             const StoreListing& listing, const Output& output);

struct StoreTransfer {
    std::string datastore;
    std::string local;  // a file or a folder
    std::string path;   // in the datastore
    int parallel = 8;
};
// A file becomes `path` (its own name if that is empty; below it if it ends in a slash). What a folder holds
// lies below `path` afterwards (below the folder's own name if that is empty).
[[nodiscard]] Outcome<Exit> upload_to_store(Session& session, Context& context,
                                            const StoreTransfer& transfer);
// What lies below the folder `path`, or the file `path`, to the folder `local`.
[[nodiscard]] Outcome<Exit> download_from_store(Session& session, Context& context,
                                                const StoreTransfer& transfer);

}  // namespace lavant::cli
