#include "main/sandbox_trial.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include "adapters/sandbox_linux/linux_sandbox.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant {
namespace {

constexpr int kTrialLimitMs = 5'000;
constexpr std::size_t kWordsMax = 16U << 10;

std::string made_below(const std::string& folder) {
    if (!exists(folder)) return "";
    std::string path = folder + "/.doctor-XXXXXX";
    return ::mkdtemp(path.data()) != nullptr ? path : "";
}

[[noreturn]] void try_in_child(const std::string& folder, int output) {
    {
        auto sandbox = sandbox_linux::LinuxSandbox::make(
            {.folder = folder + "/sandbox", .name = base_name_of(folder) + "-", .tasks_max = 1});
        (void)write_all(output, sandbox ? "+" + (*sandbox)->protections() : "-" + sandbox.error().message);
    }
    ::_exit(0);
}

std::string read_until_closed(int fd) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kTrialLimitMs);
    std::string text;
    while (text.size() < kWordsMax) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        ::pollfd ready{fd, POLLIN, 0};
        if (left.count() <= 0) break;
        if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
        std::array<char, 4096> bytes{};
        const ssize_t got = ::read(fd, bytes.data(), bytes.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text.append(bytes.data(), static_cast<std::size_t>(got));
    }
    return text;
}

}  // namespace

Result<std::string> try_protections(const std::string& data, const std::string& otherwise) {
    std::string folder = made_below(data);
    if (folder.empty()) folder = made_below(otherwise);
    if (folder.empty())
        return fail(ErrorCode::PermissionDenied, "neither " + data + " nor " + otherwise + " can be written");
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(system_error("make a pipe", errno));
    const Fd ours(ends[0]);
    Fd theirs(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
        ::setpgid(0, 0);
        try_in_child(folder, theirs.get());
    }
    theirs.reset();
    const std::string words = child > 0 ? read_until_closed(ours.get()) : "";
    if (child > 0) {
        ::kill(-child, SIGKILL);
        while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    (void)remove_tree(folder);
    if (words.starts_with('+')) return words.substr(1);
    return fail(ErrorCode::Unavailable, words.empty() ? "the trial did not end within 5 s" : words.substr(1));
}

}  // namespace lavant
