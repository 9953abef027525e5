#include "adapters/sandbox_linux/direct_command.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace lavant::sandbox_linux {
namespace {

// The external true, false and echo do the same as the builtins, so these three are not listed; echo only
// without options, see below.
constexpr std::array<std::string_view, 70> kShellWords = {
    ":",       ".",       "alias",   "bg",       "bind",    "break",    "builtin",   "caller",   "case",
    "cd",      "command", "compgen", "complete", "compopt", "continue", "coproc",    "declare",  "dirs",
    "disown",  "do",      "done",    "elif",     "else",    "enable",   "esac",      "eval",     "exec",
    "exit",    "export",  "fc",      "fg",       "fi",      "for",      "function",  "getopts",  "hash",
    "help",    "history", "if",      "in",       "jobs",    "kill",     "let",       "local",    "logout",
    "mapfile", "popd",    "printf",  "pushd",    "pwd",     "read",     "readarray", "readonly", "return",
    "select",  "set",     "shift",   "shopt",    "source",  "suspend",  "test",      "then",     "time",
    "times",   "trap",    "type",    "typeset",  "ulimit",  "umask",    "unalias"};
constexpr std::array<std::string_view, 4> kMoreShellWords = {"unset", "until", "wait", "while"};

bool is_shell_word(std::string_view word) {
    return std::ranges::find(kShellWords, word) != kShellWords.end() ||
           std::ranges::find(kMoreShellWords, word) != kMoreShellWords.end();
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./=:,@%+-").find(c) != std::string_view::npos;
}

std::optional<std::vector<std::string>> plain_words(std::string_view script) {
    std::vector<std::string> words;
    bool inside = false;
    for (const char c : trim(script)) {
        const bool blank = c == ' ' || c == '\t';
        if (!blank && !is_plain(c)) return std::nullopt;
        if (!blank && !inside) words.emplace_back();
        if (!blank) words.back() += c;
        inside = !blank;
    }
    if (words.empty()) return std::nullopt;
    return words;
}

bool changes_the_shell(std::string_view entry) {
    return entry.starts_with("BASH_") || entry.starts_with("BASHOPTS=") || entry.starts_with("SHELLOPTS=") ||
           entry.starts_with("POSIXLY_CORRECT");
}

}  // namespace

std::optional<DirectCommand> find_direct_command(std::string_view script,
                                                 const std::vector<std::string>& environment) {
    auto words = plain_words(script);
    if (!words) return std::nullopt;
    const std::string& program = words->front();
    if (program.find('=') != std::string::npos || is_shell_word(program)) return std::nullopt;
    const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
    if (program == "echo" && std::ranges::any_of(*words, is_option)) return std::nullopt;
    std::string_view path;
    for (const std::string_view entry : environment) {
        if (changes_the_shell(entry)) return std::nullopt;
        if (entry.starts_with("PATH=")) path = entry.substr(5);
    }
    DirectCommand command;
    if (program.find('/') != std::string::npos) {
        command.candidates.push_back(program);
    } else {
        for (const std::string_view folder : split(path, ':')) {
            if (!folder.starts_with('/')) return std::nullopt;  // Also no PATH at all: the shell has its own.
            command.candidates.push_back(std::string(folder) + "/" + program);
        }
    }
    command.words = *std::move(words);
    return command;
}

}  // namespace lavant::sandbox_linux
