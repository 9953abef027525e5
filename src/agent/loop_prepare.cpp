// How the loop makes a task ready: folders, code, inputs, environment.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "agent/loop.h"
#include "agent/resume.h"
#include "agent/variables.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "wire/messages.h"

namespace lavant::agent {
namespace {

// A virtual environment borrows its interpreter from another folder, which the task must see too.
std::string borrowed_python(const std::string& python_home) {
    const Result<std::string> text = read_file(python_home + "/pyvenv.cfg", 64U << 10);
    if (!text) return "";
    for (const std::string_view line : split(*text, '\n')) {
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos && trim(line.substr(0, equals)) == "home")
            return parent_of(std::string(trim(line.substr(equals + 1))));
    }
    return "";
}

// Job files say `python`, as in images; many systems have only `python3`. A folder with a link of the other
// name, empty if none is needed or possible.
std::string make_python_link(const std::string& node_folder) {
    for (const char* place : {"/usr/local/bin/python", "/usr/bin/python"})
        if (exists(place)) return "";
    if (!exists("/usr/bin/python3")) return "";
    const std::string folder = node_folder + "/programs";
    const std::string link = folder + "/python";
    if (exists(link)) return folder;
    if (!make_directories(folder, 0755)) return "";
    return ::symlink("/usr/bin/python3", link.c_str()) == 0 || errno == EEXIST ? folder : std::string();
}

// One line for the user on what does not confine this task, empty if all does.
std::string missing_protections(const lavant::Launch& launch, const std::string& protections) {
    if (!launch.confined) return "sandbox off, as the job asks (lavant.sandbox)";
    const std::size_t off = protections.find("off:");
    return off == std::string::npos ? "" : "sandbox in part " + protections.substr(off);
}

bool is_of_the_system(const std::string& path) {
    return path.empty() || path == "/" || lies_in(path, "/usr") || lies_in(path, "/bin") ||
           lies_in(path, "/lib");
}

}  // namespace

void Loop::carry_out(Prepare& action) {
    const TaskRef ref = action.start.task;
    std::unique_ptr<Work>& slot = work_[ref];
    slot = std::make_unique<Work>();
    Work& work = *slot;
    work.start = std::move(action.start);
    work.log_name = log_name_of(work.start);
    work.confined.ref = ref;
    Result<lavant::Launch> launch = wire::decode_launch(work.start.launch);
    if (!launch) return prepare_failed(work, launch.error());
    work.launch = std::move(*launch);
    Result<std::string> folder = work.launch.code_uri.empty() ? spool_.take(work.launch.user) : spool_.make();
    if (!folder) return prepare_failed(work, folder.error());
    work.paths = paths_in(*folder);
    Result<Fd> task_log = make_task_folders(work.launch, work.start, work.paths);
    if (!task_log) return prepare_failed(work, task_log.error());
    if (const std::string off = missing_protections(work.launch, ports_.sandbox.protections()); !off.empty())
        append_to_log(work.paths, "lavant: " + off);
    work.log.emplace(std::move(*task_log), settings_.machine.log_window_bytes);
    const Result<void> ready = set_up(work);
    if (!ready) return prepare_failed(work, ready.error());
    fetch(work);
}

void Loop::carry_out(CancelPrepare& action) {
    if (Work* work = find(action.task)) work->download.reset();
}

std::string Loop::code_folder(const Work& work) const {
    if (work.launch.code_uri.empty()) return "";
    if (work.launch.code_hash.empty()) return work.paths.folder + "/code";
    return code_folder_of(settings_.folder, work.launch.code_hash);
}

// Everything that is known without the network. Also done for a task that is taken over.
Result<void> Loop::set_up(Work& work) {
    ports::ConfinedTask& confined = work.confined;
    // First what a task that is taken over is known by, whatever fails below.
    confined.ref = work.start.task;
    confined.folder = work.paths.folder;
    confined.working_folder = work.paths.working_folder;
    confined.log_file = work.paths.log_file;
    confined.code_folder = code_folder(work);
    confined.confined = settings_.confined && work.launch.confined;
    LAVANT_TRY(TaskView view, view_of(work.launch, work.paths));
    const std::string server_folder = parent_of(parent_of(settings_.folder));
    for (ports::Bind& bind : view.binds) {
        if (lies_in(bind.path, work.paths.folder)) continue;
        LAVANT_TRY(bind.source, resolve_local(bind.path, server_folder));
    }
    const std::string& python = work.launch.environment.python_home;
    for (const std::string& folder : {python, python.empty() ? "" : borrowed_python(python)}) {
        if (is_of_the_system(folder)) continue;
        if (!exists(folder))
            return fail(ErrorCode::InvalidArgument, "the Python environment '" + folder +
                                                        "' does not exist on this node; name an image, or "
                                                        "submit from an environment that the node has");
        LAVANT_TRY(std::string source, resolve_local(folder, server_folder));
        view.binds.push_back({.path = folder, .writable = false, .source = std::move(source)});
    }
    const bool needs_link = python.empty();
    if (needs_link && !programs_) programs_ = make_python_link(settings_.folder);
    const std::string programs = needs_link ? *programs_ : "";
    if (!programs.empty()) view.binds.push_back({.path = programs, .writable = false});
    for (ports::Bind& device : gpu_binds(work.start, "/dev")) view.binds.push_back(std::move(device));
    if (!settings_.ca_file.empty()) view.binds.push_back({.path = settings_.ca_file, .writable = false});
    LAVANT_TRY(confined.script, resolve_command(work.launch, view).map_error(in("reading the command")));
    confined.environment =
        make_environment({.launch = work.launch,
                          .start = work.start,
                          .server_url = settings_.server_url,
                          .ca_file = settings_.ca_file,
                          .node = to_string(settings_.node),
                          .inputs = std::move(view.inputs),
                          .outputs = std::move(view.outputs),
                          .programs_folder = programs,
                          .machine_has_gpus = settings_.machine_has_gpus || !settings_.gpus.empty()});
    confined.binds = std::move(view.binds);
    return {};
}

