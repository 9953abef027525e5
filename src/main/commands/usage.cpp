// `lavant usage`

#include <CLI/CLI.hpp>

#include "cli/usage_commands.h"
#include "main/commands/families.h"

namespace lavant {

void add_usage(CommandLine& line) {
    auto& options = line.keep<cli::UsageOptions>();
    CLI::App& usage = CommandLine::add(line.root(), "usage", "node-hours and their price, by whom or what",
                                       "lavant usage --by job --since 7d");
    usage.add_option("--by", options.by, "user, job or compute; user if left out")->option_text("WHAT");
    usage.add_option("--since", options.since, "what ended after this: 7d, 12h, 2026-01-31")
        ->option_text("TIME");
    usage.add_option("--until", options.until, "what ended before this")->option_text("TIME");
    usage.add_option("-r,--max-results", options.max, "at most so many lines")
        ->check(CLI::Range(1, 10'000).description(""))
        ->option_text("N");
    line.add_output(usage);
    line.add_server(usage);
    line.runs_with_session(usage, [&line, &options](cli::Session& session, cli::Context& context) {
        return cli::show_usage(session, context.console, options, line.output());
    });
}

}  // namespace lavant
