#include "host/cgroups.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/text.h"

namespace lavant::host {
namespace {

TEST(CgroupPlaceTest, FindsThePureLayout) {
    const CgroupPlace place = parse_cgroup_place(
        "22 1 0:21 / /proc rw - proc proc rw\n30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 "
        "cgroup2 rw,nsdelegate\n",
        "0::/user.slice/user-1000.slice\n");
    EXPECT_EQ(place, CgroupPlace{.unified = "/sys/fs/cgroup/user.slice/user-1000.slice"});
}

TEST(CgroupPlaceTest, FindsTheHybridLayout) {
    const CgroupPlace place = parse_cgroup_place(
        "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
        "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
        "8:pids:/\n4:memory:/box/a\n2:cpuacct:/x\n1:cpu:/\n0::/\n");
    EXPECT_EQ(place, (CgroupPlace{.unified = "/sys/fs/cgroup/unified",
                                  .memory = "/sys/fs/cgroup/memory/box/a",
                                  .cpu = "/sys/fs/cgroup/cpu",
                                  .pids = "/sys/fs/cgroup/pids"}));
}

TEST(CgroupPlaceTest, AMountThatShowsAPartOfTheTree) {
    const char* mounts = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    EXPECT_EQ(parse_cgroup_place(mounts, "0::/docker/abc/inner\n").unified, "/sys/fs/cgroup/inner");
    EXPECT_EQ(parse_cgroup_place(mounts, "0::/docker/abc\n").unified, "/sys/fs/cgroup");
    EXPECT_EQ(parse_cgroup_place(mounts, "0::/elsewhere\n").unified, "");
    EXPECT_EQ(parse_cgroup_place("30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n", "0::/../outside\n")
                  .unified,
              "");
}

TEST(CgroupPlaceTest, AnyTextGivesAPlace) {
    for (const char* text :
         {"", "\n\n", "a b c", "30 23 0:26 / /x rw -", "::::", "0::", "1 2 3 4 5 6 - cgroup2"})
        EXPECT_EQ(parse_cgroup_place(text, text), CgroupPlace{}) << text;
}

// A process that sleeps until it is killed.
pid_t start_sleeper() {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGTERM, SIG_IGN);
        while (true) ::pause();
    }
    return child;
}

TEST(CgroupTest, TracksKillsAndGoes) {
    auto made = Cgroup::make(own_cgroup_place(), "lavant-test-" + std::to_string(::getpid()), {});
    if (!made) GTEST_SKIP() << "no cgroups for this user: " << made.error().message;
    EXPECT_FALSE(made->populated());
    auto below = Cgroup::make(made->place(), "below", {});
    ASSERT_TRUE(below) << below.error().message;
    const pid_t first = start_sleeper();
    const pid_t second = start_sleeper();
    EXPECT_TRUE(made->add(first));
    EXPECT_TRUE(below->add(second));
    EXPECT_TRUE(made->populated());
    EXPECT_FALSE(made->remove());
    EXPECT_TRUE(made->kill_all(std::chrono::seconds(20)));
    EXPECT_FALSE(made->populated());
    for (const pid_t child : {first, second}) {
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_EQ(status, SIGKILL);
    }
    EXPECT_TRUE(made->remove());
    EXPECT_FALSE(exists(made->place().unified));
    EXPECT_TRUE(made->remove());
}

// In the pure layout this moves the process; so it comes last.
TEST(CgroupTest, LimitsHoldAndThePlaceForThemStaysTheSame) {
    const CgroupPlace place = place_for_limits();
    EXPECT_EQ(place_for_limits(), place);
    auto made = Cgroup::make(place, "lavant-limits-" + std::to_string(::getpid()),
                             {.memory_bytes = 64LL << 20, .cpu_millis = 500, .pids = 3});
    if (!made) GTEST_SKIP() << "no cgroups for this user: " << made.error().message;
    constexpr int kRefused = 21;
    const pid_t child = ::fork();
    if (child == 0) {
        if (!made->add(::getpid())) ::_exit(20);
        for (int i = 0; i < 3; ++i)
            if (const pid_t below = ::fork(); below <= 0) {
                if (below < 0) ::_exit(errno == EAGAIN ? kRefused : 22);
                while (true) ::pause();
            }
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(made->kill_all(std::chrono::seconds(20)));
    EXPECT_TRUE(made->remove());
    if (!made->missing_limits().empty())
        GTEST_SKIP() << "no limits: this cgroup has no controllers, or others are in it";
    EXPECT_EQ(WEXITSTATUS(status), kRefused);
}

}  // namespace
}  // namespace lavant::host