Result<std::vector<Fetch>> Loop::plan_fetches(const Work& work) const {
    std::vector<Fetch> fetches;
    if (const std::string folder = code_folder(work); !folder.empty() && !exists(folder)) {
        const std::string& uri = work.launch.code_uri;
        const std::size_t slash = uri.find('/');
        const std::string path = slash == std::string::npos ? "" : uri.substr(slash + 1);
        fetches.push_back({.kind = Fetch::Kind::Folder,
                           .what = "the code",
                           .place = {uri.substr(0, slash), path},
                           .into = work.paths.folder + "/code.new"});
    }
    for (const LaunchInput& input : work.launch.inputs) {
        if (input.type == "literal" || is_direct(input.mode) || parse_file_uri(input.value)) continue;
        Fetch fetch{.what = "input '" + input.name + "'", .into = work.paths.inputs + "/" + input.name};
        if (is_web_uri(input.value)) {
            const std::string place = input.value.substr(0, input.value.find_first_of("?#"));
            fetch.kind = Fetch::Kind::Web;
            fetch.url = input.value;
            fetch.file = base_name_of(place).empty() ? "data" : base_name_of(place);
        } else {
            LAVANT_TRY(fetch.place, parse_datastore_uri(input.value, work.launch));
            fetch.kind = input.type == "uri_file" ? Fetch::Kind::Blob : Fetch::Kind::Folder;
            fetch.file = base_name_of(fetch.place.path);
        }
        fetches.push_back(std::move(fetch));
    }
    if (work.start.resume) {
        for (Fetch& fetch : plan_resume(work.launch, work.paths)) fetches.push_back(std::move(fetch));
    }
    return fetches;
}

void Loop::fetch(Work& work) {
    Result<std::vector<Fetch>> fetches = plan_fetches(work);
    if (!fetches) return prepare_failed(work, fetches.error());
    const TaskRef ref = work.confined.ref;
    if (fetches->empty()) return fetched(ref, {});
    const ServerAccess access{ports_.reactor, ports_.wire, routes_of(settings_.node), credential_};
    work.download = std::make_shared<Download>(
        access, std::move(*fetches), [this, ref](const Result<void>& result) { fetched(ref, result); });
    work.download->start();
}

void Loop::fetched(TaskRef task, const Result<void>& result) {
    Work* work = find(task);
    if (work == nullptr) return;
    if (!result) return prepare_failed(*work, result.error());
    share_code(*work);
    if (work->start.resume) {
        if (const Result<void> known = remember_resumed(work->launch, work->paths); !known)
            return prepare_failed(*work, known.error());
        work->confined.outputs_before = resumed_outputs(work->paths);
    }
    give(Prepared{.task = task, .timeout = Duration(work->launch.timeout_micros)});
}

// A snapshot becomes visible by its rename, whole; if another task was faster, its copy serves.
void Loop::share_code(const Work& work) {
    const std::string fresh = work.paths.folder + "/code.new";
    if (work.launch.code_uri.empty() || !exists(fresh)) return;
    const std::string folder = code_folder(work);
    (void)make_directories(parent_of(folder));
    if (::rename(fresh.c_str(), folder.c_str()) != 0) (void)remove_tree(fresh);
}

void Loop::prepare_failed(Work& work, const Error& error) {
    const char* code = error.code == ErrorCode::NotFound          ? "DataNotFound"
                       : error.code == ErrorCode::InvalidArgument ? "UserError"
                                                                  : "SystemError";
    append_to_log(work.paths, "lavant: cannot prepare the job: " + error.message);
    keep_if_asked(work);
    give(Prepared{.task = work.confined.ref,
                  .problem = PrepareProblem{code, error.message},
                  .log_bytes = close_log(work)});
}

}  // namespace lavant::agent
