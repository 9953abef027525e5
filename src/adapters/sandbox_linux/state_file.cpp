#include "adapters/sandbox_linux/state_file.h"

#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "base/text.h"

namespace lavant::sandbox_linux {
namespace {

std::optional<std::vector<std::int64_t>> numbers(const std::vector<std::string_view>& words, std::size_t from,
                                                 std::size_t count) {
    if (words.size() < from + count) return std::nullopt;
    std::vector<std::int64_t> found;
    for (std::size_t i = from; i < from + count; ++i) {
        const auto value = parse_integer(words[i]);
        if (!value) return std::nullopt;
        found.push_back(*value);
    }
    return found;
}

bool read_started(std::string_view line, TaskState& state) {
    const auto words = split(line, ' ');
    const auto values = numbers(words, 3, 4);
    if (!values || words[0] != "task") return false;
    state.start = std::string(words[1]);
    state.boot = std::string(words[2]);
    state.supervisor = static_cast<pid_t>((*values)[0]);
    state.slot = static_cast<int>((*values)[1]);
    state.oom_kills = (*values)[2];
    state.cpu_micros = (*values)[3];
    return true;
}

void read_ended(std::string_view line, TaskState& state) {
    const auto words = split(line, ' ');
    if (words.size() >= 3 && words[0] == "failed") {
        const std::size_t prefix = words[0].size() + words[1].size() + 2;
        state.failure = "cannot " + std::string(line.substr(prefix)) + ": " +
                        std::strerror(static_cast<int>(parse_integer(words[1]).value_or(0)));
    }
    if (words[0] != "end") return;
    const auto values = numbers(words, 1, 5);
    if (!values) return;
    state.end = ports::TaskExit{
        .known = true,
        .exit_code = static_cast<int>((*values)[0]),
        .signal = static_cast<int>((*values)[1]),
        .out_of_memory = false,
        .usage = {
            .cpu_micros = (*values)[2], .memory_peak_bytes = (*values)[3], .wall_micros = (*values)[4]}};
}

}  // namespace

std::string state_path(const std::string& task_folder) { return task_folder + "/run.state"; }

std::string name_start(TaskRef task, std::uint64_t number) {
    return std::to_string(task.job.value) + "." + std::to_string(task.attempt) + "." +
           std::to_string(task.index) + ":" + std::to_string(::getpid()) + "." + std::to_string(number);
}

bool is_start_of(std::string_view start, TaskRef task) {
    const std::string name = name_start(task, 0);
    return start.starts_with(name.substr(0, name.find(':') + 1));
}

std::string start_mark(std::string_view start) { return "task " + std::string(start) + " "; }

std::string render_started(const TaskState& state) {
    std::string record = start_mark(state.start) + state.boot;
    for (const std::int64_t value :
         {std::int64_t{state.supervisor}, std::int64_t{state.slot}, state.oom_kills, state.cpu_micros})
        record += " " + std::to_string(value);
    record += "\n";
    CHECK(record.size() <= kStartRecordBytes, "numbers and two short words fit into a record");
    record.resize(kStartRecordBytes, ' ');
    return record + "\n";
}

std::optional<TaskState> parse_state(std::string_view text) {
    TaskState state;
    const std::string_view first = text.substr(0, kStartRecordBytes);
    if (text.size() <= kStartRecordBytes || !read_started(first.substr(0, first.find('\n')), state))
        return std::nullopt;
    text.remove_prefix(kStartRecordBytes);
    if (const std::size_t end = text.find('\n'); end != std::string_view::npos)
        read_ended(text.substr(0, end), state);
    return state;
}

Result<std::string> read_state(const Fd& file) {
    std::string text(kStartRecordBytes + kEndRecordBytesMax, '\0');
    const ssize_t count = ::pread(file.get(), text.data(), text.size(), 0);
    if (count < 0) return fail(system_error("read the state of a task", errno));
    text.resize(static_cast<std::size_t>(count));
    return text;
}

Result<void> lock_state(const Fd& file) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return {};
    return fail(system_error("lock the state of a task", errno));
}

bool is_locked(const Fd& file) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return true;
    ::flock(file.get(), LOCK_UN);
    return false;
}

}  // namespace lavant::sandbox_linux
