#include "cli/companion.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

namespace lavant::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kFirstWordAfter = 1s;
constexpr auto kNextWordAfter = 3500ms;  // with the second that asking may take, below five
constexpr int kExitInterrupted = 130;

Fd take_interrupts() {
    ::sigset_t interrupts;
    ::sigemptyset(&interrupts);
    ::sigaddset(&interrupts, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
    return Fd(::signalfd(-1, &interrupts, SFD_CLOEXEC));
}

}  // namespace

Companion::Companion(const Console& console, Words words)
    : console_(console),
      words_(std::move(words)),
      signals_(take_interrupts()),
      wake_(::eventfd(0, EFD_CLOEXEC)),
      last_word_(Clock::now()),
      thread_([this] { run(); }) {}

Companion::~Companion() {
    stop();
    ::sigset_t interrupts;
    ::sigemptyset(&interrupts);
    ::sigaddset(&interrupts, SIGINT);
    ::pthread_sigmask(SIG_UNBLOCK, &interrupts, nullptr);
}

void Companion::stop() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
    thread_.join();
    const std::lock_guard lock(mutex_);
    wipe();
}

bool Companion::write(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    wipe();
    console_.out << bytes;
    console_.out.flush();
    last_word_ = Clock::now();
    if (!bytes.empty()) ends_with_newline_ = bytes.back() == '\n';
    return console_.out.good();
}

void Companion::wipe() {
    if (!line_shown_) return;
    console_.err << "\r\x1b[K";
    console_.err.flush();
    line_shown_ = false;
}

void Companion::say(const std::string& text) {
    const std::lock_guard lock(mutex_);
    last_word_ = Clock::now();
    if (text.empty()) return;
    if (console_.err_is_terminal && ends_with_newline_) {
        wipe();
        console_.err << console_.painted(cut_to(text, static_cast<std::size_t>(console_.width) - 1),
                                         Colour::Dim);
        line_shown_ = true;
    } else {
        console_.err << "lavant: " << text << "\n";
    }
    console_.err.flush();
}

void Companion::run() {
    std::chrono::milliseconds patience = kFirstWordAfter;
    for (;;) {
        Clock::time_point since;
        {
            const std::lock_guard lock(mutex_);
            since = last_word_;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(since + patience - Clock::now());
        ::pollfd waiting[] = {{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
        const int ready = ::poll(waiting, 2, static_cast<int>(std::max<std::int64_t>(0, left.count())));
        if (ready > 0 && waiting[1].revents != 0) return;
        if (ready > 0 && waiting[0].revents != 0) {
            // The other thread may hold it while it waits for a reader (`… | less`).
            const std::unique_lock lock(mutex_, std::try_to_lock);
            wipe();
            console_.err << "\n" << words_.farewell << "\n";
            console_.err.flush();
            ::_exit(kExitInterrupted);
        }
        bool silent = false;
        {
            const std::lock_guard lock(mutex_);
            silent = Clock::now() - last_word_ >= patience;
        }
        if (!silent) continue;
        say(words_.now());
        patience = kNextWordAfter;
    }
}

}  // namespace lavant::cli
