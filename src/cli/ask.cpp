#include "cli/ask.h"

#include <unistd.h>

#include <array>

#include "base/text.h"

namespace lavant::cli {

Outcome<bool> ask(const Console& console, const std::string& question) {
    if (::isatty(STDIN_FILENO) != 1)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    question + " Say yes with --yes: there is no terminal to ask at");
    console.err << question << " [y/N] ";
    console.err.flush();
    std::array<char, 64> answer{};
    const ssize_t got = ::read(STDIN_FILENO, answer.data(), answer.size());
    const std::string_view said =
        trim(std::string_view(answer.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
    return equals_ignoring_case(said, "y") || equals_ignoring_case(said, "yes");
}

}  // namespace lavant::cli
