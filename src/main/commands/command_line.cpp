#include "main/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <iostream>

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

// What else az has: somebody who types it made no slip.
constexpr std::string_view kOfAzure[] = {
    "ad",       "batch-deployment", "batch-endpoint", "connection",      "feature-store",     "group",
    "identity", "registry",         "role",           "online-endpoint", "online-deployment", "storage"};

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

std::string what_is_wrong(const CLI::App& command, const std::vector<std::string>& words, std::size_t used,
                          const CLI::ParseError& error) {
    const std::string path = path_of(command);
    const std::string said = error.what();
    const bool family = !commands_below(command).empty();
    if (family && used < words.size() && !words[used].starts_with("-")) {
        std::vector<std::string> known;
        for (const CLI::App* below : commands_below(command)) known.push_back(below->get_name());
        if (path.starts_with("az") && std::ranges::find(kOfAzure, words[used]) != std::end(kOfAzure))
            return fmt::format("'{} {}' is not supported yet; jobs are: az ml job --help", path, words[used]);
        return fmt::format("'{} {}' is no command{}", path, words[used], did_you_mean(words[used], known));
    }
    if (const std::string option = unknown_option(command, words, used); !option.empty())
        return fmt::format("'{}' has no option '{}'{}", path, option, suggested_option(command, option));
    if (family) return fmt::format("'{}' needs a command", path);
    if (error.get_name() == "RequiredError")
        return fmt::format("'{}' needs {}", path, called(command, said.substr(0, said.find(" is required"))));
    if (command.get_group() == kTakesCommand &&
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
        return fmt::format("'{0}' runs what stands after '--': {0} -- COMMAND", path);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
        const std::string word = said.substr(said.rfind(' ') + 1);
        const bool has_name = command.get_option_no_throw("--name") != nullptr;
        return fmt::format("'{}' takes fewer words: '{}' is too many{}", path, word,
                           has_name ? "; a name is given as: --name " + word : "");
    }
    if (error.get_name() == "ArgumentMismatch")
        return fmt::format("'{}': {} needs a value", path, said.substr(0, said.find(':')));
    return fmt::format("'{}': {}", path, said);
}

int refuse(const CLI::App& command, const std::string& message) {
    std::cerr << "lavant: " << cli::printable(message) << "\n  see: " << path_of(command) << " --help\n";
    const std::string example = example_of(command);
    if (!example.empty()) std::cerr << "  example: " << example.substr(0, example.find('\n')) << "\n";
    return kUsage;
}

}  // namespace

CommandLine::CommandLine(Manner manner)
    : app_("Runs Azure ML jobs on your own machines.", manner == Manner::Az ? "az" : "lavant"),
      manner_(manner) {
    app_.set_version_flag("--version", std::string("lavant ") + kVersion)
        ->description("the version of this program");
    app_.set_help_flag("-h,--help", "this text");
    app_.require_subcommand(0, 1);  // behind a command, a word that names another one is an argument
    app_.footer("lavant submit -- python train.py\nlavant job create -f job.yml --stream");
    if (manner == Manner::Lavant) return;
    app_.footer("az ml job create -f job.yml --query name -o tsv");
    output_.format = Format::Json;
    top_ = &add_family(app_, "ml", "Azure ML's commands, answered by Lavant", "az ml job create -f job.yml");
}

CLI::App& CommandLine::add_family(CLI::App& parent, const std::string& name, const std::string& what,
                                  const std::string& example) {
    CLI::App& family = add(parent, name, what, example);
    family.require_subcommand(1);
    return family;
}

CLI::App& CommandLine::add(CLI::App& parent, const std::string& name, const std::string& what,
                           const std::string& example) {
    CLI::App* command = parent.add_subcommand(name, what);
    command->footer(example);
    return *command;
}

void CommandLine::takes_command(CLI::App& command) { command.group(kTakesCommand); }

void CommandLine::add_data(CLI::App& command) {
    command.add_option("--data", choice_.data, "data folder of the local server")->option_text("DIR");
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

CLI::Option* CommandLine::add_settings(CLI::App& command, std::vector<std::string>& into,
                                       const std::string& about) {
    return command.add_option("--set", into, about)
        ->option_text("A.B=C")
        ->allow_extra_args(manner_ == Manner::Az)
        ->take_all();
}

void CommandLine::add_submit_options(CLI::App& command, cli::SubmitOptions& options) {
    command.add_option("-n,--name", options.name, "name of the job; made up if left out")
        ->option_text("NAME");
    command.add_flag("-s,--stream", options.stream, "print the log until the job has ended");
    command.add_flag("-e,--web", options.web, "say where the studio shows it");
    command.add_option("-a,--save-as", options.save_as, "write the job's definition there")
        ->option_text("FILE");
    command.add_flag("--no-wait")->group("");  // Nothing waits here without --stream.
    command.add_flag("!--no-git-diff", options.git_diff, "do not keep the diff of a dirty git tree");
    add_output(command);
    add_server(command);
}

void CommandLine::add_az_options() {
    const std::function<void(CLI::App&)> visit = [&](CLI::App& command) {
        const auto below = command.get_subcommands(std::function<bool(CLI::App*)>());
        for (CLI::App* one : below) visit(*one);
        if (!below.empty()) return;
        if (command.get_option_no_throw("--output") == nullptr) add_output(command);
        for (const char* flag : {"--only-show-errors", "--verbose", "--debug", "--skip-validation"})
            command.add_flag(flag)->group("");
    };
    visit(app_);
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

// Puts the words after `--` aside where the command takes them.
std::vector<std::string> CommandLine::take_trailing(std::vector<std::string> words) {
    if (descend(app_, words).first->get_group() != kTakesCommand) return words;
    const auto dashes = std::ranges::find(words, "--");
    if (dashes == words.end()) return words;
    trailing_.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
    return words;
}

Command CommandLine::parse(const std::vector<std::string>& given, int& exit_code) {
    const std::vector<std::string> words = take_trailing(given);
    const auto [command, used] = descend(app_, words);
    try {
        app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 wants them reversed.
        if (chosen_ && command->get_group() == kTakesCommand && trailing_.empty()) {
            exit_code = refuse(*command, fmt::format("'{}' needs a command after '--'", path_of(*command)));
            return {};
        }
        if (chosen_) return chosen_;
        std::cerr << render_help(app_, 80);
        exit_code = kUsage;
    } catch (const CLI::CallForHelp&) {
        std::cout << render_help(*command, 80);
        exit_code = 0;
    } catch (const CLI::ParseError& error) {
        // CLI11 answers --version this way too, with code 0.
        exit_code = error.get_exit_code() == 0
                        ? app_.exit(error, std::cout, std::cerr)
                        : refuse(*command, what_is_wrong(*command, words, used, error));
    }
    std::cout.flush();
    return {};
}

}  // namespace lavant
