#pragma once
// A blob that is being put: its file is opened and described, and not yet in its place.

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "adapters/blobs_fs/fs_blob_store.h"

namespace lavant::adapters {

// A file of ours that goes unless it finds its place.
class OwnFile {
 public:
    OwnFile() = default;
    explicit OwnFile(std::string path) : path_(std::move(path)) {}
    OwnFile(OwnFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    OwnFile& operator=(OwnFile&& other) noexcept {
        std::swap(path_, other.path_);
        return *this;
    }
    ~OwnFile() {
        if (!path_.empty()) ::unlink(path_.c_str());
    }
    void keep() { path_.clear(); }

 private:
    std::string path_;
};

struct FsBlobStore::Pending {
    ports::BlobPut put;
    blobs::Container container;
    Fd file;
    struct stat status {};
    std::string source;    // put.source, or a file of its content that was made here
    Fd copy_folder;        // open while there is a copy in it
    OwnFile own;           // that file
    blobs::Metadata kept;  // see to_kept()
    bool kept_with_file = false;
    bool in_order = false;  // see syncs_in_order()
    blobs::UnsyncedFolders unsynced;
    ports::BlobInfo info;

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
