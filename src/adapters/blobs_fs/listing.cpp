#include "adapters/blobs_fs/listing.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "adapters/blobs_fs/beneath.h"
#include "adapters/blobs_fs/blob_names.h"
#include "adapters/blobs_fs/facts.h"

namespace lavant::blobs {
namespace {

struct Entry {
    std::string name;  // a folder's ends in '/': so the order of a folder's entries is that of whole names
    bool is_folder() const { return name.back() == '/'; }
};

// What readdir says, or stat where the file system does not say. Links and odd things are neither.
enum class Kind { File, Folder, Other };
Kind kind_of(int folder, const dirent& entry) {
    if (entry.d_type == DT_REG) return Kind::File;
    if (entry.d_type == DT_DIR) return Kind::Folder;
    if (entry.d_type != DT_UNKNOWN) return Kind::Other;
    struct stat status {};
    if (::fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return Kind::Other;
    return S_ISREG(status.st_mode) ? Kind::File : (S_ISDIR(status.st_mode) ? Kind::Folder : Kind::Other);
}

template <class Visit>  // bool visit(name, kind); false ends
Result<void> read_folder(int folder, Visit visit) {
    Fd own = open_beneath(folder, "", O_RDONLY | O_DIRECTORY);
    if (!own) return fail(system_error("list a folder of blobs", errno));
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(own.get()), &::closedir);
    if (!stream) return fail(system_error("list a folder of blobs", errno));
    (void)own.release();
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name == "." || name == "..") continue;
        const Kind kind = kind_of(::dirfd(stream.get()), *entry);
        if (kind != Kind::Other && !visit(name, kind)) break;
    }
    return {};
}

// Whether a blob lies anywhere below: folders can be left over empty, and those are not listed.
bool has_blob(const Fd& folder, std::size_t depth) {
    if (!folder || depth > kSegments) return false;
    bool found = false;
    std::vector<std::string> folders;
    (void)read_folder(folder.get(), [&](std::string_view name, Kind kind) {
        found = kind == Kind::File;
        if (kind == Kind::Folder) folders.emplace_back(name);
        return !found;
    });
    return found || std::ranges::any_of(folders, [&](const std::string& name) {
               return has_blob(open_beneath(folder.get(), name, O_RDONLY | O_DIRECTORY), depth + 1);
           });
}

class Walk {
 public:
    Walk(const ports::BlobListing& listing, const Sidecars& sidecars)
        : listing_(listing),
          sidecars_(sidecars),
          limit_(static_cast<std::size_t>(std::clamp(listing.limit, 1, kPageMax))),
          has_side_files_(sidecars.has_any(listing.container)) {}

    // `path` is "" or ends in '/'. False: the page is full.
    Result<bool> folder(int fd, const std::string& path, std::size_t depth) {
        std::string after;  // the last name that was looked at
        while (true) {
            LAVANT_TRY(const Batch batch, first_entries(fd, path, after));
            for (const Entry& entry : batch.entries) {
                const std::string base = entry.name.substr(
                    path.size(), entry.name.size() - path.size() - (entry.is_folder() ? 1 : 0));
                LAVANT_TRY(const bool goes_on, entry.is_folder() ? visit_folder(fd, base, entry.name, depth)
                                                                 : visit_file(fd, base, entry.name));
                if (!goes_on) return false;
            }
            // Some came to nothing: files that were removed meanwhile, folders without a blob.
            if (batch.is_all) return true;
            after = batch.entries.back().name;
        }
    }
    ports::BlobPage take() { return std::move(page_); }

