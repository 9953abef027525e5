// `lavant config …` and `lavant doctor`

#include "cli/config_commands.h"

#include <CLI/CLI.hpp>

#include "cli/doctor.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::ConfigScope;
using cli::Context;

// Which file is meant.
struct Scope {
    bool project = false;
    bool system = false;
    ConfigScope scope() const {
        return project ? ConfigScope::Project : system ? ConfigScope::System : ConfigScope::User;
    }
    void add_to(CLI::App& command) {
        CLI::Option* one =
            command.add_flag("--project", project, "in the project's .lavant.yml, not in your own file");
        command.add_flag("--system", system, "in /etc/lavant/config.yml, for everybody")->excludes(one);
    }
};

std::string keys_footer() {
    std::string keys;
    for (const cli::ConfigKey& key : cli::config_keys()) (keys += keys.empty() ? "" : ", ") += key.name;
    return keys;
}

void add_show(CommandLine& line, CLI::App& config) {
    auto& with_origins = line.keep<bool>();
    CLI::App& show =
        CommandLine::add(config, "show", "every key with its value", "lavant config show --origin");
    show.add_flag("--origin", with_origins, "and where it comes from");
    line.add_output(show);
    line.add_server(show);
    line.runs(show, [&line, &with_origins](Context& context) {
        return cli::show_config(context, line.choice(), with_origins, line.output());
    });

    auto& key = line.keep<std::string>();
    CLI::App& get = CommandLine::add(config, "get", "the value of one key", "lavant config get workspace");
    get.add_option("key", key, keys_footer())->required()->option_text("KEY");
    line.runs(get, [&key](Context& context) { return cli::get_config(context, key); });

    CLI::App& path = CommandLine::add(config, "path", "which files are read", "lavant config path");
    line.add_output(path);
    line.runs_with_bad_config(
        path, [&line](Context& context) { return cli::show_config_paths(context, line.output()); });
}

void add_set(CommandLine& line, CLI::App& config) {
    struct Options : Scope {
        std::string key;
        std::string value;
    };
    auto& set = line.keep<Options>();
    CLI::App& set_command =
        CommandLine::add(config, "set", "change one key", "lavant config set experiment_name trials");
    set_command.add_option("key", set.key, keys_footer())->required()->option_text("KEY");
    set_command.add_option("value", set.value, "its value")->required()->option_text("VALUE");
    set.add_to(set_command);
    line.runs_with_bad_config(set_command, [&set](Context& context) {
        return cli::set_config(context, set.key, set.value, set.scope());
    });

    auto& unset = line.keep<Options>();
    CLI::App& unset_command =
        CommandLine::add(config, "unset", "remove one key", "lavant config unset experiment_name");
    unset_command.add_option("key", unset.key, keys_footer())->required()->option_text("KEY");
    unset.add_to(unset_command);
    line.runs_with_bad_config(unset_command, [&unset](Context& context) {
        return cli::unset_config(context, unset.key, unset.scope());
    });
}

}  // namespace

void add_config_family(CommandLine& line) {
    CLI::App& config = CommandLine::add_family(line.root(), "config", "settings and where they come from");
    add_show(line, config);
    add_set(line, config);
}

void add_doctor(CommandLine& line) {
    CLI::App& doctor = CommandLine::add(line.root(), "doctor",
                                        "what this machine offers to jobs, what it lacks", "lavant doctor");
    line.add_output(doctor);
    line.add_server(doctor);
    line.runs_with_bad_config(
        doctor, [&line](Context& context) { return cli::run_doctor(context, line.choice(), line.output()); });
}

}  // namespace lavant
