#include "cli/advice.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/console.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

// Modules whose package is called otherwise.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kPackages = {{
    {"PIL", "pillow"},
    {"attr", "attrs"},
    {"azureml", "azureml-core"},
    {"bs4", "beautifulsoup4"},
    {"cv2", "opencv-python-headless"},
    {"dateutil", "python-dateutil"},
    {"dotenv", "python-dotenv"},
    {"fitz", "pymupdf"},
    {"git", "gitpython"},
    {"google.protobuf", "protobuf"},
    {"jwt", "pyjwt"},
    {"skimage", "scikit-image"},
    {"sklearn", "scikit-learn"},
    {"umap", "umap-learn"},
    {"yaml", "pyyaml"},
    {"zmq", "pyzmq"},
}};

std::string package_of(std::string_view module) {
    for (const auto& [name, package] : kPackages)
        if (module == name || module.starts_with(std::string(name) + ".")) return std::string(package);
    return std::string(module.substr(0, module.find('.')));
}

// "ModuleNotFoundError: No module named 'sklearn.svm'" -> "sklearn.svm", if that is what ended it: an older
// mention may have been caught.
std::string missing_module(std::string_view log) {
    constexpr std::string_view kSaid = "No module named ";
    while (!log.empty() && (log.back() == '\n' || log.back() == ' ')) log.remove_suffix(1);
    const std::size_t start = log.rfind('\n');
    const std::string_view last = log.substr(start == std::string_view::npos ? 0 : start + 1);
    const std::size_t at = last.find(kSaid);
    if (at == std::string_view::npos) return {};
    std::string_view rest = last.substr(at + kSaid.size());
    if (!rest.empty() && (rest.front() == '\'' || rest.front() == '"')) {
        rest.remove_prefix(1);
        rest = rest.substr(0, rest.find_first_of("'\""));
    }
    const std::string_view module = trim(rest);
    const bool plain =
        !module.empty() && module.size() <= 100 &&
        module.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
            std::string_view::npos;
    return plain ? std::string(module) : std::string();
}

// What shells say: "sh: 1: foo: not found", "bash: line 1: foo: command not found".
std::string missing_command(std::string_view log) {
    for (const std::string_view said :
         {": command not found", ": not found", ": No such file or directory", ": Permission denied"}) {
        const std::size_t at = log.rfind(said);
        if (at == std::string_view::npos) continue;
        const std::string_view before = log.substr(0, at);
        const std::size_t from = before.find_last_of(" \n");
        const std::string_view word = before.substr(from == std::string_view::npos ? 0 : from + 1);
        if (!word.empty() && word.size() <= 200) return printable(word);
    }
    return {};
}

// "python: can't open file '/…/train.py': [Errno 2] No such file or directory"
std::string missing_script(std::string_view log) {
    constexpr std::string_view kSaid = "can't open file '";
    const std::size_t at = log.rfind(kSaid);
    if (at == std::string_view::npos) return {};
    const std::string_view path = log.substr(at + kSaid.size(), 4096);
    return printable(path.substr(0, path.find_first_of("'\n")));
}

bool is_host(std::string_view environment) {
    return environment.empty() || environment == "host" || environment == "azureml:host";
}

std::string advise_on_module(const Json& job, const std::string& module) {
    const std::string package = package_of(module);
    const std::string environment = printable(job["environment"].text());
    const std::string home = printable(job["properties"]["lavant.python_home"].text());
    if (is_host(environment) || !home.empty())
        return fmt::format("the job's Python has no module '{}'; install it there:\n    {} install {}",
                           module, home.empty() ? "/usr/bin/python3 -m pip" : home + "/bin/pip", package);
    return fmt::format(
        "environment {} has no module '{}'; add this line to the pip section of its conda file, or run with "
        "the Python "
        "that is active here (--set environment=host):\n    - {}",
        environment, module, package);
}

}  // namespace

std::string last_lines(std::string_view log, std::size_t lines) {
    while (log.ends_with('\n')) log.remove_suffix(1);
    std::size_t from = log.size();
    for (; from > 0; --from)
        if (log[from - 1] == '\n' && --lines == 0) break;
    return std::string(log.substr(from));
}

std::string advise(const Json& job, std::string_view log_tail) {
    const Json& error = job["error"];
    if (!error.is_object()) return {};
    const std::int64_t exit_code = error["exit_code"].integer();
    if (const std::string module = missing_module(log_tail); !module.empty() && exit_code != 0)
        return advise_on_module(job, module);
    if (const std::string script = missing_script(log_tail); !script.empty() && exit_code == 2)
        return fmt::format(
            "there is no '{}' in the job's folder; check `code`, and what .amlignore leaves out",
            script.substr(script.rfind('/') + 1));
    const std::string command = missing_command(log_tail);
    if (exit_code == kNotFound && !command.empty())
        return fmt::format(
            "there is no command '{}' in environment {}: check the spelling, or install it there", command,
            is_host(job["environment"].text()) ? "host" : printable(job["environment"].text()));
    if (exit_code == kNotExecutable && !command.empty())
        return fmt::format("make it executable:\n    chmod +x {}", command);
    return {};
}

}  // namespace lavant::cli
