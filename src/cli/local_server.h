#pragma once
// The server that the command line starts for itself when nothing else is configured: finding it, starting it
// once however many ask, stopping it.
//
// A server holds DATA/lock (flock) while it lives and writes DATA/endpoint when it is ready. A starter passes
// a pipe (--ready-fd); the server writes one line into it: "ready", "taken" (another server holds the lock)
// or "error <sentence>". A pipe closed without a line means that it died; DATA/serve.log says why.

#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/outcome.h"
#include "cli/session.h"

namespace lavant::cli {

// --data, else `data` of the configuration ($LAVANT_DATA), else $XDG_STATE_HOME/lavant, else
// ~/.local/state/lavant. Absolute.
[[nodiscard]] Outcome<std::string> data_folder(const Context& context, const std::string& from_flag);

struct LocalServer {
    ServerAddress address;
    int pid = 0;
    Build build;
    std::string since;         // RFC 3339
    bool is_embedded = false;  // started by a command line, not by `lavant serve`
    bool leaves_when_idle = true;
    std::unique_ptr<ports::HttpClient> client;  // its connection is open already
};

// The server of this data folder, if it answers /health. A stale endpoint file counts as none.
std::optional<LocalServer> find_local_server(Context& context, const std::string& data);

struct StartOptions {
    std::string data;
    int port = 0;  // 0: any
    bool leaves_when_idle = true;
};
// Finds it or starts it and waits until it answers; says so in one line. `started` tells which. One that an
// older command line started gives way to one of this program; tasks outlive that.
struct Started {
    LocalServer server;
    bool started = false;
};
[[nodiscard]] Outcome<Started> find_or_start_local_server(Context& context, const StartOptions& options);

// Asks it to leave and waits until it is gone. False if there was none.
[[nodiscard]] Outcome<bool> stop_local_server(Context& context, const std::string& data);

}  // namespace lavant::cli
