// `lavant datastore …`

#include <CLI/CLI.hpp>

#include "cli/datastore_commands.h"
#include "main/commands/families.h"
#include "main/commands/file_flags.h"

namespace lavant {
namespace {

using cli::Context;
using cli::FileOptions;
using cli::Session;

constexpr FileFlag kFlags[] = {
    {"-n,--name", "name", "what jobs find it by", "NAME"},
    {"-p,--path", "path", "a folder of the server's machine, which is all it takes", "DIR"},
    {"-t,--type", "type", "azure_blob, azure_file, ...; local with --path", "TYPE"},
    {"--description", "description", "what it holds", "TEXT"},
    {"--account-name", "account_name", "storage account", "NAME"},
    {"--container-name", "container_name", "of azure_blob", "NAME"},
};

using StoreCommand = std::function<cli::Outcome<cli::Exit>(Session&, Context&, const std::string& name)>;
void runs_on_store(CommandLine& line, CLI::App& command, StoreCommand what) {
    auto& name = line.keep<std::string>();
    command.add_option("-n,--name,name", name, "name of the datastore")->required()->option_text("NAME");
    line.add_server(command);
    line.runs_with_session(command, [&name, what = std::move(what)](Session& session, Context& context) {
        return what(session, context, name);
    });
}

void add_makers(CommandLine& line, CLI::App& parent) {
    auto& options = line.keep<FileOptions>();
    CLI::App& create = CommandLine::add(parent, "create", "make a datastore of a folder, or from a file",
                                        "lavant datastore create --name team --path /data/team\n"
                                        "lavant datastore create -f blob.yml");
    add_file(create, options);
    add_flags(create, options, kFlags);
    add_changes(line, create, options);
    line.runs(create, [&line, &options](Context& context) {
        return cli::create_datastore(context, line.choice(), options, line.output());
    });
    auto& checked = line.keep<FileOptions>();
    CLI::App& validate = CommandLine::add(parent, "validate", "check a file; needs no server",
                                          "lavant datastore validate -f blob.yml");
    add_validated_file(line, validate, checked);
    line.runs(validate, [&line, &checked](Context& context) {
        return cli::validate_datastore(context, checked, line.output());
    });
}

}  // namespace

void add_datastore_family(CommandLine& line) {
    CLI::App& parent = CommandLine::add_family(line.root(), "datastore", "where files lie",
                                               "lavant datastore create --name team --path /data/team");
    add_makers(line, parent);

    CLI::App& show = CommandLine::add(parent, "show", "a datastore without its secrets",
                                      "lavant datastore show workspaceblobstore");
    line.add_output(show);
    runs_on_store(line, show, [&line](Session& session, Context& context, const std::string& name) {
        return cli::show_datastore(session, context.console, name, line.output());
    });

    auto& max = line.keep<int>(0);
    CLI::App& list = CommandLine::add(parent, "list", "datastores of the workspace", "lavant datastore list");
    add_max(list, max);
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &max](Session& session, Context& context) {
        return cli::list_datastores(session, context.console, max, line.output());
    });

    auto& settings = line.keep<std::vector<std::string>>();
    CLI::App& update = CommandLine::add(parent, "update", "change description and tags",
                                        "lavant datastore update team --set tags.team=vision");
    line.add_settings(update, settings, "description=TEXT, tags.KEY=VALUE");
    line.add_output(update);
    runs_on_store(line, update,
                  [&line, &settings](Session& session, Context& context, const std::string& name) {
                      return cli::update_datastore(session, context.console, name, settings, line.output());
                  });

    auto& yes = line.keep<bool>(false);
    CLI::App& remove = CommandLine::add(parent, "delete", "forget a datastore; its files stay where they are",
                                        "lavant datastore delete team --yes");
    remove.add_flag("-y,--yes", yes, "do not ask");
    runs_on_store(line, remove, [&yes](Session& session, Context& context, const std::string& name) {
        return cli::delete_datastore(session, context, name, yes);
    });
    add_datastore_files(line, parent);
}

}  // namespace lavant
