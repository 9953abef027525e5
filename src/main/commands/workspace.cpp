// `lavant workspace …`

#include <CLI/CLI.hpp>

#include "cli/workspace_commands.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;
using cli::Session;

// az names it by --name, too.
void add_name(CommandLine& line, CLI::App& command) {
    command.add_option("-n,--name", line.choice().workspace.name, "name of the workspace")
        ->option_text("NAME");
}

}  // namespace

void add_workspace_family(CommandLine& line) {
    CLI::App& workspace = CommandLine::add_family(line.root(), "workspace", "settings of the workspace",
                                                  "lavant workspace update --serverless off");
    CLI::App& show = CommandLine::add(workspace, "show", "how the workspace is set", "lavant workspace show");
    add_name(line, show);
    line.add_output(show);
    line.add_server(show);
    line.runs_with_session(show, [&line](Session& session, Context& context) {
        return cli::show_workspace(session, context.console, line.output());
    });

    auto& words = line.keep<cli::WorkspaceWords>();
    CLI::App& update = CommandLine::add(workspace, "update", "change its settings; for owners",
                                        "lavant workspace update --serverless off");
    update.add_option("-f,--file", words.file, "workspace file (YAML)")->option_text("FILE");
    update.add_option("--serverless", words.serverless, "on or off: whether a job may leave compute out")
        ->check(CLI::IsMember({"on", "off"}).description(""))
        ->option_text("WORD");
    update.add_option("-d,--description", words.description, "what it is for")->option_text("TEXT");
    update.add_option("--display-name", words.display_name, "name that is shown")->option_text("TEXT");
    add_name(line, update);
    line.add_output(update);
    line.add_server(update);
    line.runs(update, [&line, &words](Context& context) -> Outcome<Exit> {
        LAVANT_TRY(const cli::WorkspaceChange change, cli::plan_workspace_change(words));
        LAVANT_TRY(Session session, cli::connect(context, line.choice()));
        return cli::update_workspace(session, context.console, change, line.output());
    });
}

}  // namespace lavant
