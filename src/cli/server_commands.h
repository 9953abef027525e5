#pragma once
// `lavant up | down | status`: the server itself.

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"

namespace lavant::cli {

[[nodiscard]] Outcome<Exit> bring_up(Context& context, const ServerChoice& choice, int port);
[[nodiscard]] Outcome<Exit> take_down(Context& context, const ServerChoice& choice);
[[nodiscard]] Outcome<Exit> show_status(Context& context, const ServerChoice& choice, const Output& output);

}  // namespace lavant::cli
