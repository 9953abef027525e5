// `lavant sandbox` and `lavant tour`

#include <CLI/CLI.hpp>

#include "base/files.h"
#include "main/commands/families.h"
#include "main/throwaway.h"
#include "main/tour.h"

namespace lavant {

using cli::Context;
using cli::Exit;
using cli::Outcome;

void add_sandbox(CommandLine& line) {
    CLI::App& sandbox =
        CommandLine::add(line.root(), "sandbox", "run a command with a server of its own, then remove it all",
                         "lavant sandbox -- pytest tests");
    CommandLine::takes_command(sandbox);
    line.runs(sandbox, [&line](Context& context) -> Outcome<Exit> {
        LAVANT_TRY(const Throwaway server, Throwaway::start(context));
        LAVANT_TRY(const int code, server.run(line.trailing(), working_folder()));
        return static_cast<Exit>(code);
    });

    auto& options = line.keep<TourOptions>();
    CLI::App& tour = CommandLine::add(
        line.root(), "tour", "see it work: three minutes, offline, nothing is left behind", "lavant tour");
    tour.add_flag("-y,--yes", options.go_on, "do not wait for Enter between the steps");
    line.runs(tour, [&options](Context& context) { return take_tour(context, options); });
}

}  // namespace lavant
