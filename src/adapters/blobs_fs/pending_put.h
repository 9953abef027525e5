#pragma once
// A blob that is being put: its file is opened and described, and not yet in its place.

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "adapters/blobs_fs/fs_blob_store.h"

namespace lavant::adapters {

struct FsBlobStore::Pending {
    ports::BlobPut put;
    blobs::Container container;
    Fd file;
    struct stat status {};
    std::string source;     // put.source, or the copy of it in the container's own staging folder
    Fd copy_folder;         // open while there is a copy
    std::string md5;        // to be kept in a side file, as the file has no place for it
    bool in_order = false;  // see syncs_in_order()
    blobs::UnsyncedFolders unsynced;
    ports::BlobInfo info;

    Pending() = default;
    Pending(Pending&&) = default;
    Pending& operator=(Pending&&) = default;
    ~Pending() {
        if (copy_folder) ::unlink(source.c_str());  // gone already where it was put into its place
    }
    Result<void> sync_folders() { return in_order ? unsynced.sync_last() : unsynced.sync(); }
};

struct FsBlobStore::Waiting {
    ports::BlobPut put;
    std::function<void(Result<ports::BlobInfo>)> done;
    Result<Pending> pending = fail(ErrorCode::Internal, "not begun");
};

struct FsBlobStore::Gathering {
    std::mutex mutex;  // guards what follows but the thread
    std::condition_variable come;
    std::vector<Waiting> waiting;
    std::size_t expected = 1;  // as many as were in the last round
    bool ends = false;
    std::thread thread;
};

}  // namespace lavant::adapters
