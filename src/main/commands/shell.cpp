#include "main/commands/shell.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "cli/asset_commands.h"
#include "cli/completion.h"
#include "cli/compute_commands.h"
#include "core/model/job.h"
#include "main/commands/families.h"
#include "main/commands/help.h"
#include "main/version.h"

namespace lavant {
namespace {

constexpr const char* kBash = R"(# lavant(1) completion for bash
_lavant() {
    local IFS=$'\n'
    COMPREPLY=($(lavant __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _lavant lavant
)";

constexpr const char* kZsh = R"(#compdef lavant
_lavant() {
    local -a found
    found=("${(@f)$(lavant __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if (( ${#found[1]} )); then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = "_lavant" ]; then _lavant "$@"; else compdef _lavant lavant; fi
)";

constexpr const char* kFish = R"(# lavant(1) completion for fish
function __lavant_candidates
    set -l words (commandline -opc)
    lavant __complete -- $words[2..] (commandline -ct) 2>/dev/null
end
complete -c lavant -a '(__lavant_candidates)'
)";

const CLI::App* child(const CLI::App& at, const std::string& word) {
    for (const CLI::App* below : commands_below(at))
        if (below->get_name() == word) return below;
    return nullptr;
}

const CLI::Option* option_called(const CLI::App& command, const std::string& word) {
    for (const CLI::Option* option : command.get_options())
        if (option->check_name(word)) return option;
    return nullptr;
}

std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\' || c == '-') out += '\\';
        out += c;
    }
    return (text.starts_with('.') || text.starts_with('\'') ? "\\&" : "") + out;
}

void describe(const CLI::App& command, std::string& out) {
    if (command.get_parent() != nullptr && commands_below(command).empty()) {
        out += ".SS " + roff(usage_line(command)) + "\n" + roff(command.get_description()) + "\n";
        for (const OptionHelp& option : options_of(command)) {
            const bool help = option.names.find("--help") != std::string::npos;
            if (help || option.names.empty()) continue;
            out += ".TP\n.B " + roff(option.names) +
                   (option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR") + "\n" +
                   roff(option.about) + "\n";
        }
        if (const std::string example = command.get_footer(); !example.empty())
            out += ".PP\nExample:\n.nf\n" + roff(trim(example)) + "\n.fi\n";
    }
    for (const CLI::App* below : commands_below(command)) describe(*below, out);
}

}  // namespace

namespace {

// `job show` and the like: not those that make one, or list them.
bool names_a_job(const CLI::App& command) {
    const std::string& name = command.get_name();
    return command.get_parent() != nullptr && command.get_parent()->get_name() == "job" && name != "create" &&
           name != "validate" && name != "list";
}

// Likewise of computes.
bool names_a_compute(const CLI::App& command) {
    const std::string& name = command.get_name();
    return command.get_parent() != nullptr && command.get_parent()->get_name() == "compute" &&
           name != "create" && name != "attach" && name != "validate" && name != "list" &&
           name != "list-sizes" && name != "list-usage";
}

// Of `data show` and the like: the segment of the server's path that has the names; "" for other commands.
std::string segment_named_by(const CLI::App& command) {
    constexpr std::pair<std::string_view, const char*> kFamilies[] = {{"data", "data"},
                                                                      {"model", "models"},
                                                                      {"environment", "environments"},
                                                                      {"component", "components"},
                                                                      {"datastore", "datastores"},
                                                                      {"schedule", "schedules"}};
    const std::string& name = command.get_name();
    if (command.get_parent() == nullptr || name == "create" || name == "validate") return {};
    for (const auto& [family, segment] : kFamilies)
        if (command.get_parent()->get_name() == family) return segment;
    return {};
}

}  // namespace

Candidates complete(const CLI::App& root, const std::vector<std::string>& words) {
    const CLI::App* at = &root;
    std::size_t used = 0;
    while (used + 1 < words.size()) {
        const CLI::App* below = child(*at, words[used]);
        if (below == nullptr) break;
        at = below;
        ++used;
    }
    const std::string last = words.empty() ? "" : words.back();
    Candidates found;
    if (at->get_name() == "completion") return {.words = {"bash", "zsh", "fish"}};
    const auto offer = [&](const std::string& word) {
        if (word.starts_with(last)) found.words.push_back(word);
    };
    const std::string before = words.size() > 1 && words.size() - 1 > used ? words[words.size() - 2] : "";
    const CLI::Option* open = before.starts_with("-") ? option_called(*at, before) : nullptr;
    if (open != nullptr && open->get_items_expected_max() > 0) {
        if (before == "-o" || before == "--output")
            for (const char* format : {"table", "json", "jsonc", "yaml", "tsv", "none"}) offer(format);
        if (before == "--status")
            for (const JobStatus status : kEveryStatus) offer(std::string(name_of(status)));
        const bool name = before == "-n" || before == "--name";
        found.wants_job = name && names_a_job(*at);
        found.wants_compute = (name && names_a_compute(*at)) || before == "--compute";
        if (name) found.wants_names = segment_named_by(*at);
        return found;
    }
    if (last.starts_with("-")) {
        for (const std::string& name : option_names(*at)) offer(name);
        return found;
    }
    for (const CLI::App* below : commands_below(*at)) offer(below->get_name());
    found.wants_job = names_a_job(*at);
    found.wants_compute = names_a_compute(*at);
    if (at->get_name() != "list") found.wants_names = segment_named_by(*at);
    return found;
}

std::string completion_script(const std::string& shell) {
    if (shell == "bash") return kBash;
    if (shell == "zsh") return kZsh;
    return shell == "fish" ? kFish : "";
}

std::string manual(const CLI::App& root) {
    std::string out = ".TH LAVANT 1 \"\" \"lavant " + std::string(kVersion) + "\" \"User Commands\"\n";
    out += ".SH NAME\nlavant \\- runs Azure ML jobs on your own machines\n";
    out += ".SH SYNOPSIS\n.B lavant\n.I COMMAND\n[options]\n";
    out +=
        ".SH DESCRIPTION\nLavant takes the job files of Azure Machine Learning and runs them on machines you "
        "own. With\n"
        "nothing configured the first command starts a local server; it leaves when it is idle.\n";
    out += ".SH COMMANDS\n";
    describe(root, out);
    out +=
        ".SH EXIT STATUS\n.TP\n.B 0\ndone; with a stream: the job is Completed\n.TP\n.B 1\nthe job Failed, "
        "or something on "
        "this machine did\n.TP\n.B 2\nthe command line or the job file is wrong; nothing was sent\n.TP\n.B "
        "3\nthe job was "
        "Canceled\n.TP\n.B 4\nno server could be reached or started\n.TP\n.B 5\nthe server refused\n.TP\n.B "
        "130\nCtrl\\-C "
        "on a stream: the job goes on\n";
    out +=
        ".SH FILES\n.TP\n.I ~/.local/state/lavant\ndata of the local server\n.TP\n.I ~/.config/lavant\n"
        "configuration, contexts\n.TP\n.I .lavant.yml\nconfiguration of a project\n";
    return out;
}

namespace {

// What may stand for the last word, for a shell that completes it.
cli::Outcome<cli::Exit> print_candidates(CommandLine& line, cli::Context& context) {
    std::vector<std::string> words = line.trailing();
    std::erase(words, "=");  // bash makes three words of --output=yaml
    const std::string last = words.empty() ? "" : words.back();
    Candidates found;
    if (words.size() > 1 && words.front() == "az") {
        CommandLine az(Manner::Az);
        add_job_family(az);
        add_compute_family(az);
        add_asset_families(az);
        add_datastore_family(az);
        add_schedule_family(az);
        add_workspace_family(az);
        add_az_family(az);
        az.add_az_options();
        words.erase(words.begin());
        found = complete(*az.root().get_parent(), words);
    } else {
        found = complete(line.root(), words);
    }
    if (found.wants_job) {
        for (std::string& name : cli::known_job_names(context, line.choice(), last))
            found.words.push_back(std::move(name));
    }
    if (found.wants_compute) {
        for (std::string& name : cli::known_compute_names(context, line.choice(), last))
            found.words.push_back(std::move(name));
    }
    if (!found.wants_names.empty()) {
        for (std::string& name : cli::known_resource_names(context, line.choice(), found.wants_names, last))
            found.words.push_back(std::move(name));
    }
    for (const std::string& word : found.words) context.console.out << word << "\n";
    return cli::Exit::Completed;
}

}  // namespace

void add_shell_family(CommandLine& line) {
    using cli::Context;
    using cli::Exit;
    using cli::Outcome;
    auto& shell = line.keep<std::string>();
    CLI::App& completion =
        CommandLine::add(line.root(), "completion", "completion for a shell: bash, zsh or fish",
                         "source <(lavant completion bash)");
    completion.add_option("shell", shell, "bash, zsh or fish")->required()->option_text("SHELL");
    line.runs_with_bad_config(completion, [&shell](Context& context) -> Outcome<Exit> {
        const std::string script = completion_script(shell);
        if (script.empty())
            return cli::stop(Exit::Usage, ErrorCode::InvalidArgument,
                             "there is no completion for '" + shell + "'; there are bash, zsh and fish");
        context.console.out << script;
        return Exit::Completed;
    });

    CLI::App& man = CommandLine::add(line.root(), "man", "the manual page, as roff", "lavant man | man -l -");
    line.runs_with_bad_config(man, [&line](Context& context) -> Outcome<Exit> {
        context.console.out << manual(line.root());
        return Exit::Completed;
    });

    CLI::App& version =
        CommandLine::add(line.root(), "version", "the version of this program", "lavant version");
    line.add_output(version);
    line.runs_with_bad_config(version, [&line](Context& context) -> Outcome<Exit> {
        const wire::Json about = wire::Json::object({{"lavant", kVersion}});
        LAVANT_TRY_VOID(print(about, line.output(), context.console,
                              [] { return std::string("lavant ") + kVersion + "\n"; }));
        return Exit::Completed;
    });

    CLI::App& candidates =
        CommandLine::add(line.root(), "__complete", "what may come next; for completion", "");
    CommandLine::takes_command(candidates);
    line.runs_with_bad_config(candidates,
                              [&line](Context& context) { return print_candidates(line, context); });
}

}  // namespace lavant
