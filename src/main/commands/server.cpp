// `lavant up | down | status | env`

#include <CLI/CLI.hpp>

#include "cli/environment.h"
#include "cli/server_commands.h"
#include "main/commands/families.h"
#include "main/purge.h"

namespace lavant {

namespace {

using cli::Context;
using cli::EnvFormat;

constexpr std::pair<const char*, EnvFormat> kEnvFormats[] = {{"sh", EnvFormat::Sh},
                                                             {"fish", EnvFormat::Fish},
                                                             {"dotenv", EnvFormat::Dotenv},
                                                             {"powershell", EnvFormat::Powershell}};

void add_env(CommandLine& line) {
    struct Options {
        std::string format = "sh";
        bool unset = false;
    };
    auto& options = line.keep<Options>();
    CLI::App& env = CommandLine::add(
        line.root(), "env", "the variables that lead other clients to the server", "eval \"$(lavant env)\"");
    env.add_option("--format", options.format, "sh, fish, dotenv or powershell; sh if left out")
        ->check(CLI::IsMember({"sh", "fish", "dotenv", "powershell"}).description(""))
        ->option_text("FORMAT");
    env.add_flag("--unset", options.unset, "print the lines that take the variables away again");
    line.add_server(env);
    line.runs(env, [&line, &options](Context& context) {
        EnvFormat format = EnvFormat::Sh;
        for (const auto& [word, one] : kEnvFormats)
            if (options.format == word) format = one;
        return options.unset ? cli::print_environment_undone(context, format)
                             : cli::print_environment(context, line.choice(), format);
    });
}

}  // namespace

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
    line.add_data(up);
    line.runs(up, [&line, &port](Context& context) { return cli::bring_up(context, line.choice(), port); });

    auto& removal = line.keep<Removal>();
    CLI::App& down =
        CommandLine::add(line.root(), "down", "stop the local server; running jobs go on", "lavant down");
    down.add_flag("--purge", removal.purge, "end every job too and remove the data folder");
    down.add_flag("-y,--yes", removal.yes, "do not ask");
    line.add_data(down);
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

    add_env(line);
}

}  // namespace lavant
