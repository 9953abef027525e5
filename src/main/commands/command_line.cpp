#include "main/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "main/commands/help.h"
#include "main/version.h"

namespace lavant {
namespace {

using cli::Console;
using cli::Exit;
using cli::Format;
using cli::Outcome;

constexpr int kUsage = static_cast<int>(Exit::Usage);

const CLI::App* find_below(const CLI::App& command, const std::string& word) {
    for (const CLI::App* below : command.get_subcommands(std::function<bool(const CLI::App*)>()))
        if (below->get_name() == word) return below;
    return nullptr;
}

// The command that the words lead to, and how many of them named it.
std::pair<const CLI::App*, std::size_t> descend(const CLI::App& root, const std::vector<std::string>& words) {
    const CLI::App* at = &root;
    std::size_t used = 0;
    while (used < words.size()) {
        const CLI::App* below = find_below(*at, words[used]);
        if (below == nullptr) break;
        at = below;
        ++used;
    }
    return {at, used};
}

constexpr std::pair<const char*, Format> kFormats[] = {{"table", Format::Table}, {"json", Format::Json},
                                                       {"jsonc", Format::Jsonc}, {"yaml", Format::Yaml},
                                                       {"tsv", Format::Tsv},     {"none", Format::None}};

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
    const auto near = nearest(word, known);
    return near ? fmt::format("; did you mean '{}'?", *near) : "";
}

std::string suggested_format(const std::string& word) {
    std::vector<std::string> known;
    for (const auto& [name, format] : kFormats) known.emplace_back(name);
    const std::string near = did_you_mean(word, known);
    return near.empty() ? "; there are table, json, jsonc, yaml, tsv and none" : near;
}

// The first word that looks like an option and is none of the command's.
std::string unknown_option(const CLI::App& command, const std::vector<std::string>& words, std::size_t from) {
    const std::vector<std::string> known = option_names(command);
    for (std::size_t i = from; i < words.size() && words[i] != "--"; ++i) {
        const std::string word = words[i].substr(0, words[i].find('='));
        if (!word.starts_with("-") || word == "-" || parse_integer(word)) continue;
        const bool is_short = !word.starts_with("--");
        const std::string name = is_short ? word.substr(0, 2) : word;
        if (std::ranges::find(known, name) == known.end()) return is_short && word.size() > 2 ? word : name;
    }
    return {};
}

std::string suggested_option(const CLI::App& command, const std::string& word) {
    std::vector<std::string> known;
    for (std::string& name : option_names(command))
        if (name.starts_with("--")) known.push_back(std::move(name));
    const std::string whole = word.starts_with("--") ? word : "-" + word;  // "-output" for "--output"
    // The beginning of one option alone is as good as a slip of the pen.
    std::vector<std::string> begun;
    for (const std::string& name : known)
        if (whole.size() > 3 && name.starts_with(whole)) begun.push_back(name);
    if (begun.size() == 1) return fmt::format("; did you mean '{}'?", begun.front());
    return did_you_mean(whole, known);
}

// What is missing, as a person calls it: "NAME" for "name", "--file FILE" for "--file".
std::string called(const CLI::App& command, const std::string& name) {
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_name() != name && option->get_name(true) != name) continue;
        if (option->get_positional()) return option->get_option_text();
        return name + " " + option->get_option_text();
    }
    return name;
}

}  // namespace

CommandLine::CommandLine(Manner manner)
    : app_("Runs Azure ML jobs on your own machines.", manner == Manner::Az ? "az ml" : "lavant"),
      manner_(manner) {
    app_.set_version_flag("--version", std::string("lavant ") + kVersion)
        ->description("the version of this program");
    app_.set_help_flag("-h,--help", "this text");
    app_.footer("lavant submit -- python train.py\nlavant job create -f job.yml --stream");
    output_.format = manner == Manner::Az ? Format::Json : Format::Table;
}

CLI::App& CommandLine::add_family(CLI::App& parent, const std::string& name, const std::string& what) {
    CLI::App* family = parent.add_subcommand(name, what);
    family->require_subcommand(1);
    family->footer("");
    return *family;
}

CLI::App& CommandLine::add(CLI::App& parent, const std::string& name, const std::string& what,
                           const std::string& example) {
    CLI::App* command = parent.add_subcommand(name, what);
    command->footer(example);
    return *command;
}

