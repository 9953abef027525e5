// CPU per start and exit of a no-op task (user + system, children included): bare spawn, without and with
// confinement. bench_sandbox [COUNT] [FOLDER] [ONLY]

#include <dlfcn.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>

#include "adapters/sandbox_linux/linux_sandbox.h"
#include "host/processes.h"

namespace {

using lavant::sandbox_linux::LinuxSandbox;

double seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Of the launcher: it lives on, so its time is not among that of ended children.
double cpu_seconds_of_living_children() {
    double sum = 0;
    for (const pid_t child : lavant::host::descendants_of(::getpid()))
        if (const auto text = lavant::read_file("/proc/" + std::to_string(child) + "/schedstat", 256))
            sum += static_cast<double>(std::atoll(text->c_str())) / 1e9;
    return sum;
}

double cpu_seconds() {
    rusage own{};
    rusage children{};
    ::getrusage(RUSAGE_SELF, &own);
    ::getrusage(RUSAGE_CHILDREN, &children);
    return cpu_seconds_of_living_children() + seconds(own.ru_utime) + seconds(own.ru_stime) +
           seconds(children.ru_utime) + seconds(children.ru_stime);
}

// The best of ten batches: on a busy machine the others measure the neighbours.
void measure(const char* what, int count, const std::function<bool(int)>& once) {
    constexpr int kBatches = 10;
    const int each = std::max(1, count / kBatches);
    double cpu_best = 1e9;
    double wall_best = 1e9;
    for (int batch = 0; batch < kBatches; ++batch) {
        const double cpu = cpu_seconds();
        const auto wall = std::chrono::steady_clock::now();
        for (int i = 0; i < each; ++i)
            if (!once(batch * each + i)) {
                fmt::print("{}: failed\n", what);
                return;
            }
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - wall;
        cpu_best = std::min(cpu_best, (cpu_seconds() - cpu) * 1e3 / each);
        wall_best = std::min(wall_best, took.count() / each);
    }
    fmt::print("{:<44} {:.3f} ms CPU, {:.3f} ms wall\n", what, cpu_best, wall_best);
}

bool bare_spawn(const char* const* arguments) {
    pid_t child = 0;
    if (::posix_spawn(&child, arguments[0], nullptr, nullptr, const_cast<char**>(arguments), environ) != 0)
        return false;
    return ::waitpid(child, nullptr, 0) == child;
}

struct Kind {
    const char* script = "/bin/true";
    bool confined = false;
    std::string code;
    bool folders_ready = false;
};

bool one_task(LinuxSandbox& sandbox, const std::string& base, int number, const Kind& kind) {
    const std::string folder = base + "/tasks/" + std::to_string(kind.folders_ready ? 0 : number);
    if (!lavant::make_directories(folder)) return false;
    const lavant::ports::ConfinedTask task{.ref = {.job = lavant::JobId{number + 1}},
                                           .folder = folder,
                                           .script = kind.script,
                                           .environment = {"PATH=/usr/bin:/bin"},
                                           .code_folder = kind.code,
                                           .working_folder = folder + "/wd",
                                           .log_file = folder + "/std_log.txt",
                                           .confined = kind.confined};
    const auto running = sandbox.start(task);
    if (!running) {
        fmt::print("{}\n", running.error().message);
        return false;
    }
    lavant::host::wait_until_gone(running->pidfd, std::chrono::seconds(20));
    const auto ended = sandbox.collect(task.ref);
    sandbox.release(task.ref);
    if (!ended) fmt::print("{}\n", ended.error().message);
    if (!kind.folders_ready && !lavant::remove_tree(folder)) return false;
    return ended && ended->known && ended->exit_code == 0;
}

// Makes this process as heavy as an agent: its libraries, and a few MB of small things on the heap.
void gain_weight() {
    for (const char* name : {"libcurl.so.4", "libssl.so.3", "libsqlite3.so.0", "libyaml-cpp.so.0.7"})
        static_cast<void>(::dlopen(name, RTLD_NOW));
    for (int i = 0; i < 30'000; ++i) std::fill_n(static_cast<char*>(std::malloc(100)), 100, 'x');
}

}  // namespace

int main(int argc, char** argv) {
    gain_weight();
    const int count = argc > 1 ? std::atoi(argv[1]) : 1000;
    const std::string base =
        (argc > 2 ? argv[2] : "/tmp") + std::string("/lavant-bench-") + std::to_string(::getpid());
    auto sandbox = LinuxSandbox::make({.folder = base + "/sandbox", .name = "bench"});
    if (!sandbox) {
        fmt::print("{}\n", sandbox.error().message);
        return 1;
    }
    fmt::print("{}\n", (*sandbox)->protections());
    static_cast<void>(lavant::make_directories(base + "/code"));
    static_cast<void>(lavant::write_file_atomically(base + "/code/a.py", "print(1)\n"));
    const char* const plain[] = {"/bin/true", nullptr};
    const char* const shell[] = {"/bin/bash", "-c", "/bin/true", nullptr};
    const char* const builtin[] = {"/bin/bash", "-c", "true", nullptr};
    measure("bare spawn of /bin/true", count, [&](int) { return bare_spawn(plain); });
    measure("bare spawn of bash -c /bin/true", count, [&](int) { return bare_spawn(shell); });
    measure("bare spawn of bash -c true", count, [&](int) { return bare_spawn(builtin); });
    const std::string code = base + "/code";
    const std::string only = argc > 3 ? argv[3] : "";
    for (const bool confined : {false, true})
        for (const auto& [what, kind] :
             {std::pair{"/bin/true", Kind{.confined = confined}},
              {"/bin/true, folder ready", Kind{.confined = confined, .folders_ready = true}},
              {"a shell's true", Kind{.script = "true;", .confined = confined}},
              {"/bin/true with code", Kind{.confined = confined, .code = code}}})
            if (const std::string name = (confined ? "confined: " : "not confined: ") + std::string(what);
                name.find(only) != std::string::npos)
                measure(name.c_str(), count,
                        [&, &k = kind](int i) { return one_task(**sandbox, base, i, k); });
    sandbox->reset();
    static_cast<void>(lavant::remove_tree(base));
}