 private:
    struct Batch {
        std::vector<Entry> entries;  // in order
        bool is_all = true;
    };
    // The first entries of a folder behind `after`: no more than the page has room for, and one to tell that
    // there is more. However large the folder is, no more than these are kept.
    Result<Batch> first_entries(int fd, const std::string& path, const std::string& after) const {
        const std::size_t room = limit_ - (page_.blobs.size() + page_.prefixes.size()) + 1;
        Batch batch;
        std::vector<Entry>& heap = batch.entries;  // the largest name in front
        LAVANT_TRY_VOID(read_folder(fd, [&](std::string_view name, Kind kind) {
            std::string full = path + std::string(name) + (kind == Kind::Folder ? "/" : "");
            if (full <= after || !is_wanted(full)) return true;
            if (heap.size() == room) {
                batch.is_all = false;
                if (full >= heap.front().name) return true;
                std::ranges::pop_heap(heap, {}, &Entry::name);
                heap.pop_back();
            }
            heap.push_back({std::move(full)});
            std::ranges::push_heap(heap, {}, &Entry::name);
            return true;
        }));
        std::ranges::sort_heap(heap, {}, &Entry::name);
        return batch;
    }
    bool is_wanted(const std::string& full) const {
        const bool is_folder = full.back() == '/';
        if (full == std::string(ports::kStagingFolder) + "/") return false;
        if (!full.starts_with(listing_.prefix) && !(is_folder && listing_.prefix.starts_with(full)))
            return false;
        if (listing_.marker.empty() || full > listing_.marker) return true;
        // Behind the marker, unless the marker lies somewhere inside this folder.
        return is_folder && full != listing_.marker && listing_.marker.starts_with(full);
    }
    bool is_common_prefix(const std::string& full) const {
        return !listing_.delimiter.empty() && full.size() > listing_.prefix.size();
    }
    bool is_full(const std::string& last) {
        if (page_.blobs.size() + page_.prefixes.size() < limit_) {
            last_ = last;
            return false;
        }
        page_.next_marker = last_;
        return true;
    }
    Result<bool> visit_file(int fd, const std::string& base, const std::string& full) {
        struct stat status {};
        if (::fstatat(fd, base.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return true;  // removed meanwhile
        if (is_full(full)) return false;
        ports::BlobInfo blob = describe(full, status);
        const Fd file(::openat(fd, base.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (auto kept = kept_with_file(file.get())) {
            add_facts(blob, std::move(*kept));
        } else if (has_side_files_) {
            LAVANT_TRY(auto side_file, sidecars_.read(listing_.container, full));
            add_facts(blob, std::move(side_file));
        }
        page_.blobs.push_back(std::move(blob));
        return true;
    }
    Result<bool> visit_folder(int fd, const std::string& base, const std::string& full, std::size_t depth) {
        const Fd inner = open_beneath(fd, base, O_RDONLY | O_DIRECTORY);
        if (!inner || depth > kSegments) return true;
        if (!is_common_prefix(full)) return folder(inner.get(), full, depth + 1);
        if (!has_blob(inner, depth + 1)) return true;
        if (is_full(full)) return false;
        page_.prefixes.push_back(full);
        return true;
    }

    const ports::BlobListing& listing_;
    const Sidecars& sidecars_;
    const std::size_t limit_;
    const bool has_side_files_;
    std::string last_;
    ports::BlobPage page_;
};

}  // namespace

Result<ports::BlobPage> list_blobs(int container, const ports::BlobListing& listing,
                                   const Sidecars& sidecars) {
    if (!listing.delimiter.empty() && listing.delimiter != "/")
        return fail(ErrorCode::InvalidArgument, "cannot list blobs: the delimiter must be '/' or absent");
    // Begin in the deepest folder that the prefix names.
    const std::size_t slash = listing.prefix.find_last_of('/');
    const std::string start = slash == std::string::npos ? "" : listing.prefix.substr(0, slash);
    if (slash != std::string::npos && !check_blob_name(start)) return ports::BlobPage();
    if (listing.prefix.find('\0') != std::string::npos || ports::is_staged(listing.prefix))
        return ports::BlobPage();
    const Fd folder = open_beneath(container, start, O_RDONLY | O_DIRECTORY);
    if (!folder) return ports::BlobPage();
    Walk walk(listing, sidecars);
    LAVANT_TRY_VOID(walk.folder(folder.get(), start.empty() ? "" : start + "/", 1));
    return walk.take();
}

}  // namespace lavant::blobs
