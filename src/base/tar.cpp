#include "base/tar.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kPiece = 256U << 10;
constexpr std::uint64_t kOctalMax = 077777777777;
constexpr std::size_t kPathField = 100;
constexpr std::size_t kPathAt = 0, kModeAt = 100, kSizeAt = 124, kTimeAt = 136, kSumAt = 148, kTypeAt = 156,
                      kLinkAt = 157, kMagicAt = 257, kPrefixAt = 345;

std::size_t padding_of(std::uint64_t bytes) {
    return static_cast<std::size_t>((kBlock - bytes % kBlock) % kBlock);
}

std::string octal(std::uint64_t value, std::size_t digits) {
    std::string text(digits, '0');
    for (std::size_t i = digits; i > 0 && value > 0; --i, value /= 8)
        text[i - 1] = static_cast<char>('0' + value % 8);
    return text;
}

std::optional<std::uint64_t> parse_octal(std::string_view field) {
    field = trim(field.substr(0, std::min(field.find('\0'), field.size())));
    std::uint64_t value = 0;
    for (const char c : field) {
        if (c < '0' || c > '7' || value > kOctalMax) return std::nullopt;
        value = value * 8 + static_cast<std::uint64_t>(c - '0');
    }
    return field.empty() ? std::nullopt : std::optional(value);
}

// Every byte, with the sum's own place as blanks.
std::uint64_t sum_of(std::string_view header) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < header.size(); ++i)
        sum += static_cast<unsigned char>(i >= kSumAt && i < kSumAt + 8 ? ' ' : header[i]);
    return sum;
}

std::string header_of(std::string_view path, std::uint64_t bytes, char type) {
    std::string header(kBlock, '\0');
    const auto put = [&](std::size_t at, std::string_view text) { header.replace(at, text.size(), text); };
    put(kPathAt, path.substr(0, kPathField));
    put(kModeAt, "0000600");
    put(108, "0000000");
    put(116, "0000000");
    put(kSizeAt, octal(bytes, 11));
    put(kTimeAt, octal(0, 11));
    put(kMagicAt, std::string_view("ustar\0"
                                   "00",
                                   8));
    header[kTypeAt] = type;
    put(kSumAt, octal(sum_of(header), 6));
    header[kSumAt + 7] = ' ';
    return header;
}

// "LENGTH key=value\n", where LENGTH counts itself.
std::string pax_record(std::string_view key, const std::string& value) {
    const std::size_t rest = key.size() + value.size() + 3;
    std::size_t length = rest + 1;
    while (std::to_string(length).size() + rest != length) length = std::to_string(length).size() + rest;
    return std::to_string(length) + " " + std::string(key) + "=" + value + "\n";
}

tl::unexpected<Error> spoilt(const std::string& what) {
    return fail(ErrorCode::InvalidArgument, "the archive is not to be trusted: " + what);
}

Result<void> check_path(const std::string& path) {
    bool bad = path.empty() || path.size() > kTarPathBytes || path.find('\0') != std::string::npos;
    for (const std::string_view part : split(path, '/'))
        bad = bad || part.empty() || part == "." || part == "..";
    if (bad) return spoilt("an entry is called " + json_quote(path.substr(0, 200)));
    return {};
}

std::string_view field(std::string_view header, std::size_t at, std::size_t bytes) {
    const std::string_view whole = header.substr(at, bytes);
    return whole.substr(0, std::min(whole.find('\0'), whole.size()));
}

}  // namespace

Result<void> TarWriter::put(std::string_view bytes) {
    LAVANT_TRY_VOID(write_all(fd_, bytes));
    written_ += bytes.size();
    return {};
}

Result<void> TarWriter::put_padded(std::string_view bytes) {
    LAVANT_TRY_VOID(put(bytes));
    return put(std::string(padding_of(bytes.size()), '\0'));
}

Result<void> TarWriter::begin(const TarEntry& entry) {
    CHECK(left_ == 0, "an entry ends before the next begins");
    std::string extended;
    if (entry.path.size() > kPathField) extended += pax_record("path", entry.path);
    if (entry.bytes > kOctalMax) extended += pax_record("size", std::to_string(entry.bytes));
    if (!extended.empty()) {
        LAVANT_TRY_VOID(put(header_of("pax", extended.size(), 'x')));
        LAVANT_TRY_VOID(put_padded(extended));
    }
    left_ = entry.bytes;
    return put(header_of(entry.path, std::min(entry.bytes, kOctalMax), '0'));
}

