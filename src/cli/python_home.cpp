#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/files.h"
#include "base/text.h"
#include "cli/job_create.h"

namespace lavant::cli {
namespace {

constexpr std::size_t kHeadBytes = 4;

bool is_executable(const std::string& path) {
    struct ::stat about {};
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

bool is_program(const std::string& path) {  // and not a version manager's script
    const std::unique_ptr<FILE, int (*)(FILE*)> file(::fopen(path.c_str(), "rbe"), &::fclose);
    std::string head(kHeadBytes, '\0');
    return file && ::fread(head.data(), 1, head.size(), file.get()) == head.size() &&
           head ==
               "\x7f"
               "ELF";
}

// A version manager's shim knows itself which interpreter it stands for.
std::string ask_for_prefix() {
    const std::unique_ptr<FILE, int (*)(FILE*)> output(
        ::popen("python3 -c 'import sys; print(sys.prefix)' 2>/dev/null", "re"), &::pclose);
    if (!output) return {};
    std::string text(4096, '\0');
    text.resize(::fread(text.data(), 1, text.size(), output.get()));
    return std::string(trim(text));
}

}  // namespace

std::string active_python_home(const Context& context) {
    for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
        const std::string home = context.variable(name);
        if (home.starts_with("/") && is_executable(home + "/bin/python3")) return home;
    }
    const std::string path = context.variable("PATH");
    for (const std::string_view folder : split(path, ':')) {
        const std::string found = std::string(folder) + "/python3";
        if (!folder.starts_with("/") || !is_executable(found)) continue;
        if (!is_program(found)) return ask_for_prefix();
        // The system's own needs no naming: it is there for every job.
        const std::string home = parent_of(std::string(folder));
        return home == "/usr" || home == "/" || home.empty() ? "" : home;
    }
    return {};
}

}  // namespace lavant::cli
