#include "cli/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace lavant::cli {

Outcome<void> in_parallel(Session& session, const Context& context, int threads, std::size_t count,
                          const Work& work) {
    std::atomic<std::size_t> next = 0;
    std::mutex mutex;  // guards failure
    std::optional<Failure> failure;
    const auto run = [&](Session& own) {
        while (true) {
            const std::size_t at = next.fetch_add(1);
            if (at >= count) return;
            auto done = work(own, at);
            if (done) continue;
            const std::lock_guard lock(mutex);
            if (!failure) failure = done.error();
            next = count;
        }
    };
    const auto others = std::min<std::size_t>(
        count == 0 ? 0 : count - 1, static_cast<std::size_t>(std::clamp(threads, 1, kParallelMax)) - 1);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < others; ++i)
        running.emplace_back([&] {
            Session own(context.make_client(session.address().ca_file), session.address());
            run(own);
        });
    run(session);
    for (std::thread& thread : running) thread.join();
    if (failure) return tl::make_unexpected(*failure);
    return {};
}

}  // namespace lavant::cli
