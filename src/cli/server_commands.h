#pragma once
// `lavant up | down | status | key`: the server itself, and who may use it.

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"

namespace lavant::cli {

[[nodiscard]] Outcome<Exit> bring_up(Context& context, const ServerChoice& choice, int port);
[[nodiscard]] Outcome<Exit> take_down(Context& context, const ServerChoice& choice);
[[nodiscard]] Outcome<Exit> show_status(Context& context, const ServerChoice& choice, const Output& output);

[[nodiscard]] Outcome<Exit> create_key(Session& session, const Console& console, const std::string& user);
[[nodiscard]] Outcome<Exit> list_keys(Session& session, const Console& console, const Output& output);
[[nodiscard]] Outcome<Exit> revoke_key(Session& session, const Console& console, const std::string& id);

}  // namespace lavant::cli
