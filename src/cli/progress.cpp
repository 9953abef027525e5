#include "cli/progress.h"

#include <utility>

#include <fmt/format.h>

#include "cli/disk_use.h"

namespace lavant::cli {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kFirstAfter = 1s;
constexpr auto kNextAfter = 4s;          // a line each
constexpr auto kNextOnTerminal = 250ms;  // one line, written over

}  // namespace

Progress::Progress(const Console* console, std::string what, std::uint64_t bytes_all)
    : console_(console), what_(std::move(what)), all_(bytes_all), next_(Clock::now() + kFirstAfter) {}

Progress::~Progress() {
    if (!shown_ || !console_->err_is_terminal) return;
    console_->err << "\r\x1b[K";
    console_->err.flush();
}

void Progress::add(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    done_ += bytes;
    const auto now = Clock::now();
    if (console_ == nullptr || now < next_) return;
    const std::string text = fmt::format("{}: {} of {}", what_, describe_bytes(done_), describe_bytes(all_));
    if (console_->err_is_terminal) {
        console_->err << "\r\x1b[K" << cut_to(text, static_cast<std::size_t>(console_->width) - 1);
        next_ = now + kNextOnTerminal;
    } else {
        console_->err << text << "\n";
        next_ = now + kNextAfter;
    }
    console_->err.flush();
    shown_ = true;
}

}  // namespace lavant::cli
