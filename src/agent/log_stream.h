#pragma once
// A task's log as it is shipped: the file's lines, with progress bars that redraw themselves by carriage
// returns collapsed to their last state. The stream is a pure function of the file, so offsets into it mean
// the same to every agent process and nothing about them needs to be kept.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace lavant::agent {

// Turns file bytes into stream bytes. A line is held back until it ends, or reaches kLinePieceBytes.
class Collapser {
 public:
    static constexpr std::size_t kLinePieceBytes = 64U << 10;
    void take(std::string_view bytes, std::string& out);
    void finish(std::string& out);  // the rest of an unfinished line

 private:
    void put(std::string_view text, std::string& out);
    std::string line_;             // of the unfinished line, what is not overwritten and not shipped yet
    bool return_pending_ = false;  // a carriage return whose meaning the next character decides
};

class LogStream {
 public:
    // `window` bounds the bytes held in memory; what lies beyond is read when keep() makes room.
    [[nodiscard]] static Result<LogStream> open(const std::string& path, std::size_t window);
    LogStream(Fd file, std::size_t window) : file_(std::move(file)), window_(window) {}  // readable

    // Reads what the file has got. Returns the stream's length as far as it is known to be sendable.
    [[nodiscard]] Result<std::uint64_t> pull();
    // The file is complete: the stream's whole length, unfinished line included.
    [[nodiscard]] Result<std::uint64_t> close();
    // The length of the stream that the file as it is now makes, without holding it: for a log taken over.
    [[nodiscard]] Result<std::uint64_t> measure() const;
    // Bytes [from, to): both must lie between the kept offset and what was pulled.
    std::string_view bytes(std::uint64_t from, std::uint64_t to) const;
    // The whole stream, if it is closed and all of it is held.
    std::optional<std::string_view> whole() const;
    // All before `offset` is safe and may be dropped.
    [[nodiscard]] Result<void> keep(std::uint64_t offset);
    // The end of the file, for looking at it: at most `bytes_max`.
    [[nodiscard]] Result<std::string> tail(std::size_t bytes_max) const;

 private:
    Fd file_;
    std::size_t window_ = 0;
    std::uint64_t read_ = 0;  // file offset behind the collapser
    Collapser collapser_;
    std::string held_;  // stream bytes from held_from_
    std::uint64_t held_from_ = 0;
    std::uint64_t kept_ = 0;
    bool closed_ = false;
    bool flushed_ = false;
};

}  // namespace lavant::agent
