#include "host/processes.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace lavant::host {
namespace {

pid_t start_sleeper() {
    const pid_t child = ::fork();
    if (child == 0)
        while (true) ::pause();
    return child;
}

void end(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

TEST(Processes, AMarkNamesOneProcessOnly) {
    const pid_t child = start_sleeper();
    auto mark = mark_of(child);
    ASSERT_TRUE(mark);
    EXPECT_TRUE(open_process(*mark));
    ++mark->start_ticks;
    EXPECT_FALSE(open_process(*mark));
    --mark->start_ticks;
    const auto pidfd = open_process(*mark);
    ASSERT_TRUE(pidfd);
    EXPECT_FALSE(wait_until_gone(pidfd->get(), Duration{0}));
    EXPECT_TRUE(send_signal(pidfd->get(), SIGKILL));
    EXPECT_TRUE(wait_until_gone(pidfd->get(), std::chrono::seconds(20)));
    EXPECT_FALSE(open_process(*mark)) << "a zombie is not alive";
    ::waitpid(child, nullptr, 0);
    EXPECT_FALSE(mark_of(child));
    EXPECT_FALSE(open_process({}));
}

TEST(Processes, DescendantsAreFoundAndKilledThroughAllGenerations) {
    // The child is a subreaper, as supervisors are: what is orphaned below it stays below it.
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const pid_t root = ::fork();
    if (root == 0) {
        ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        if (::fork() == 0) {
            ::setsid();
            for (int i = 0; i < 5; ++i)
                if (::fork() == 0) {
                    ::setsid();
                    if (::fork() == 0) {
                        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
                        while (true) ::pause();
                    }
                    ::_exit(0);
                }
            ::_exit(0);
        }
        while (true) ::pause();
    }
    for (int i = 0; i < 5; ++i) {
        char byte = 0;
        ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    }
    ::close(ready[0]);
    ::close(ready[1]);
    // All five are there; those between them and the root are on their way out.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (descendants_of(root).size() != 5 && std::chrono::steady_clock::now() < deadline) ::usleep(1000);
    EXPECT_EQ(descendants_of(root).size(), 5U);
    EXPECT_TRUE(kill_descendants(root, std::chrono::seconds(20)));
    EXPECT_TRUE(descendants_of(root).empty());
    end(root);
}

TEST(Processes, AreFoundByArgumentAndEnvironment) {
    const std::string argument = std::to_string(500'000 + ::getpid());
    const std::string entry = "LAVANT_PROCESS_TEST=" + argument;
    const pid_t child = ::fork();
    if (child == 0) {
        const char* const arguments[] = {"sleep", argument.c_str(), nullptr};
        const char* const environment[] = {"A=1", entry.c_str(), nullptr};
        ::execve("/bin/sleep", const_cast<char**>(arguments), const_cast<char**>(environment));
        ::_exit(1);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (processes_with_argument(argument).empty() && std::chrono::steady_clock::now() < deadline)
        ::usleep(1000);
    EXPECT_EQ(processes_with_argument(argument), std::vector<pid_t>{child});
    EXPECT_EQ(processes_with_environment(entry), std::vector<pid_t>{child});
    EXPECT_TRUE(processes_with_environment("LAVANT_PROCESS_TEST=").empty());
    end(child);
}

}  // namespace
}  // namespace lavant::host