Result<void> TarWriter::write(std::string_view bytes) {
    CHECK(bytes.size() <= left_, "an entry gets as many bytes as it was announced with");
    left_ -= bytes.size();
    LAVANT_TRY_VOID(put(bytes));
    if (left_ > 0 || bytes.empty()) return {};
    return put(std::string(padding_of(written_), '\0'));
}

Result<void> TarWriter::finish() {
    CHECK(left_ == 0, "the last entry is whole");
    return put(std::string(2 * kBlock, '\0'));
}

// The buffer gets exactly so many bytes.
Result<void> TarReader::fill(std::size_t bytes) {
    buffer_.resize(bytes);
    std::size_t have = 0;
    while (have < bytes) {
        const ssize_t got = ::read(fd_, buffer_.data() + have, bytes - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(system_error("read the archive", errno));
        if (got == 0) return spoilt("it ends in the middle");
        have += static_cast<std::size_t>(got);
    }
    return {};
}

Result<void> TarReader::skip_rest() {
    while (left_ > 0) LAVANT_TRY_VOID(read());
    return {};
}

Result<std::string_view> TarReader::read() {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(left_, kPiece));
    if (bytes == 0) return std::string_view();
    left_ -= bytes;
    if (left_ > 0) {
        LAVANT_TRY_VOID(fill(bytes));
        return std::string_view(buffer_);
    }
    LAVANT_TRY_VOID(fill(bytes + std::exchange(padding_, 0)));
    return std::string_view(buffer_).substr(0, bytes);
}

Result<void> TarReader::read_extended(std::uint64_t bytes, TarEntry& entry, bool& has_bytes) {
    if (bytes > 2 * kTarPathBytes) return spoilt("an extended header is too long");
    LAVANT_TRY_VOID(fill(static_cast<std::size_t>(bytes) + padding_of(bytes)));
    std::string_view records = std::string_view(buffer_).substr(0, static_cast<std::size_t>(bytes));
    while (!records.empty()) {
        const std::size_t blank = records.find(' ');
        const auto length = parse_integer(records.substr(0, blank));
        if (blank == std::string_view::npos || !length || *length <= static_cast<std::int64_t>(blank) + 1 ||
            static_cast<std::uint64_t>(*length) > records.size())
            return spoilt("an extended header is spoilt");
        std::string_view record = records.substr(blank + 1, static_cast<std::size_t>(*length) - blank - 2);
        records.remove_prefix(static_cast<std::size_t>(*length));
        if (record.starts_with("path=")) entry.path = record.substr(5);
        if (!record.starts_with("size=")) continue;
        const auto size = parse_integer(record.substr(5));
        if (!size || *size < 0) return spoilt("an extended header is spoilt");
        entry.bytes = static_cast<std::uint64_t>(*size);
        has_bytes = true;
    }
    return {};
}

Result<std::optional<TarEntry>> TarReader::next() {
    LAVANT_TRY_VOID(skip_rest());
    TarEntry entry;
    bool has_bytes = false;
    for (int extended = 0; extended < 2; ++extended) {
        LAVANT_TRY_VOID(fill(kBlock));
        const std::string header = buffer_;
        if (header.find_first_not_of('\0') == std::string::npos) return std::nullopt;
        const auto bytes = parse_octal(std::string_view(header).substr(kSizeAt, 12));
        if (parse_octal(std::string_view(header).substr(kSumAt, 8)) != sum_of(header) || !bytes)
            return spoilt("a header is spoilt");
        const char type = header[kTypeAt];
        if (type == 'x' && extended == 0) {
            LAVANT_TRY_VOID(read_extended(*bytes, entry, has_bytes));
            continue;
        }
        if (type != '0' || !field(header, kLinkAt, 100).empty() || !field(header, kPrefixAt, 155).empty())
            return spoilt("it holds something other than plain files");
        if (entry.path.empty()) entry.path = field(header, kPathAt, kPathField);
        if (!has_bytes) entry.bytes = *bytes;
        LAVANT_TRY_VOID(check_path(entry.path));
        if (entry.bytes > budget_) return spoilt("an entry claims to be larger than the archive");
        budget_ -= entry.bytes;
        left_ = entry.bytes;
        padding_ = padding_of(entry.bytes);
        return entry;
    }
    return spoilt("an extended header stands alone");
}

}  // namespace lavant
