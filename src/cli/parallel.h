#pragma once
// Many small transfers at once.

#include <functional>

#include "cli/context.h"
#include "cli/session.h"

namespace lavant::cli {

inline constexpr int kParallelMax = 64;

// Does `work` for every number below `count`, several at once, each thread with a session of its own. The
// first failure ends it.
using Work = std::function<Outcome<void>(Session&, std::size_t)>;
[[nodiscard]] Outcome<void> in_parallel(Session& session, const Context& context, int threads,
                                        std::size_t count, const Work& work);

}  // namespace lavant::cli