void CommandLine::add_server(CLI::App& command) {
    CLI::Option* data =
        command.add_option("--data", choice_.data, "data folder of the local server")->option_text("DIR");
    command
        .add_option("--context", choice_.context, "server you logged in to; local: the one of this machine")
        ->option_text("CONTEXT")
        ->excludes(data);
    command.add_option("-g,--resource-group", choice_.workspace.resource_group, "as on Azure")
        ->option_text("GROUP");
    command.add_option("-w,--workspace-name", choice_.workspace.name, "as on Azure")
        ->option_text("WORKSPACE");
    command.add_option("--subscription", choice_.workspace.subscription, "as on Azure")
        ->option_text("SUBSCRIPTION");
}

void CommandLine::add_output(CLI::App& command) {
    const auto check = [this](const std::string& word) -> std::string {
        for (const auto& [name, format] : kFormats) {
            if (!equals_ignoring_case(name, word)) continue;
            output_.format = format;
            return {};
        }
        return fmt::format("there is no format '{}'{}", word, suggested_format(word));
    };
    command.add_option("-o,--output", format_, "table, json, jsonc, yaml, tsv or none")
        ->check(check)
        ->option_text("FORMAT");
    const auto read = [this](const std::string& text) -> std::string {
        auto query = wire::parse_query(text);
        if (!query) return query.error().message;
        output_.query = std::move(*query);
        return {};
    };
    command.add_option("--query", query_, "JMESPath: what of the result is printed")
        ->check(read)
        ->option_text("QUERY");
}

void CommandLine::runs(CLI::App& command, Command what) {
    command.callback([this, what = std::move(what)] { chosen_ = what; });
}

void CommandLine::runs_with_bad_config(CLI::App& command, Command what) {
    command.callback([this, what = std::move(what)] {
        chosen_ = what;
        bears_bad_config_ = true;
    });
}

void CommandLine::set_default_format(const std::string& word) {
    if (!format_.empty() || manner_ == Manner::Az) return;
    for (const auto& [name, format] : kFormats)
        if (word == name) output_.format = format;
}

void CommandLine::runs_with_session(CLI::App& command, SessionCommand what) {
    runs(command, [this, what = std::move(what)](cli::Context& context) -> Outcome<Exit> {
        LAVANT_TRY(cli::Session session, cli::connect(context, choice_));
        return what(session, context);
    });
}

Command CommandLine::parse(const std::vector<std::string>& words, int& exit_code) {
    try {
        app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 wants them reversed.
        if (chosen_) return chosen_;
        std::cerr << render_help(app_, 80);
        exit_code = kUsage;
    } catch (const CLI::CallForHelp&) {
        std::cout << render_help(*descend(app_, words).first, 80);
        exit_code = 0;
    } catch (const CLI::ParseError& error) {
        // CLI11 answers --version this way too, with code 0.
        exit_code =
            error.get_exit_code() == 0 ? app_.exit(error, std::cout, std::cerr) : refuse(words, error);
    }
    std::cout.flush();
    return {};
}

int CommandLine::refuse(const std::vector<std::string>& words, const CLI::ParseError& error) const {
    const auto [command, used] = descend(app_, words);
    const std::string path = path_of(*command);
    const bool family = !commands_below(*command).empty();
    std::string message;
    if (family && used < words.size() && !words[used].starts_with("-")) {
        std::vector<std::string> known;
        for (const CLI::App* below : commands_below(*command)) known.push_back(below->get_name());
        message = fmt::format("'{} {}' is no command{}", path, words[used], did_you_mean(words[used], known));
    } else if (const std::string option = unknown_option(*command, words, used); !option.empty()) {
        message = fmt::format("'{}' has no option '{}'{}", path, option, suggested_option(*command, option));
    } else if (family) {
        message = fmt::format("'{}' needs a command", path);
    } else if (error.get_name() == "RequiredError") {
        const std::string said = error.what();
        message =
            fmt::format("'{}' needs {}", path, called(*command, said.substr(0, said.find(" is required"))));
    } else if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
        const std::string said = error.what();
        message = fmt::format("'{}' takes fewer words: '{}' is too many", path,
                              trim(std::string_view(said).substr(said.rfind(' ') + 1)));
    } else if (error.get_name() == "ArgumentMismatch") {
        const std::string said = error.what();
        message = fmt::format("'{}': {} needs a value", path, said.substr(0, said.find(':')));
    } else {
        message = fmt::format("'{}': {}", path, error.what());
    }
    std::cerr << "lavant: " << cli::printable(message) << "\n";
    std::cerr << "  see: " << path << " --help\n";
    const std::string example = command->get_footer();
    if (!example.empty()) std::cerr << "  example: " << example.substr(0, example.find('\n')) << "\n";
    return kUsage;
}

}  // namespace lavant
