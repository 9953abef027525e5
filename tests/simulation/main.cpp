// lavant-sim --seed N [--count M] [--verbose]: runs seeds N .. N+M-1; a failing one prints the command that
// replays it.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/log.h"
#include "tests/simulation/world.h"

namespace {

long long number_after(int argc, char** argv, const std::string& flag, long long fallback) {
    for (int i = 1; i + 1 < argc; ++i)
        if (flag == argv[i]) return std::atoll(argv[i + 1]);
    return fallback;
}

}  // namespace

int main(int argc, char** argv) {
    using lavant::simulation::Report;
    using lavant::simulation::World;
    const long long first = number_after(argc, argv, "--seed", 1);
    const long long count = number_after(argc, argv, "--count", 1);
    bool verbose = false;
    for (int i = 1; i < argc; ++i) verbose = verbose || std::string(argv[i]) == "--verbose";
    lavant::configure_log({.least = lavant::Level::Silent});

    long long failed = 0;
    std::size_t jobs = 0;
    for (long long seed = first; seed < first + count; ++seed) {
        const Report report = World(static_cast<std::uint64_t>(seed), verbose).run();
        jobs += report.jobs;
        std::vector<std::string> failures = report.failures;
        // One seed in sixteen runs twice: the same seed must do the same.
        if (failures.empty() && seed % 16 == 0 &&
            World(static_cast<std::uint64_t>(seed), false).run().hash != report.hash)
            failures.push_back("two runs of this seed differ");
        if (failures.empty()) continue;
        ++failed;
        for (const std::string& failure : failures) std::printf("seed %lld: %s\n", seed, failure.c_str());
        std::printf("replay: lavant-sim --seed %lld --verbose\n", seed);
    }
    std::printf("simulation: %lld seeds from %lld, %zu jobs\n%lld passed, %lld failed\n", count, first, jobs,
                count - failed, failed);
    return failed == 0 ? 0 : 1;
}
