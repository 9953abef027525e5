#include "main/person.h"

#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <string>

#include "base/files.h"
#include "base/text.h"

namespace lavant {
namespace {

constexpr std::size_t kAnswerBytesMax = 4U << 10;

bool is_there() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1; }

// The terminal hands over whole lines; nothing after the line end is taken.
std::optional<std::string> ask(const std::string& question) {
    (void)write_all(STDERR_FILENO, question);
    std::string answer;
    while (answer.size() < kAnswerBytesMax) {
        char c = 0;
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got <= 0) return answer.empty() ? std::nullopt : std::optional(answer);
        if (c == '\n') return answer;
        answer += c;
        if (c == '\x03') return answer;  // where it is no signal
    }
    return std::nullopt;
}

// Ctrl-C must not leave a terminal that shows nothing: the interrupt waits until the echo is back.
std::optional<std::string> ask_secret(const std::string& question) {
    ::termios before{};
    if (::tcgetattr(STDIN_FILENO, &before) != 0) return std::nullopt;
    ::termios silent = before;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG);
    silent.c_cc[VEOL] = 3;  // Ctrl-C ends the line, so that it is read at once
    if (::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) != 0) return std::nullopt;
    auto answer = ask(question);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before);
    (void)write_all(STDERR_FILENO, "\n");
    if (answer && answer->find('\x03') != std::string::npos) {
        ::signal(SIGINT, SIG_DFL);
        ::raise(SIGINT);
    }
    return answer;
}

}  // namespace

cli::Person person_at_terminal() {
    return {
        .is_there = is_there, .ask = ask, .ask_secret = ask_secret, .read_input = [](std::size_t bytes_max) {
            return read_all(STDIN_FILENO, bytes_max).map_error(in("standard input"));
        }};
}

}  // namespace lavant
