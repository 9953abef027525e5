// `lavant schedule …`

#include <CLI/CLI.hpp>

#include "cli/schedule_commands.h"
#include "main/commands/families.h"
#include "main/commands/file_flags.h"

namespace lavant {
namespace {

using cli::Context;
using cli::FileOptions;
using cli::Session;

constexpr FileFlag kFlags[] = {
    {"-n,--name", "name", "what it is called", "NAME"},
    {"--display-name", "display_name", "name that is shown", "TEXT"},
    {"--description", "description", "what it is for", "TEXT"},
};

constexpr FileFamily kFiles{"make a schedule from a file", "lavant schedule create -f nightly.yml",
                            "lavant schedule validate -f nightly.yml", cli::create_schedule,
                            cli::validate_schedule};

void add_looks(CommandLine& line, CLI::App& parent) {
    CLI::App& show =
        CommandLine::add(parent, "show", "a schedule and what it makes", "lavant schedule show nightly");
    line.add_output(show);
    runs_on_named(line, show, "schedule",
                  [&line](Session& session, Context& context, const std::string& name) {
                      return cli::show_schedule(session, context.console, name, line.output());
                  });
    auto& filter = line.keep<cli::ScheduleFilter>();
    CLI::App& list = CommandLine::add(parent, "list", "schedules that are enabled",
                                      "lavant schedule list --include-disabled");
    CLI::Option* only = list.add_flag("--disabled-only", filter.disabled_only, "only those that are not");
    list.add_flag("--include-disabled", filter.include_disabled, "those that are not, too")->excludes(only);
    add_max(list, filter.max);
    line.add_output(list);
    line.add_server(list);
    line.runs_with_session(list, [&line, &filter](Session& session, Context& context) {
        return cli::list_schedules(session, context.console, filter, line.output());
    });
}

void add_update(CommandLine& line, CLI::App& parent) {
    auto& options = line.keep<FileOptions>();
    CLI::App& update =
        CommandLine::add(parent, "update", "change when it fires, and words about it",
                         "lavant schedule update nightly --set trigger.expression=\"0 4 * * *\"");
    add_file(update, options);
    update.add_option("-n,--name,name", options.words["name"], "name of the schedule")->option_text("NAME");
    add_changes(line, update, options);
    line.runs(update, [&line, &options](Context& context) -> cli::Outcome<cli::Exit> {
        if (!options.file.empty())
            return cli::replace_schedule(context, line.choice(), options, line.output());
        if (options.words["name"].empty())
            return cli::stop(cli::Exit::Usage, ErrorCode::InvalidArgument,
                             "say which schedule: lavant schedule update NAME");
        LAVANT_TRY(Session session, cli::connect(context, line.choice()));
        return cli::update_schedule(session, context.console, options, line.output());
    });
}

void add_switches(CommandLine& line, CLI::App& parent) {
    constexpr std::tuple<const char*, bool, const char*> kVerbs[] = {
        {"enable", true, "let it fire again"},
        {"disable", false, "keep it, but let it not fire"},
        {"restore", true, "the same as enable"},
        {"archive", false, "the same as disable"}};
    for (const auto& [verb, enabled, about] : kVerbs) {
        CLI::App& command =
            CommandLine::add(parent, verb, about, std::string("lavant schedule ") + verb + " nightly");
        runs_on_named(line, command, "schedule",
                      [enabled = enabled](Session& session, Context& context, const std::string& name) {
                          return cli::enable_schedule(session, context.console, name, enabled);
                      });
    }
}

}  // namespace

void add_schedule_family(CommandLine& line) {
    CLI::App& parent = CommandLine::add_family(line.root(), "schedule", "jobs that are made again and again",
                                               "lavant schedule create -f nightly.yml");
    add_makers(line, parent, kFiles, kFlags);
    add_looks(line, parent);
    add_update(line, parent);
    add_switches(line, parent);
    CLI::App& trigger =
        CommandLine::add(parent, "trigger", "make its job once, now", "lavant schedule trigger nightly");
    line.add_output(trigger);
    runs_on_named(line, trigger, "schedule",
                  [&line](Session& session, Context& context, const std::string& name) {
                      return cli::trigger_schedule(session, context.console, name, line.output());
                  });
    auto& yes = line.keep<bool>(false);
    CLI::App& remove = CommandLine::add(parent, "delete", "remove a disabled schedule",
                                        "lavant schedule delete nightly --yes");
    remove.add_flag("-y,--yes", yes, "do not ask");
    runs_on_named(line, remove, "schedule",
                  [&yes](Session& session, Context& context, const std::string& name) {
                      return cli::delete_schedule(session, context, name, yes);
                  });
}

}  // namespace lavant
