#include "main/commands/help.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "cli/console.h"

namespace lavant {
namespace {

std::string value_name(const CLI::Option& option) {
    return option.get_items_expected_max() == 0 ? "" : option.get_option_text();
}

std::string joined_names(const CLI::Option& option) {
    std::string names;
    for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
    for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
    return names;
}

}  // namespace

bool is_hidden(const CLI::App& command) {
    return command.get_group().empty() || command.get_name().starts_with("__");
}

std::string path_of(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    return (parent == nullptr ? "" : path_of(*parent) + " ") + command.get_name();
}

std::vector<const CLI::App*> commands_below(const CLI::App& command) {
    auto found = command.get_subcommands(std::function<bool(const CLI::App*)>());
    std::erase_if(found, [](const CLI::App* one) { return is_hidden(*one); });
    return found;
}

std::vector<OptionHelp> options_of(const CLI::App& command) {
    std::vector<OptionHelp> found;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_group().empty()) continue;
        found.push_back({joined_names(*option), value_name(*option), option->get_description(),
                         option->get_positional(), option->get_required()});
    }
    // Help is the same everywhere: it comes last.
    std::stable_partition(found.begin(), found.end(), [](const OptionHelp& one) {
        return one.names.find("--help") == std::string::npos;
    });
    return found;
}

std::vector<std::string> option_names(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        if (option->get_group().empty()) continue;
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
        for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::string example_of(const CLI::App& command) {
    std::string example = command.get_footer();
    if (!path_of(command).starts_with("az")) return example;
    constexpr std::string_view kOurs = "lavant ";
    for (std::size_t at = example.find(kOurs); at != std::string::npos; at = example.find(kOurs, at + 1))
        example.replace(at, kOurs.size(), "az ml ");
    return example;
}

std::string usage_line(const CLI::App& command) {
    std::string line = path_of(command);
    const bool family = !commands_below(command).empty();
    if (family) return line + " COMMAND";
    for (const OptionHelp& option : options_of(command)) {
        if (!option.positional) continue;
        line += option.required ? " " + option.value : " [" + option.value + "]";
    }
    return line + " [options]" + (command.get_group() == kTakesCommand ? " -- COMMAND" : "");
}

std::string render_help(const CLI::App& command, int width) {
    std::string out = "Usage: " + usage_line(command) + "\n\n" + command.get_description() + "\n";
    std::vector<std::pair<std::string, std::string>> rows;
    for (const CLI::App* below : commands_below(command))
        rows.emplace_back("  " + below->get_name(), below->get_description());
    if (!rows.empty()) out += "\n" + cli::render_fields(rows, width);
    rows.clear();
    for (const OptionHelp& option : options_of(command)) {
        if (option.names.empty()) {
            rows.emplace_back("  " + option.value, option.about);
        } else {
            rows.emplace_back("  " + option.names + (option.value.empty() ? "" : " " + option.value),
                              option.about);
        }
    }
    if (!rows.empty()) out += "\n" + cli::render_fields(rows, width);
    const std::string example = example_of(command);
    if (!example.empty()) out += "\nExample:\n";
    for (const std::string_view line : split(example, '\n'))
        if (!line.empty()) out += "  " + std::string(line) + "\n";
    return out;
}

}  // namespace lavant
