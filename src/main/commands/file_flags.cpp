#include "main/commands/file_flags.h"

#include <CLI/CLI.hpp>

namespace lavant {

void add_flag_options(CLI::App& command, cli::FileOptions& options, const FileFlag* flags,
                      std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        command.add_option(flags[i].names, options.words[flags[i].key], flags[i].about)
            ->option_text(flags[i].text);
}

void runs_on_named(CommandLine& line, CLI::App& command, const std::string& noun, NamedCommand what) {
    auto& name = line.keep<std::string>();
    command.add_option("-n,--name,name", name, "name of the " + noun)->required()->option_text("NAME");
    command.add_flag("--no-wait")->group("");
    line.add_server(command);
    line.runs_with_session(command,
                           [&name, what = std::move(what)](cli::Session& session, cli::Context& context) {
                               return what(session, context, name);
                           });
}

void add_file_makers(CommandLine& line, CLI::App& parent, const FileFamily& family, const FileFlag* flags,
                     std::size_t count) {
    auto& options = line.keep<cli::FileOptions>();
    CLI::App& create = CommandLine::add(parent, "create", family.about, family.create_example);
    add_file(create, options);
    add_flag_options(create, options, flags, count);
    add_changes(line, create, options);
    line.runs(create, [&line, &options, make = family.create](cli::Context& context) {
        return make(context, line.choice(), options, line.output());
    });
    auto& checked = line.keep<cli::FileOptions>();
    CLI::App& validate =
        CommandLine::add(parent, "validate", "check a file; needs no server", family.validate_example);
    add_validated_file(line, validate, checked);
    line.runs(validate, [&line, &checked, check = family.validate](cli::Context& context) {
        return check(context, checked, line.output());
    });
}

void add_file(CLI::App& command, cli::FileOptions& options) {
    command.add_option("-f,--file", options.file, "file (YAML); - reads standard input")->option_text("FILE");
}

void add_changes(CommandLine& line, CLI::App& command, cli::FileOptions& options) {
    command.add_option("--tags", options.tags, "several may follow")
        ->option_text("KEY=VALUE")
        ->allow_extra_args()
        ->take_all();
    line.add_settings(command, options.settings, "change a value of the file: --set tags.team=vision");
    command.add_flag("--dry-run", options.dry_run, "check it and print what would be sent");
    command.add_flag("--no-wait")->group("");
    line.add_output(command);
    line.add_server(command);
}

void add_target(CLI::App& command, bool& for_azure) {
    command
        .add_option_function<std::string>(
            "--target", [&for_azure](const std::string& target) { for_azure = target == "azure"; },
            "azure: list what Azure would refuse or ignore")
        ->check(CLI::IsMember({"azure", "lavant"}).description(""))
        ->option_text("TARGET");
}

void add_validated_file(CommandLine& line, CLI::App& command, cli::FileOptions& options) {
    command.add_option("-f,--file,file", options.file, "file (YAML); - reads standard input")
        ->required()
        ->option_text("FILE");
    line.add_settings(command, options.settings, "change a value of the file: --set name=other");
    add_target(command, options.for_azure);
    line.add_output(command);
}

cli::AssetFilter ListFlags::read() const {
    return {.name = name,
            .archived = archived_only      ? cli::Archived::Only
                        : include_archived ? cli::Archived::Too
                                           : cli::Archived::No,
            .max = max};
}

void add_max(CLI::App& command, int& max) {
    command.add_option("-r,--max-results", max, "at most so many")
        ->check(CLI::Range(1, 100'000).description(""))
        ->option_text("N");
}

void add_list_flags(CLI::App& command, ListFlags& flags) {
    add_max(command, flags.max);
    CLI::Option* only =
        command.add_flag("--archived-only", flags.archived_only, "only those that are archived");
    command.add_flag("--include-archived", flags.include_archived, "those that are archived, too")
        ->excludes(only);
}

}  // namespace lavant
