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

constexpr FileFamily kFiles{"make a datastore of a folder, or from a file",
                            "lavant datastore create --name team --path /data/team\n"
                            "lavant datastore create -f blob.yml",
                            "lavant datastore validate -f blob.yml", cli::create_datastore,
                            cli::validate_datastore};

}  // namespace

void add_datastore_family(CommandLine& line) {
    CLI::App& parent = CommandLine::add_family(line.root(), "datastore", "where files lie",
                                               "lavant datastore create --name team --path /data/team");
    add_makers(line, parent, kFiles, kFlags);

    CLI::App& show = CommandLine::add(parent, "show", "a datastore without its secrets",
                                      "lavant datastore show workspaceblobstore");
    line.add_output(show);
    runs_on_named(line, show, "datastore",
                  [&line](Session& session, Context& context, const std::string& name) {
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
    runs_on_named(line, update, "datastore",
                  [&line, &settings](Session& session, Context& context, const std::string& name) {
                      return cli::update_datastore(session, context.console, name, settings, line.output());
                  });

    auto& yes = line.keep<bool>(false);
    CLI::App& remove = CommandLine::add(parent, "delete", "forget a datastore; its files stay where they are",
                                        "lavant datastore delete team --yes");
    remove.add_flag("-y,--yes", yes, "do not ask");
    runs_on_named(line, remove, "datastore",
                  [&yes](Session& session, Context& context, const std::string& name) {
                      return cli::delete_datastore(session, context, name, yes);
                  });
    add_datastore_files(line, parent);
}

}  // namespace lavant
