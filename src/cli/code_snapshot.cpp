#include "cli/code_snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/ignore_rules.h"
#include "cli/unicode_lower.h"

namespace lavant::cli {
namespace {

constexpr std::size_t kIgnoreFileBytesMax = 1U << 20;
constexpr std::string_view kComponentRules = "\n__pycache__\n";
constexpr const char* kMergedName =
    "code_with_additional_includes";  // azure-ai-ml's, part of the blobs' names
constexpr std::size_t kReadBytes = 256U << 10;

Result<std::string> resolve(const std::string& path) {
    std::unique_ptr<char, decltype(&::free)> found(::realpath(path.c_str(), nullptr), &::free);
    if (!found) return fail(system_error("resolve '" + path + "'", errno));
    return std::string(found.get());
}

std::string join(const std::string& folder, const std::string& name) {
    if (folder.empty()) return name;
    return folder.back() == '/' ? folder + name : folder + "/" + name;
}

// `to` as seen from the folder `from`; both absolute.
std::string relative_path(const std::string& to, const std::string& from) {
    const auto parts = [](const std::string& path) {
        std::vector<std::string_view> all = split(path, '/');
        all.erase(std::remove(all.begin(), all.end(), std::string_view{}), all.end());
        return all;
    };
    const auto target = parts(to);
    const auto base = parts(from);
    std::size_t common = 0;
    while (common < target.size() && common < base.size() && target[common] == base[common]) ++common;
    std::string out;
    for (std::size_t i = common; i < base.size(); ++i) out += out.empty() ? ".." : "/..";
    for (std::size_t i = common; i < target.size(); ++i) {
        if (!out.empty()) out += '/';
        out += target[i];
    }
    return out.empty() ? "." : out;
}

// The rules of a folder, and the folder their paths are relative to.
struct Ignore {
    IgnoreRules rules;
    std::string base;
    bool used = true;  // false: nothing can be excluded

    std::string remedy(const char* other) const {
        return used ? std::string("; ") + other + " or exclude it in .amlignore" : std::string("; ") + other;
    }
    bool excludes(const std::string& absolute) const {
        return !rules.empty() && rules.excludes(relative_path(absolute, base));
    }
};

// `more`: rules that hold whatever the file says.
Result<Ignore> load_ignore(const std::string& folder, std::string_view more = {}) {
    for (const char* name : {".amlignore", ".gitignore"}) {
        const std::string path = join(folder, name);
        struct ::stat about {};
        if (::stat(path.c_str(), &about) != 0) continue;
        LAVANT_TRY(const std::string resolved, resolve(path));
        LAVANT_TRY(const std::string text, read_file(resolved, kIgnoreFileBytesMax));
        auto rules = IgnoreRules::parse(text + std::string(more));
        if (!rules) return fail(in("cannot use '" + path + "'")(rules.error()));
        return Ignore{std::move(*rules), parent_of(resolved)};
    }
    if (more.empty()) return Ignore{};
    LAVANT_TRY(IgnoreRules rules, IgnoreRules::parse(more));
    return Ignore{std::move(rules), folder};
}

// Names in the order the directory gives them: where two names differ only in case, the SDK's hash depends on
// it.
Result<std::vector<std::string>> names_in(const std::string& folder) {
    std::unique_ptr<::DIR, int (*)(::DIR*)> open(::opendir(folder.c_str()), &::closedir);
    if (!open) return fail(system_error("read folder '" + folder + "'", errno));
    std::vector<std::string> names;
    errno = 0;
    while (const ::dirent* entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
    }
    if (errno != 0) return fail(system_error("read folder '" + folder + "'", errno));
    return names;
}

class Walk {
 public:
    explicit Walk(const Ignore& ignore) : ignore_(ignore) {}

