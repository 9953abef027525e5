#pragma once
// `lavant tour`: the README's first quarter of an hour, live, on a throw-away server.

#include "cli/context.h"

namespace lavant {

struct TourOptions {
    bool go_on = false;  // do not wait for Enter
};
[[nodiscard]] cli::Outcome<cli::Exit> take_tour(cli::Context& context, const TourOptions& options);

}  // namespace lavant
