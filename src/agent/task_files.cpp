#include "agent/task_files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "core/model/workspace.h"
#include "core/spec/expression.h"
#include "wire/messages.h"

namespace lavant::agent {
namespace {

constexpr std::size_t kLaunchBytesMax = 8U << 20;
constexpr std::string_view kDatastoreScheme = "azureml://";

std::string join(std::string_view folder, std::string_view name) {
    return std::string(folder) + (folder.ends_with('/') ? "" : "/") + std::string(name);
}

// Where a file output's one file is kept: an output's URI may name the file or the folder around it.
BlobPlace file_place(const LaunchOutput& output, BlobPlace place) {
    if (place.path.empty() || place.path.ends_with('/')) place.path += output.name;
    return place;
}

Result<std::string> input_value(const LaunchInput& input, const lavant::Launch& launch,
                                const TaskPaths& paths, TaskView& view) {
    if (input.type == "literal" || is_direct(input.mode)) return input.value;
    if (const std::optional<std::string> local = parse_file_uri(input.value)) {
        view.binds.push_back({.path = *local, .writable = false});
        return *local;
    }
    const std::string folder = join(paths.inputs, input.name);
    std::string_view place = input.value;
    std::string keep;
    if (is_web_uri(input.value)) {
        place = place.substr(0, place.find_first_of("?#"));
    } else {
        LAVANT_TRY(const BlobPlace blob, parse_datastore_uri(input.value, launch));
        keep = blob.path;
        place = keep;
    }
    if (input.type != "uri_file" && !is_web_uri(input.value)) return folder;
    const std::string file = base_name_of(std::string(place));
    return join(folder, file.empty() ? "data" : file);
}

Result<std::string> output_value(const LaunchOutput& output, const lavant::Launch& launch,
                                 const TaskPaths& paths) {
    if (is_direct(output.mode)) return output.uri;
    if (output.type != "uri_file") return join(paths.outputs, output.name);
    LAVANT_TRY(const OutputPlace place, output_place_of(output, launch, paths));
    return join(place.folder, place.file);
}

// Names come from a checked specification; a name that would leave its folder is refused all the same.
Result<void> check_name(const std::string& name) {
    if (!name.empty() && name.find('/') == std::string::npos && name.find('\0') == std::string::npos &&
        name != "." && name != "..")
        return {};
    return fail(ErrorCode::InvalidArgument, "'" + name + "' cannot be the name of an input or output");
}

std::optional<std::string> resolve_inside(const std::string& path, const std::string& root) {
    char resolved[4096];
    char resolved_root[4096];
    if (::realpath(path.c_str(), resolved) == nullptr || ::realpath(root.c_str(), resolved_root) == nullptr)
        return std::nullopt;
    const std::string file = resolved;
    if (!file.starts_with(std::string(resolved_root) + "/")) return std::nullopt;
    struct stat status {};
    if (::stat(resolved, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return file;
}

// What a file holds becomes `bytes`. It is never cut to nothing on the way: file systems take that for the
// replacement of something precious, and write the new bytes out at once.
Result<Fd> write_over(const std::string& path, std::string_view bytes) {
    LAVANT_TRY(Fd file, open_file(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    struct stat before {};
    const auto length = static_cast<off_t>(bytes.size());
    if (::fstat(file.get(), &before) != 0) return fail(system_error("look at '" + path + "'", errno));
    const ssize_t written = ::pwrite(file.get(), bytes.data(), bytes.size(), 0);
    if (written != length) return fail(system_error("write '" + path + "'", written < 0 ? errno : ENOSPC));
    if (before.st_size > length && ::ftruncate(file.get(), length) != 0)
        return fail(system_error("shorten '" + path + "'", errno));
    return file;
}

// Nothing: no command of a task was launched from this folder.
Result<std::optional<SavedTask>> load_task(const std::string& folder) {
    const std::string file = paths_in(folder).launch_file;
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
        return fail(system_error("look at '" + file + "'", errno));
    }
    LAVANT_TRY(const std::string bytes, read_file(file, kLaunchBytesMax));
    Result<ToAgent> message = wire::decode_to_agent(bytes);
    auto* start = message ? std::get_if<StartTask>(&*message) : nullptr;
    if (start == nullptr) return std::nullopt;  // Blanked, or its writer was interrupted.
    Result<lavant::Launch> launch = wire::decode_launch(start->launch);
    if (!launch) return std::nullopt;
    const std::int64_t micros = status.st_mtim.tv_sec * 1'000'000LL + status.st_mtim.tv_nsec / 1000;
    return SavedTask{folder, std::move(*start), std::move(*launch), from_micros(micros)};
}

constexpr std::size_t kUploadFilesMax = 100'000;
constexpr int kUploadDepthMax = 64;

class UploadFinder {
 public:
    explicit UploadFinder(Uploads& found) : found_(found) {}

    void tree(const std::string& root, const BlobPlace& place) { folder(root, root, place, 0); }
    void file(const std::string& path, const BlobPlace& place) {
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
        add({path, place, static_cast<std::uint64_t>(status.st_size)});
    }

 private:
    void folder(const std::string& root, const std::string& path, const BlobPlace& place, int depth) {
        const Result<std::vector<DirectoryEntry>> entries = list_directory(path);
        if (!entries) return;  // Absent: the task did not make it.
        if (depth > kUploadDepthMax) return problem("'" + path + "' is nested too deeply to be kept");
        for (const DirectoryEntry& entry : *entries) {
            const std::string inner = path + "/" + entry.name;
            const BlobPlace inner_place{place.container, join(place.path, entry.name)};
            if (entry.is_directory) {
                folder(root, inner, inner_place, depth + 1);
            } else if (entry.is_file) {
                add({inner, inner_place, entry.bytes});
            } else if (entry.is_link) {
                if (const std::optional<std::string> target = resolve_inside(inner, root))
                    file(*target, inner_place);
            }
        }
    }
    void add(Upload upload) {
        if (upload.bytes > limits::kBlobPutBytes)
            return problem("'" + upload.place.path + "' is larger than the " +
                           std::to_string(limits::kBlobPutBytes >> 20) + " MB that one kept file may have");
        if (found_.files.size() >= kUploadFilesMax)
            return problem("more than " + std::to_string(kUploadFilesMax) +
                           " files were written to outputs and logs; pack them into an archive");
        found_.files.push_back(std::move(upload));
    }
    void problem(std::string text) {
        if (found_.problem.empty()) found_.problem = std::move(text);
    }
    Uploads& found_;
};

}  // namespace

TaskPaths paths_in(const std::string& folder) {
    return {.folder = folder,
            .launch_file = folder + "/launch.bin",
            .log_file = folder + "/std_log.txt",
            .working_folder = folder + "/wd",
            .inputs = folder + "/inputs",
            .outputs = folder + "/outputs",
            .resumed = folder + "/resumed"};
}

std::string code_folder_of(const std::string& node_folder, const std::string& code_hash) {
    return node_folder + "/cache/code/" + percent_encode(code_hash);
}

std::string log_name_of(const StartTask& start) {
    if (is_alone(start)) return "user_logs/std_log.txt";
    return "user_logs/std_log_process_" + std::to_string(start.task.index) + ".txt";
}

Result<Fd> save_launch(const TaskPaths& paths, const StartTask& start) {
    return write_over(paths.launch_file, wire::encode_frame(ToAgent{start}));
}

Result<void> blank_launch(const Fd& launch) {
    struct stat found {};
    if (::fstat(launch.get(), &found) != 0) return fail(system_error("look at a launch file", errno));
    const std::string blank(static_cast<std::size_t>(found.st_size), '\0');
    if (::pwrite(launch.get(), blank.data(), blank.size(), 0) != static_cast<ssize_t>(blank.size()))
        return fail(system_error("blank a launch file", errno));
    return {};
}

Result<void> forget_tasks_of_another_boot(const std::string& node_folder, const std::string& machine_boot) {
    const std::string file = node_folder + "/machine";
    const Result<std::string> known = read_file(file, 4096);
    if (known && *known == machine_boot) return {};
    LAVANT_TRY_VOID(remove_tree(node_folder + "/tasks"));
    LAVANT_TRY_VOID(make_directories(node_folder));
    return write_file_atomically(file, machine_boot);
}

Result<std::vector<SavedTask>> load_tasks(const std::string& node_folder) {
    std::vector<SavedTask> saved;
    const std::string tasks = node_folder + "/tasks";
    LAVANT_TRY_VOID(make_directories(tasks));
    LAVANT_TRY(const auto entries, list_directory(tasks));
    for (const DirectoryEntry& entry : entries) {
        LAVANT_TRY(std::optional<SavedTask> task, load_task(tasks + "/" + entry.name));
        if (task) {
            saved.push_back(std::move(*task));
        } else {
            LAVANT_TRY_VOID(remove_tree(tasks + "/" + entry.name));
        }
    }
    return saved;
}

Result<BlobPlace> parse_datastore_uri(std::string_view uri, const lavant::Launch& launch) {
    const auto bad = [&] {
        return fail(ErrorCode::NotFound,
                    "'" + std::string(uri) +
                        "' is not a place Lavant can read; write "
                        "azureml://datastores/NAME/paths/PATH, a file path or an https URL");
    };
    if (!uri.starts_with(kDatastoreScheme)) return bad();
    const std::size_t at = uri.find("datastores/", kDatastoreScheme.size());
    if (at == std::string_view::npos) return bad();
    std::string_view rest = uri.substr(at + std::string_view("datastores/").size());
    const std::size_t end = rest.find('/');
    const std::string_view store = rest.substr(0, end);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    if (!rest.starts_with("paths/")) return bad();
    std::string path(rest.substr(6));
    while (path.starts_with('/')) path.erase(0, 1);
    std::string container = container_of(launch, std::string(store));
    if (!container.empty()) return BlobPlace{std::move(container), path};
    return fail(ErrorCode::NotFound, "datastore '" + std::string(store) +
                                         "' is not known to this job; see `lavant datastore list`");
}

bool is_web_uri(std::string_view uri) {
    const std::string lower = to_lower(uri.substr(0, 8));
    return lower.starts_with("https://") || lower.starts_with("http://");
}

bool lies_in(const std::string& path, const std::string& folder) {
    return path == folder || path.starts_with(folder == "/" ? folder : folder + "/");
}

Result<std::string> resolve_local(const std::string& path, const std::string& server_folder) {
    const std::unique_ptr<char, decltype(&::free)> resolved(::realpath(path.c_str(), nullptr), &::free);
    if (!resolved)
        return fail(ErrorCode::NotFound,
                    "'" + path + "' does not exist on this node; upload it, or name a datastore");
    std::string real = resolved.get();
    if (lies_in(real, server_folder) || lies_in(server_folder, real))
        return fail(ErrorCode::PermissionDenied,
                    "'" + path + "' holds the server's own files; use another folder");
    return real;
}

Result<TaskView> view_of(const lavant::Launch& launch, const TaskPaths& paths) {
    TaskView view;
    bool fetched = false;
    for (const LaunchInput& input : launch.inputs) {
        LAVANT_TRY_VOID(check_name(input.name));
        LAVANT_TRY(std::string value,
                   input_value(input, launch, paths, view).map_error(in("input '" + input.name + "'")));
        fetched = fetched || value.starts_with(paths.inputs + "/");
        view.inputs[input.name] = std::move(value);
    }
    for (const LaunchOutput& output : launch.outputs) {
        LAVANT_TRY_VOID(check_name(output.name));
        LAVANT_TRY(view.outputs[output.name],
                   output_value(output, launch, paths).map_error(in("output '" + output.name + "'")));
    }
    if (fetched) view.binds.push_back({.path = paths.inputs, .writable = false});
    if (!launch.outputs.empty()) view.binds.push_back({.path = paths.outputs, .writable = true});
    return view;
}

std::vector<ports::Bind> gpu_binds(const StartTask& start, const std::string& devices_folder) {
    std::vector<ports::Bind> binds;
    const auto devices =
        start.gpus.empty() ? Result<std::vector<DirectoryEntry>>() : list_directory(devices_folder);
    if (!devices) return binds;
    for (const DirectoryEntry& device : *devices) {
        // Read-only binds a device's place, not what it does; a writable one would be given to the task.
        if (device.name.starts_with("nvidia") && !device.is_directory && !device.is_link)
            binds.push_back({.path = join(devices_folder, device.name), .writable = false});
    }
    return binds;
}

Result<std::string> resolve_command(const lavant::Launch& launch, const TaskView& view) {
    const auto lookup = [&](const spec::Reference& reference) -> std::optional<std::string> {
        const auto* table = reference.scope == "inputs"    ? &view.inputs
                            : reference.scope == "outputs" ? &view.outputs
                                                           : nullptr;
        if (table != nullptr) {
            const auto found = table->find(reference.name);
            return found == table->end() ? std::nullopt : std::optional(found->second);
        }
        if (reference.scope == "name") return launch.job_name;
        if (reference.scope == "default_datastore") return kBlobDatastore;
        return std::nullopt;
    };
    return spec::substitute(launch.command, lookup);
}

Result<Fd> make_task_folders(const lavant::Launch& launch, const StartTask& start, const TaskPaths& paths) {
    std::string line =
        "lavant: attempt " + std::to_string(start.task.attempt) + " of " + launch.job_name +
        ", environment " + (launch.environment.name.empty() ? "host" : launch.environment.name) +
        ", python " +
        (launch.environment.python_home.empty() ? std::string("of the system")
                                                : launch.environment.python_home + "/bin/python") +
        "\n";
    if (!launch.environment.note.empty()) line += "lavant: " + launch.environment.note + "\n";
    LAVANT_TRY(Fd log, write_over(paths.log_file, line));
    for (const LaunchOutput& output : launch.outputs) {
        if (!is_direct(output.mode)) LAVANT_TRY_VOID(make_directories(join(paths.outputs, output.name)));
    }
    return log;
}

void append_to_log(const TaskPaths& paths, std::string_view line) {
    const Result<Fd> log = open_file(paths.log_file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log && write_all(log->get(), std::string(line) + "\n")) return;
    lavant::log(Level::Warning, "task_log_unwritable", {{"file", paths.log_file}});
}

bool is_direct(std::string_view mode) { return equals_ignoring_case(mode, "direct"); }

Result<OutputPlace> output_place_of(const LaunchOutput& output, const lavant::Launch& launch,
                                    const TaskPaths& paths) {
    OutputPlace found{.folder = join(paths.outputs, output.name)};
    LAVANT_TRY(found.place, parse_datastore_uri(output.uri, launch));
    if (output.type != "uri_file") return found;
    found.place = file_place(output, std::move(found.place));
    found.file = base_name_of(found.place.path);
    return found;
}

Uploads find_uploads(const lavant::Launch& launch, const TaskPaths& paths, const std::string& written) {
    Uploads found;
    UploadFinder finder(found);
    const std::string artifacts = artifact_prefix(launch.job_name);
    for (const char* name : {"outputs", "logs"})
        finder.tree(written + "/" + name, {artifact_container(launch), artifacts + name});
    for (const LaunchOutput& output : launch.outputs) {
        if (is_direct(output.mode)) continue;
        const Result<OutputPlace> kept = output_place_of(output, launch, paths);
        if (!kept) {
            if (found.problem.empty())
                found.problem = "output '" + output.name + "': " + kept.error().message;
        } else if (!kept->file.empty()) {
            finder.file(join(kept->folder, kept->file), kept->place);
        } else {
            finder.tree(kept->folder, kept->place);
        }
    }
    return found;
}

std::string find_traceback_line(std::string_view log) {
    constexpr std::size_t kLineCharsMax = 500;
    const std::size_t start = log.rfind("Traceback (most recent call last):");
    if (start == std::string_view::npos) return "";
    bool first = true;
    for (const std::string_view line : split(log.substr(start), '\n')) {
        const bool told = !first && !line.empty() && line.front() != ' ' && line.front() != '\t';
        if (told) return std::string(trim(line.substr(0, kLineCharsMax)));
        first = false;
    }
    return "";
}

}  // namespace lavant::agent