    // `folder` is where it is reached, `path` its name inside the snapshot ("" for the root).
    Result<void> visit(const std::string& folder, const std::string& path, int depth) {
        if (depth > kSnapshotDepthMax) {
            return fail(ErrorCode::InvalidArgument,
                        fmt::format("folder '{}' is nested more than {} deep; move it out of the code folder",
                                    folder, kSnapshotDepthMax));
        }
        struct ::stat about {};
        if (::stat(folder.c_str(), &about) != 0)
            return fail(system_error("read folder '" + folder + "'", errno));
        const std::pair<dev_t, ino_t> self{about.st_dev, about.st_ino};
        if (std::find(above_.begin(), above_.end(), self) != above_.end()) {
            return fail(ErrorCode::InvalidArgument,
                        "link '" + path +
                            "' leads back to a folder above itself; remove it or move it out of the folder");
        }
        above_.push_back(self);
        LAVANT_TRY(const std::string resolved, resolve(folder));
        LAVANT_TRY(const auto names, names_in(folder));
        std::vector<std::string> folders;
        for (const std::string& name : names) {
            const std::string absolute = join(resolved, name);
            bool exists = ::lstat(absolute.c_str(), &about) == 0;
            const bool is_link = exists && S_ISLNK(about.st_mode);
            if (is_link) exists = ::stat(absolute.c_str(), &about) == 0;
            if (exists && S_ISDIR(about.st_mode)) {
                folders.push_back(name);
                continue;
            }
            if (ignore_.excludes(absolute)) continue;
            const std::string inside = join(path, name);
            if (!exists) {
                return fail(ErrorCode::InvalidArgument,
                            "'" + inside + "' leads nowhere" + ignore_.remedy("remove the link"));
            }
            std::string source = absolute;
            if (is_link) {
                LAVANT_TRY(source, resolve(absolute));
            }
            LAVANT_TRY_VOID(add_file(std::move(source), inside, about));
        }
        for (const std::string& name : folders) {
            LAVANT_TRY_VOID(visit(join(folder, name), join(path, name), depth + 1));
        }
        above_.pop_back();
        return {};
    }

    std::vector<SnapshotFile> files;
    std::uint64_t bytes = 0;

 private:
    Result<void> add_file(std::string source, const std::string& path, const struct ::stat& about) {
        if (!S_ISREG(about.st_mode)) {
            return fail(ErrorCode::InvalidArgument,
                        "'" + path + "' is neither a file nor a folder" + ignore_.remedy("remove it"));
        }
        if (files.size() >= kSnapshotFilesMax) {
            return fail(
                ErrorCode::InvalidArgument,
                fmt::format("the folder has more than {} files; {}", kSnapshotFilesMax,
                            ignore_.used ? "exclude some in .amlignore" : "send its parts one by one"));
        }
        files.push_back({std::move(source), path, static_cast<std::uint64_t>(about.st_size)});
        bytes += files.back().bytes;
        return {};
    }

    const Ignore& ignore_;
    std::vector<std::pair<dev_t, ino_t>> above_;
};

// The rules of a folder and of those above it.
struct Rules {
    const Ignore* own = nullptr;
    const Rules* above = nullptr;

    bool excludes(const std::string& absolute) const {
        return (own != nullptr && own->excludes(absolute)) || (above != nullptr && above->excludes(absolute));
    }
};

// Puts files of several places under one folder, as azure-ai-ml copies them together.
class Gathering {
 public:
    // `source` is absolute. A link in it must not lead out of `within`.
    Result<void> add(const std::string& source, const std::string& path, const Rules& rules,
                     const std::string& within) {
        if (rules.excludes(source)) return {};
        struct ::stat about {};
        const bool is_link = ::lstat(source.c_str(), &about) == 0 && S_ISLNK(about.st_mode);
        if (::stat(source.c_str(), &about) != 0)
            return refuse("'" + path + "' leads nowhere; remove the link or exclude it in .amlignore");
        std::string real = source;
        if (is_link) {
            LAVANT_TRY(real, resolve(source));
            if (real != within && !real.starts_with(within == "/" ? within : within + "/"))
                return refuse("link '" + path + "' leads out of '" + within + "'; include what it leads to");
        }
        if (S_ISDIR(about.st_mode))
            return add_folder(real, path, rules, within, {about.st_dev, about.st_ino});
        if (!S_ISREG(about.st_mode))
            return refuse("'" + path +
                          "' is neither a file nor a folder; remove it or exclude it in .amlignore");
        files[path] = {real, path, static_cast<std::uint64_t>(about.st_size)};
        if (files.size() <= kSnapshotFilesMax) return {};
        return refuse(
            fmt::format("there are more than {} files; exclude some in .amlignore", kSnapshotFilesMax));
    }

