#include "agent/resume.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <optional>

#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "core/model/workspace.h"

namespace lavant::agent {
namespace {

constexpr std::size_t kListBytesMax = 256U << 20;
constexpr time_t kAgeSeconds = 10;

std::string list_of(const TaskPaths& paths) { return paths.resumed + "/files"; }

std::string name_of(const BlobPlace& place) {
    return percent_encode(place.container) + "/" + percent_encode(place.path);
}

// Changes with whatever is written to the file or put in its place.
std::optional<std::string> look_of(const std::string& file) {
    struct stat found {};
    if (::lstat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
    return std::to_string(found.st_ino) + ":" + std::to_string(found.st_size) + ":" +
           std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec);
}

// A clock ticks slower than a program writes: a file as old as its fetching could be written anew and look
// the same. So each is made older than it is.
Result<void> make_older(const std::string& file) {
    struct stat found {};
    if (::lstat(file.c_str(), &found) != 0) return fail(system_error("look at '" + file + "'", errno));
    timespec at = found.st_mtim;
    at.tv_sec -= kAgeSeconds;
    const timespec times[2] = {at, at};
    if (::utimensat(AT_FDCWD, file.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0)
        return fail(system_error("set the time of '" + file + "'", errno));
    return {};
}

}  // namespace

std::vector<Fetch> plan_resume(const lavant::Launch& launch, const TaskPaths& paths) {
    std::vector<Fetch> fetches;
    for (const LaunchOutput& output : launch.outputs) {
        if (is_direct(output.mode)) continue;
        Result<OutputPlace> kept = output_place_of(output, launch, paths);
        if (!kept) continue;  // Nothing was kept there; the end of the task tells why.
        fetches.push_back({.kind = kept->file.empty() ? Fetch::Kind::Folder : Fetch::Kind::Blob,
                           .what = "output '" + output.name + "' of the attempt before",
                           .place = std::move(kept->place),
                           .into = std::move(kept->folder),
                           .file = std::move(kept->file),
                           .if_there = true});
    }
    fetches.push_back({.kind = Fetch::Kind::Folder,
                       .what = "./outputs of the attempt before",
                       .place = {artifact_container(launch), artifact_prefix(launch.job_name) + "outputs"},
                       .into = paths.resumed + "/outputs",
                       .if_there = true});
    return fetches;
}

std::string resumed_outputs(const TaskPaths& paths) {
    const std::string folder = paths.resumed + "/outputs";
    const auto entries = list_directory(folder);
    return entries && !entries->empty() ? folder : "";
}

// What would be kept if the command did nothing is what was fetched.
Result<void> remember_resumed(const lavant::Launch& launch, const TaskPaths& paths) {
    std::string list;
    for (const Upload& upload : find_uploads(launch, paths, paths.resumed).files) {
        LAVANT_TRY_VOID(make_older(upload.file));
        if (const auto look = look_of(upload.file)) list += *look + " " + name_of(upload.place) + "\n";
    }
    if (list.empty()) return {};
    LAVANT_TRY_VOID(make_directories(paths.resumed));
    return write_file_atomically(list_of(paths), list);
}

void leave_out_unchanged(Uploads& uploads, const TaskPaths& paths) {
    if (!exists(list_of(paths))) return;
    const Result<std::string> list = read_file(list_of(paths), kListBytesMax);
    if (!list) {  // All is kept again: more than need be, and nothing is lost.
        log(Level::Warning, "resumed_files_unknown", {{"error", list.error().message}});
        return;
    }
    std::map<std::string, std::string, std::less<>> looks;
    for (const std::string_view line : split(*list, '\n')) {
        const std::size_t space = line.find(' ');
        if (space != std::string_view::npos) looks.emplace(line.substr(space + 1), line.substr(0, space));
    }
    std::erase_if(uploads.files, [&looks](const Upload& upload) {
        const auto before = looks.find(name_of(upload.place));
        return before != looks.end() && look_of(upload.file) == before->second;
    });
}

}  // namespace lavant::agent
