// `lavant up | down | status | env`

#include <CLI/CLI.hpp>

#include "cli/server_commands.h"
#include "main/commands/families.h"
#include "main/purge.h"

namespace lavant {

using cli::Context;

namespace {

struct Removal {
    bool purge = false;
    bool yes = false;
};

}  // namespace

void add_server_family(CommandLine& line) {
    auto& port = line.keep<int>();
    CLI::App& up =
        CommandLine::add(line.root(), "up", "start the local server and leave it running", "lavant up");
    up.add_option("--port", port, "any free one if left out")
        ->check(CLI::Range(0, 65'535).description(""))
        ->option_text("PORT");
    line.add_server(up);
    line.runs(up, [&line, &port](Context& context) { return cli::bring_up(context, line.choice(), port); });

    auto& removal = line.keep<Removal>();
    CLI::App& down =
        CommandLine::add(line.root(), "down", "stop the local server; running jobs go on", "lavant down");
    down.add_flag("--purge", removal.purge, "end every job too and remove the data folder");
    down.add_flag("-y,--yes", removal.yes, "do not ask");
    line.add_server(down);
    line.runs(down, [&line, &removal](Context& context) {
        return removal.purge ? purge(context, line.choice(), removal.yes)
                             : cli::take_down(context, line.choice());
    });

    CLI::App& status =
        CommandLine::add(line.root(), "status", "whether a server runs, and where", "lavant status -o json");
    line.add_output(status);
    line.add_server(status);
    line.runs(status,
              [&line](Context& context) { return cli::show_status(context, line.choice(), line.output()); });

    CLI::App& env = CommandLine::add(
        line.root(), "env", "the variables that lead other clients to the server", "eval \"$(lavant env)\"");
    line.add_server(env);
    line.runs(env, [&line](Context& context) { return cli::print_environment(context, line.choice()); });
}

}  // namespace lavant
