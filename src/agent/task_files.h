#pragma once
// Where a task's things lie on its node, and what is read from and written to those places without the
// network.
//
//   <node folder>/tasks/<number>/     launch.bin  std_log.txt  run.*  wd/  inputs/<name>/  outputs/<name>/
//                                     resumed/ (resume.h)
//   <node folder>/cache/code/<hash>/  code snapshots, read-only
//
// launch.bin is written last before the command is launched: the task it names may have a command that ran. A
// folder is used again (spool.h): its files are then written over.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/time.h"
#include "core/model/launch.h"
#include "core/model/messages.h"
#include "core/spec/file_uri.h"
#include "ports/sandbox.h"

namespace lavant::agent {

struct TaskPaths {
    std::string folder;
    std::string launch_file;
    std::string log_file;
    std::string working_folder;
    std::string inputs;
    std::string outputs;
    std::string resumed;
};

TaskPaths paths_in(const std::string& task_folder);
std::string code_folder_of(const std::string& node_folder, const std::string& code_hash);
std::string log_name_of(const StartTask& start);  // "user_logs/std_log.txt", or one for each rank

// Survives this process, not the machine: see forget_tasks_of_another_boot().
[[nodiscard]] Result<Fd> save_launch(const TaskPaths& paths, const StartTask& start);

// Once the task is forgotten: nobody takes it over from here, and its token is gone.
[[nodiscard]] Result<void> blank_launch(const Fd& launch);

struct SavedTask {
    std::string folder;
    StartTask start;
    lavant::Launch launch;
    Instant launched_at{};
};
// After a restart of the machine nothing of its tasks runs, and what was not synced may be half there: the
// spool is emptied. The server learns from the Hello that the machine was restarted, and takes the tasks as
// lost.
[[nodiscard]] Result<void> forget_tasks_of_another_boot(const std::string& node_folder,
                                                        const std::string& machine_boot);
// The tasks of earlier agent processes. Folders of tasks that were never launched are removed.
[[nodiscard]] Result<std::vector<SavedTask>> load_tasks(const std::string& node_folder);

// A place in the blob store.
struct BlobPlace {
    std::string container;
    std::string path;
    bool operator==(const BlobPlace&) const = default;
};
// azureml://datastores/D/paths/P, with or without subscription, group and workspace in front. NotFound where
// the datastore is none of the workspace's own two.
[[nodiscard]] Result<BlobPlace> parse_datastore_uri(std::string_view uri, const lavant::Launch& launch);
using spec::parse_file_uri;
bool is_web_uri(std::string_view uri);

bool lies_in(const std::string& path, const std::string& folder);
// A file or folder of this machine that a job names: it must exist, and be none of the server's own. Where it
// really is: what is shown to the task must be this, as a link can be changed after the check.
[[nodiscard]] Result<std::string> resolve_local(const std::string& path, const std::string& server_folder);

// Inputs and outputs as the command sees them, and what else of the machine it needs to see.
struct TaskView {
    std::map<std::string, std::string> inputs;  // name to path, URI or literal
    std::map<std::string, std::string> outputs;
    std::vector<ports::Bind> binds;
};
[[nodiscard]] Result<TaskView> view_of(const lavant::Launch& launch, const TaskPaths& paths);

// The driver's devices, for a task that has GPUs: with CUDA_VISIBLE_DEVICES it finds its own among them.
// Others see none.
std::vector<ports::Bind> gpu_binds(const StartTask& start, const std::string& devices_folder);

[[nodiscard]] Result<std::string> resolve_command(const lavant::Launch& launch, const TaskView& view);

// Spool, log and output folders; the log starts with the line that names the environment. Returns the log,
// readable.
[[nodiscard]] Result<Fd> make_task_folders(const lavant::Launch& launch, const StartTask& start,
                                           const TaskPaths& paths);
void append_to_log(const TaskPaths& paths, std::string_view line);

// Where an output lies on the node, and where it is kept.
struct OutputPlace {
    std::string folder;
    std::string file;  // its name in there; "" for all that is in it
    BlobPlace place;
};
[[nodiscard]] Result<OutputPlace> output_place_of(const LaunchOutput& output, const lavant::Launch& launch,
                                                  const TaskPaths& paths);
bool is_direct(std::string_view mode);  // the command reads and writes the place itself

// One file to be kept, and its final place.
struct Upload {
    std::string file;
    BlobPlace place;
    std::uint64_t bytes = 0;
};
struct Uploads {
    std::vector<Upload> files;
    std::string problem;  // what cannot be kept, and why; "" if all can
};
// `written` is where the working folder's files are seen from outside. Links that leave their tree are
// skipped.
Uploads find_uploads(const lavant::Launch& launch, const TaskPaths& paths, const std::string& written);

// "ValueError: no such column": the last line of the last Python traceback in `log`.
std::string find_traceback_line(std::string_view log);

}  // namespace lavant::agent
