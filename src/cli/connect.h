#pragma once
// Which server a command talks to: --data or --context, else LAVANT_ENDPOINT, else LAVANT_CONTEXT, else
// `context` of a configuration file, else what `lavant context use` chose, else the embedded one.

#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/outcome.h"
#include "cli/session.h"

namespace lavant::cli {

// What the flags of a command said about where it goes; empty: nothing.
struct ServerChoice {
    std::string data;
    WorkspaceName workspace{{}, {}, {}};
    std::string context = {};
};
// The configuration as it is for a command with these flags.
Config with_flags(Config config, const ServerChoice& flags);

struct ServerInUse {
    enum class Kind { Local, Endpoint, Context };
    Kind kind = Kind::Local;
    std::string name = "local";  // of the context; of an Endpoint: its URL
    std::string by =
        "default";  // what decided: "--context", "LAVANT_CONTEXT", "FILE:3", "lavant context use"
};
ServerInUse server_in_use(const Context& context, const ServerChoice& flags);
// The data folder of an embedded server whose variables the shell has (`lavant env`), running or not; "" if
// LAVANT_ENDPOINT names another.
std::string embedded_behind(const Context& context, const std::string& url);

// Starts the embedded server if that is the choice and none runs.
[[nodiscard]] Outcome<Session> connect(Context& context, const ServerChoice& flags);
// The same, but nothing is started.
std::optional<Session> connect_if_running(Context& context, const ServerChoice& flags);

}  // namespace lavant::cli
