// `lavant workspace …`

#include <CLI/CLI.hpp>

#include "cli/workspace_commands.h"
#include "main/commands/families.h"
#include "main/commands/file_flags.h"

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

void add_settings(CommandLine& line, CLI::App& workspace) {
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

void add_makers(CommandLine& line, CLI::App& workspace) {
    auto& make = line.keep<cli::WorkspaceMake>();
    CLI::App& create = CommandLine::add(workspace, "create", "make a workspace; for owners",
                                        "lavant workspace create --name vision\n"
                                        "lavant workspace create -f workspace.yml");
    create.add_option("-f,--file", make.file, "workspace file (YAML); - reads standard input")
        ->option_text("FILE");
    create.add_option("-n,--name", make.name, "what it is called")->option_text("NAME");
    create.add_option("--display-name", make.display_name, "name that is shown")->option_text("TEXT");
    create.add_option("-d,--description", make.description, "what it is for")->option_text("TEXT");
    create.add_option("--tags", make.tags, "several may follow")
        ->option_text("KEY=VALUE")
        ->allow_extra_args()
        ->take_all();
    create.add_option_function<std::string>("-l,--location", [](const std::string&) {})->group("");
    create.add_flag("--dry-run", make.dry_run, "check it and print what would be sent");
    create.add_flag("--no-wait")->group("");
    line.add_output(create);
    line.add_server(create);
    line.runs(create, [&line, &make](Context& context) {
        return cli::create_workspace(context, line.choice(), make, line.output());
    });

    auto& file = line.keep<std::string>();
    CLI::App& validate = CommandLine::add(workspace, "validate", "check a workspace file; needs no server",
                                          "lavant workspace validate -f workspace.yml");
    validate.add_option("-f,--file,file", file, "workspace file (YAML); - reads standard input")
        ->required()
        ->option_text("FILE");
    line.add_output(validate);
    line.runs(validate, [&line, &file](Context& context) {
        return cli::validate_workspace(context, file, line.output());
    });
}

void add_list(CommandLine& line, CLI::App& workspace) {
    auto& max = line.keep<int>(0);
    CLI::App& list = CommandLine::add(
        workspace, "list", "workspaces of the subscription, or of a resource group", "lavant workspace list");
    add_max(list, max);
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &max](Session& session, Context& context) {
        const bool of_group = !line.choice().workspace.resource_group.empty();
        return cli::list_workspaces(session, context.console, of_group, max, line.output());
    });
}

void add_delete(CommandLine& line, CLI::App& workspace) {
    struct Options {
        std::string name;
        bool yes = false;
    };
    auto& options = line.keep<Options>();
    CLI::App& remove =
        CommandLine::add(workspace, "delete", "remove a workspace with everything in it; for owners",
                         "lavant workspace delete vision --yes");
    remove.add_option("-n,--name,name", options.name, "name of the workspace")
        ->required()
        ->option_text("NAME");
    remove.add_flag("-y,--yes", options.yes, "do not ask");
    for (const char* flag : {"--no-wait", "--all-resources", "-p,--permanently-delete"})
        remove.add_flag(flag)->group("");
    line.add_server(remove);
    line.runs_with_session(remove, [&options](Session& session, Context& context) {
        return cli::delete_workspace(session, context, options.name, options.yes);
    });
}

void add_config(CommandLine& line, CLI::App& workspace) {
    auto& folder = line.keep<std::string>();
    CLI::App& config =
        CommandLine::add(workspace, "config", "write .azureml/config.json for MLClient.from_config()",
                         "lavant workspace config -w vision");
    config.add_option("-p,--path", folder, "the folder that gets it; the current one if left out")
        ->option_text("DIR");
    add_name(line, config);
    line.add_server(config);
    line.runs(config, [&line, &folder](Context& context) {
        return cli::write_workspace_config(context, line.choice(), folder);
    });
}

}  // namespace

void add_workspace_family(CommandLine& line) {
    CLI::App& workspace = CommandLine::add_family(line.root(), "workspace", "workspaces and their settings",
                                                  "lavant workspace create --name vision");
    add_makers(line, workspace);
    add_settings(line, workspace);
    add_list(line, workspace);
    add_delete(line, workspace);
    if (line.manner() == Manner::Lavant) add_config(line, workspace);
}

}  // namespace lavant
