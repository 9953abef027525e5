#include "agent/log_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace lavant::agent {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;

Result<std::size_t> read_at(int fd, std::uint64_t offset, char* into) {
    while (true) {
        const ssize_t got = ::pread(fd, into, kReadBytes, static_cast<off_t>(offset));
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) return fail(system_error("cannot read the task's log", errno));
    }
}

Result<std::uint64_t> size_of(int fd) {
    struct stat status {};
    if (::fstat(fd, &status) != 0) return fail(system_error("cannot look at the task's log", errno));
    return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

void Collapser::put(std::string_view text, std::string& out) {
    if (text.empty()) return;
    if (return_pending_) {
        line_.clear();
        return_pending_ = false;
    }
    while (line_.size() + text.size() >= kLinePieceBytes) {
        const std::size_t room = kLinePieceBytes - line_.size();
        out += line_;
        out += text.substr(0, room);
        line_.clear();
        text.remove_prefix(room);
    }
    line_ += text;
}

void Collapser::take(std::string_view bytes, std::string& out) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find_first_of("\r\n");
        put(bytes.substr(0, end), out);
        if (end == std::string_view::npos) return;
        if (bytes[end] == '\r') {
            return_pending_ = true;
        } else {
            out += line_;
            out += '\n';
            line_.clear();
            return_pending_ = false;
        }
        bytes.remove_prefix(end + 1);
    }
}

void Collapser::finish(std::string& out) {
    out += line_;
    line_.clear();
    return_pending_ = false;
}

Result<LogStream> LogStream::open(const std::string& path, std::size_t window) {
    LAVANT_TRY(Fd file, open_file(path, O_RDONLY | O_CLOEXEC));
    return LogStream(std::move(file), window);
}

Result<std::uint64_t> LogStream::pull() {
    char buffer[kReadBytes];
    while (held_.size() < window_) {
        LAVANT_TRY(const std::size_t got, read_at(file_.get(), read_, buffer));
        if (got == 0) {
            if (closed_ && !flushed_) {
                collapser_.finish(held_);
                flushed_ = true;
            }
            break;
        }
        collapser_.take({buffer, got}, held_);
        read_ += got;
        // Bytes that are known to be safe need not be held: the server had them from an earlier agent
        // process.
        if (kept_ > held_from_) {
            const std::size_t drop = std::min<std::size_t>(kept_ - held_from_, held_.size());
            held_.erase(0, drop);
            held_from_ += drop;
        }
        if (got < kReadBytes && !closed_) break;
    }
    return held_from_ + held_.size();
}

Result<std::uint64_t> LogStream::close() {
    closed_ = true;
    LAVANT_TRY(const std::uint64_t known, pull());
    if (flushed_) return known;
    // More than the window is waiting: count it without holding it.
    Collapser ahead = collapser_;
    std::uint64_t length = known;
    std::uint64_t offset = read_;
    std::string out;
    char buffer[kReadBytes];
    while (true) {
        LAVANT_TRY(const std::size_t got, read_at(file_.get(), offset, buffer));
        out.clear();
        if (got == 0) ahead.finish(out);
        if (got > 0) ahead.take({buffer, got}, out);
        offset += got;
        length += out.size();
        if (got == 0) return length;
    }
}

Result<std::uint64_t> LogStream::measure() const {
    Collapser collapser;
    std::uint64_t length = 0;
    std::uint64_t offset = 0;
    std::string out;
    char buffer[kReadBytes];
    while (true) {
        LAVANT_TRY(const std::size_t got, read_at(file_.get(), offset, buffer));
        if (got == 0) return length;
        out.clear();
        collapser.take({buffer, got}, out);
        offset += got;
        length += out.size();
    }
}

std::string_view LogStream::bytes(std::uint64_t from, std::uint64_t to) const {
    CHECK(from >= held_from_ && from <= to, "log bytes are asked for once they are not safe yet");
    const std::uint64_t end = std::min<std::uint64_t>(to, held_from_ + held_.size());
    if (from >= end) return {};
    return std::string_view(held_).substr(from - held_from_, end - from);
}

std::optional<std::string_view> LogStream::whole() const {
    if (!flushed_ || held_from_ > 0) return std::nullopt;
    return held_;
}

Result<void> LogStream::keep(std::uint64_t offset) {
    kept_ = std::max(kept_, offset);
    const std::size_t drop =
        kept_ > held_from_
            ? static_cast<std::size_t>(std::min<std::uint64_t>(kept_ - held_from_, held_.size()))
            : 0;
    if (drop == held_.size()) {
        held_.clear();
    } else {
        held_.erase(0, drop);
    }
    held_from_ += drop;
    LAVANT_TRY_VOID(pull());
    return {};
}

Result<std::string> LogStream::tail(std::size_t bytes_max) const {
    LAVANT_TRY(const std::uint64_t size, size_of(file_.get()));
    std::uint64_t offset = size > bytes_max ? size - bytes_max : 0;
    std::string text;
    char buffer[kReadBytes];
    while (text.size() < bytes_max) {
        LAVANT_TRY(const std::size_t got, read_at(file_.get(), offset, buffer));
        if (got == 0) break;
        text.append(buffer, std::min(got, bytes_max - text.size()));
        offset += got;
    }
    return text;
}

}  // namespace lavant::agent
