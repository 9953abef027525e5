#include "agent/trash.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/files.h"
#include "base/log.h"

namespace lavant::agent {
namespace {

constexpr Duration kQuiet = std::chrono::seconds(5);
constexpr Duration kBreath = std::chrono::milliseconds(20);
constexpr std::size_t kSweptAtOnce = 64;
constexpr std::uint64_t kWaitingMax = 20'000;  // more than that does not wait for quiet

}  // namespace

Trash::Trash(std::string folder, ports::Reactor& reactor) : folder_(std::move(folder)), reactor_(reactor) {
    const Result<std::vector<DirectoryEntry>> left = list_directory(folder_);
    if (!left) return;
    waiting_ = left->size();
    for (const DirectoryEntry& entry : *left)
        last_ = std::max(last_, static_cast<std::uint64_t>(std::atoll(entry.name.c_str())));
    if (waiting_ > 0) arm(kQuiet);
}

Result<void> Trash::take(const std::string& path) {
    const std::string target = folder_ + "/" + std::to_string(++last_);
    if (::rename(path.c_str(), target.c_str()) != 0) {
        if (errno != ENOENT) return remove_tree(path);
        LAVANT_TRY_VOID(make_directories(folder_));
        if (::rename(path.c_str(), target.c_str()) != 0) return remove_tree(path);
    }
    ++waiting_;
    ++taken_since_look_;
    if (timer_ == 0) arm(kQuiet);
    return {};
}

void Trash::arm(Duration delay) {
    timer_ = reactor_.after(delay, [this] { sweep(); });
}

void Trash::sweep() {
    timer_ = 0;
    const bool quiet = std::exchange(taken_since_look_, 0) == 0;
    if (!quiet && waiting_ < kWaitingMax) return arm(kQuiet);
    const Result<std::vector<DirectoryEntry>> entries = list_directory(folder_);
    if (!entries) return;
    waiting_ = entries->size();
    for (std::size_t i = 0; i < std::min(entries->size(), kSweptAtOnce); ++i) {
        const Result<void> removed = remove_tree(folder_ + "/" + (*entries)[i].name);
        if (!removed) log(Level::Warning, "spool_not_removed", {{"error", removed.error().message}});
        --waiting_;
    }
    if (waiting_ > 0) arm(kBreath);
}

}  // namespace lavant::agent
