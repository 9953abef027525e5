#include "adapters/sandbox_linux/state_file.h"

#include <cstring>
#include <vector>

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
    const auto values = numbers(words, 2, 5);
    if (!values || words[0] != "task") return false;
    state.boot = std::string(words[1]);
    state.supervisor = {.pid = static_cast<pid_t>((*values)[0]),
                        .start_ticks = static_cast<std::uint64_t>((*values)[1])};
    state.slot = static_cast<int>((*values)[2]);
    state.oom_kills = (*values)[3];
    state.cpu_micros = (*values)[4];
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

std::string render_started(const TaskState& state) {
    std::string line = "task " + state.boot;
    for (const std::int64_t value :
         {std::int64_t{state.supervisor.pid}, static_cast<std::int64_t>(state.supervisor.start_ticks),
          std::int64_t{state.slot}, state.oom_kills, state.cpu_micros})
        line += " " + std::to_string(value);
    return line + "\n";
}

std::optional<TaskState> parse_state(std::string_view text) {
    TaskState state;
    const std::size_t first = text.find('\n');
    if (first == std::string_view::npos || !read_started(text.substr(0, first), state)) return std::nullopt;
    text.remove_prefix(first + 1);
    if (const std::size_t second = text.find('\n'); second != std::string_view::npos)
        read_ended(text.substr(0, second), state);
    return state;
}

}  // namespace lavant::sandbox_linux