    std::map<std::string, SnapshotFile> files;  // by path: a later one replaces an earlier one

 private:
    using Identity = std::pair<dev_t, ino_t>;

    static tl::unexpected<Error> refuse(std::string message) {
        return fail(ErrorCode::InvalidArgument, std::move(message));
    }
    Result<void> add_folder(const std::string& folder, const std::string& path, const Rules& rules,
                            const std::string& within, const Identity& self) {
        if (above_.size() > kSnapshotDepthMax ||
            std::find(above_.begin(), above_.end(), self) != above_.end())
            return refuse("folder '" + path + "' is nested too deep, or a link leads back to one above it");
        above_.push_back(self);
        LAVANT_TRY(Ignore own, load_ignore(folder, kComponentRules));
        own.base = folder;
        LAVANT_TRY(const auto names, names_in(folder));
        for (const std::string& name : names)
            LAVANT_TRY_VOID(add(join(folder, name), join(path, name), Rules{&own, &rules}, within));
        above_.pop_back();
        return {};
    }

    std::vector<Identity> above_;
};

// The include under its own name, beside what is there already.
Result<void> add_include(const std::string& include, const std::string& code_folder, Ignore common,
                         Gathering& gathering) {
    LAVANT_TRY(const std::string source, resolve(include));
    const std::string name = base_name_of(source);
    if (source == "/")
        return fail(ErrorCode::InvalidArgument, "cannot include '/'; name the folders that are needed");
    struct ::stat about {};
    if (!code_folder.empty() && ::lstat(join(code_folder, name).c_str(), &about) == 0)
        return fail(ErrorCode::InvalidArgument,
                    fmt::format("cannot include '{}': the code folder has '{}' already", include, name));
    common.base = parent_of(source);
    return gathering.add(source, name, Rules{&common, nullptr}, source);
}

void sort_as_sdk(std::vector<SnapshotFile>& files) {
    std::vector<std::pair<std::u32string, std::size_t>> keys;
    keys.reserve(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) keys.emplace_back(lower(to_code_points(files[i].path)), i);
    std::stable_sort(keys.begin(), keys.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<SnapshotFile> sorted;
    sorted.reserve(files.size());
    for (const auto& [key, index] : keys) sorted.push_back(std::move(files[index]));
    files = std::move(sorted);
}

// Hands out text pieces and whole files, one chunk at a time.
class ChunkSource {
 public:
    struct Piece {
        std::string text;
        std::string file;  // read instead of text, if set
    };
    explicit ChunkSource(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

    std::optional<std::string_view> next() {
        while (at_ < pieces_.size() && !error_) {
            if (!pieces_[at_].file.empty()) {
                if (const auto chunk = read_more()) return chunk;
                continue;
            }
            return pieces_[at_++].text;
        }
        return std::nullopt;
    }
    const std::optional<Error>& error() const { return error_; }

 private:
    std::optional<std::string_view> read_more() {
        const std::string& path = pieces_[at_].file;
        if (!open_) {
            auto opened = open_file(path, O_RDONLY | O_CLOEXEC);
            if (!opened) {
                error_ = opened.error();
                return std::nullopt;
            }
            open_ = std::move(*opened);
            buffer_.resize(kReadBytes);
        }
        const ssize_t got = ::read(open_.get(), buffer_.data(), buffer_.size());
        if (got > 0) return std::string_view(buffer_.data(), static_cast<std::size_t>(got));
        if (got < 0 && errno != EINTR) error_ = system_error("read '" + path + "'", errno);
        if (got == 0) {
            open_.reset();
            ++at_;
        }
        return std::nullopt;
    }

    std::vector<Piece> pieces_;
    std::size_t at_ = 0;
    Fd open_;
    std::string buffer_;
    std::optional<Error> error_;
};

Result<std::string> hash_pieces(std::vector<ChunkSource::Piece> pieces, ports::Crypto& crypto) {
    ChunkSource source(std::move(pieces));
    const std::string digest = crypto.sha256_of_chunks([&source] { return source.next(); });
    if (source.error()) return fail(*source.error());
    return to_hex(digest);
}

Result<void> add_object_pieces(const std::string& folder, const Ignore& ignore, int depth,
                               std::vector<ChunkSource::Piece>& pieces) {
    if (depth > kSnapshotDepthMax) {
        return fail(ErrorCode::InvalidArgument,
                    "folder '" + folder + "' is nested too deep, or a link leads back to a folder above it");
    }
    LAVANT_TRY(const auto names, names_in(folder));
    std::vector<std::pair<std::u32string, std::string>> sorted;
    for (const std::string& name : names) sorted.emplace_back(lower(to_code_points(name)), name);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, name] : sorted) {
        const std::string path = join(folder, name);
        if (ignore.excludes(path)) continue;
        pieces.push_back({name, {}});
        LAVANT_TRY(std::string resolved, resolve(path));
        struct ::stat about {};
        if (::stat(resolved.c_str(), &about) != 0)
            return fail(system_error("read '" + resolved + "'", errno));
        // A link is followed, and its target's own path is what the rules see further down.
        struct ::stat link {};
        const bool is_link = ::lstat(path.c_str(), &link) == 0 && S_ISLNK(link.st_mode);
        if (S_ISREG(about.st_mode)) {
            pieces.push_back({{}, resolved});
        } else if (S_ISDIR(about.st_mode)) {
            LAVANT_TRY_VOID(add_object_pieces(is_link ? resolved : path, ignore, depth + 1, pieces));
        }
    }
    return {};
}

}  // namespace

Result<Snapshot> take_snapshot(const std::string& path, Ignored ignored) {
    LAVANT_TRY(const std::string root, resolve(path));
    struct ::stat about {};
    if (::stat(root.c_str(), &about) != 0) return fail(system_error("read '" + root + "'", errno));
    Snapshot snapshot;
    snapshot.name = base_name_of(root);
    if (S_ISREG(about.st_mode)) {
        snapshot.is_file = true;
        snapshot.bytes = static_cast<std::uint64_t>(about.st_size);
        snapshot.files.push_back({root, snapshot.name, snapshot.bytes});
        return snapshot;
    }
    if (!S_ISDIR(about.st_mode)) {
        return fail(ErrorCode::InvalidArgument, "'" + path + "' is neither a file nor a folder");
    }
    const std::string_view more = ignored == Ignored::AndCompiled ? kComponentRules : std::string_view();
    LAVANT_TRY(const Ignore ignore,
               ignored == Ignored::Nothing ? Result<Ignore>(Ignore{.used = false}) : load_ignore(root, more));
    Walk walk(ignore);
    LAVANT_TRY_VOID(walk.visit(root, "", 0).map_error(in("cannot read folder '" + path + "'")));
    snapshot.files = std::move(walk.files);
    snapshot.bytes = walk.bytes;
    sort_as_sdk(snapshot.files);
    return snapshot;
}

Result<Snapshot> take_component_snapshot(const ComponentCode& code) {
    if (code.includes.empty()) return take_snapshot(code.code, Ignored::AndCompiled);
    Gathering gathering;
    LAVANT_TRY(const std::string root, resolve(!code.code.empty()    ? code.code
                                               : code.folder.empty() ? "."
                                                                     : code.folder));
    struct ::stat about {};
    if (::stat(root.c_str(), &about) != 0) return fail(system_error("read '" + root + "'", errno));
    const bool is_folder = S_ISDIR(about.st_mode);
    Ignore common{*IgnoreRules::parse(kComponentRules), parent_of(root)};
    if (is_folder) {
        LAVANT_TRY(common, load_ignore(root, kComponentRules));
    }
    // Its own links are followed wherever they lead, as without includes.
    if (!code.code.empty())
        LAVANT_TRY_VOID(gathering.add(root, is_folder ? "" : base_name_of(root), {}, "/"));
    for (const std::string& include : code.includes)
        LAVANT_TRY_VOID(add_include(include, code.code.empty() || !is_folder ? "" : root, common, gathering));
    Snapshot snapshot;
    snapshot.name = kMergedName;
    for (auto& [path, file] : gathering.files) {
        snapshot.bytes += file.bytes;
        snapshot.files.push_back(std::move(file));
    }
    sort_as_sdk(snapshot.files);
    return snapshot;
}

Result<std::string> content_hash(const Snapshot& snapshot, ports::Crypto& crypto) {
    std::string head = std::to_string(snapshot.files.size());
    for (const SnapshotFile& file : snapshot.files)
        head += "#" + file.path + "#" + std::to_string(file.bytes);
    std::vector<ChunkSource::Piece> pieces;
    pieces.push_back({std::move(head), {}});
    for (const SnapshotFile& file : snapshot.files) pieces.push_back({{}, file.source});
    return hash_pieces(std::move(pieces), crypto);
}

Result<std::string> object_hash(const std::string& path, ports::Crypto& crypto) {
    LAVANT_TRY(const std::string root, resolve(path));
    struct ::stat about {};
    if (::stat(root.c_str(), &about) != 0) return fail(system_error("read '" + root + "'", errno));
    std::vector<ChunkSource::Piece> pieces;
    pieces.push_back({"Initialize for october 2021 AML CLI version", {}});
    if (S_ISDIR(about.st_mode)) {
        LAVANT_TRY(const Ignore ignore, load_ignore(root));
        LAVANT_TRY_VOID(add_object_pieces(root, ignore, 0, pieces));
    } else {
        pieces.push_back({{}, root});
    }
    return hash_pieces(std::move(pieces), crypto);
}

std::string size_warning(const Snapshot& snapshot) {
    const bool many = snapshot.files.size() > kSnapshotWarnFiles;
    const bool large = snapshot.bytes > kSnapshotWarnBytes;
    if (snapshot.is_file || (!many && !large)) return {};
    struct Total {
        std::uint64_t bytes = 0;
        std::size_t files = 0;
    };
    std::map<std::string, Total> entries;
    for (const SnapshotFile& file : snapshot.files) {
        const std::size_t slash = file.path.find('/');
        Total& total = entries[slash == std::string::npos ? file.path : file.path.substr(0, slash + 1)];
        total.bytes += file.bytes;
        total.files += 1;
    }
    std::vector<std::pair<std::string, Total>> largest(entries.begin(), entries.end());
    std::stable_sort(largest.begin(), largest.end(), [&](const auto& a, const auto& b) {
        return large ? a.second.bytes > b.second.bytes : a.second.files > b.second.files;
    });
    largest.resize(std::min<std::size_t>(largest.size(), 3));
    std::string named;
    for (const auto& [name, total] : largest) {
        if (!named.empty()) named += ", ";
        named += large ? fmt::format("{} ({:.1f} MB)", name, static_cast<double>(total.bytes) / 1e6)
                       : fmt::format("{} ({} files)", name, total.files);
    }
    return fmt::format(
        "warning: the code folder '{}' has {} files and {:.1f} MB; the largest entries are {}. "
        "Exclude what the job does not need in .amlignore",
        snapshot.name, snapshot.files.size(), static_cast<double>(snapshot.bytes) / 1e6, named);
}

}  // namespace lavant::cli
