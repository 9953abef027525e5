#pragma once
// Plain tar files (ustar, with pax headers for long paths and large files): regular files only. What is read
// may come from anybody: a path that could leave the folder it is unpacked in, a link or a device is refused.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lavant {

inline constexpr std::size_t kTarPathBytes = 16U << 10;

struct TarEntry {
    std::string path;  // relative, no empty, "." or ".." part
    std::uint64_t bytes = 0;
    bool operator==(const TarEntry&) const = default;
};

class TarWriter {
 public:
    explicit TarWriter(int fd) : fd_(fd) {}
    // Then exactly entry.bytes in any number of pieces.
    [[nodiscard]] Result<void> begin(const TarEntry& entry);
    [[nodiscard]] Result<void> write(std::string_view bytes);
    [[nodiscard]] Result<void> finish();  // after the last entry
    std::uint64_t bytes_written() const { return written_; }

 private:
    [[nodiscard]] Result<void> put(std::string_view bytes);
    [[nodiscard]] Result<void> put_padded(std::string_view bytes);

    int fd_;
    std::uint64_t left_ = 0;     // of the entry
    std::uint64_t written_ = 0;  // of the whole
};

class TarReader {
 public:
    // `bytes_max`: no entry claims to be larger, and all together are not.
    TarReader(int fd, std::uint64_t bytes_max) : fd_(fd), budget_(bytes_max) {}
    // Skips what is left of the one before. None at the end of the archive.
    [[nodiscard]] Result<std::optional<TarEntry>> next();
    // The next piece of the entry; empty at its end. Lives until the next call.
    [[nodiscard]] Result<std::string_view> read();

 private:
    [[nodiscard]] Result<void> fill(std::size_t bytes);
    [[nodiscard]] Result<void> read_extended(std::uint64_t bytes, TarEntry& entry, bool& has_bytes);
    [[nodiscard]] Result<void> skip_rest();

    int fd_;
    std::uint64_t budget_;
    std::uint64_t left_ = 0;
    std::size_t padding_ = 0;
    std::string buffer_;
};

}  // namespace lavant
