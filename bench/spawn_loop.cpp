// The limit: a bare posix_spawn of /bin/true and its wait, N times, P in flight. Prints a JSON line.

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

extern char** environ;

namespace {

double seconds_of(const timeval& value) {
    return static_cast<double>(value.tv_sec) + static_cast<double>(value.tv_usec) / 1e6;
}

double cpu_seconds() {
    rusage self{};
    rusage children{};
    ::getrusage(RUSAGE_SELF, &self);
    ::getrusage(RUSAGE_CHILDREN, &children);
    return seconds_of(self.ru_utime) + seconds_of(self.ru_stime) + seconds_of(children.ru_utime) +
           seconds_of(children.ru_stime);
}

double wall_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 2000;
    const int in_flight_max = argc > 2 ? std::atoi(argv[2]) : 2;
    const double cpu_before = cpu_seconds();
    const double wall_before = wall_seconds();
    int started = 0;
    int ended = 0;
    while (ended < count) {
        while (started < count && started - ended < in_flight_max) {
            pid_t child = 0;
            char program[] = "/bin/true";
            char* arguments[] = {program, nullptr};
            if (::posix_spawn(&child, program, nullptr, nullptr, arguments, environ) != 0) return 1;
            ++started;
        }
        int status = 0;
        if (::waitpid(-1, &status, 0) > 0) ++ended;
    }
    const double wall = wall_seconds() - wall_before;
    const double cpu = cpu_seconds() - cpu_before;
    std::printf("{\"count\": %d, \"wall_s\": %.4f, \"cpu_ms_each\": %.4f, \"per_s\": %.1f}\n", count, wall,
                cpu * 1000 / count, count / wall);
    return 0;
}
