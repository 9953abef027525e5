#include "adapters/blobs_fs/facts.h"

#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/text.h"
#include "wire/codec.h"

namespace lavant::blobs {
namespace {

// Properties begin with a character that no header's name has, so that no metadata meets them.
constexpr char kProperty = ':';
constexpr const char* kChanged = ":changed";
constexpr const char* kChecksum = ":content-md5";
constexpr const char* kAttribute = "user.lavant.facts";
constexpr const char* kUsualType = "application/octet-stream";
constexpr std::size_t kAttributeBytes = 2048;  // ext4 has one block for all attributes of a file

// "{etag of the bytes} {checksum}": one of other bytes counts for nothing.
std::string checksum_of(std::string_view kept, std::string_view etag) {
    const std::size_t blank = kept.find(' ');
    if (blank == std::string_view::npos || kept.substr(0, blank) != etag) return "";
    return std::string(kept.substr(blank + 1));
}

// Whoever may write the file may write its attributes, also a job: they go into heads of answers.
bool is_usable(const Metadata& kept) {
    return std::ranges::all_of(kept, [](const auto& entry) {
        const auto& [key, value] = entry;
        const auto is_plain = [](char c) { return c > ' ' && c < '\x7f'; };
        const auto is_text = [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; };
        const bool is_property = key.starts_with(kProperty);
        const auto known = [&](std::string_view name) { return name == std::string_view(key).substr(1); };
        if (is_property && key != kChanged && key != kChecksum &&
            !std::ranges::any_of(ports::kBlobProperties, known))
            return false;
        return !key.empty() && std::ranges::all_of(key, is_plain) && std::ranges::all_of(value, is_text) &&
               key.find(':', 1) == std::string::npos;
    });
}

}  // namespace

ports::BlobInfo describe(const std::string& name, const struct stat& status) {
    constexpr std::int64_t kNanos = 1'000'000'000;
    const std::int64_t nanos = status.st_mtim.tv_sec * kNanos + status.st_mtim.tv_nsec;
    ports::BlobInfo blob;
    blob.name = name;
    blob.bytes = static_cast<std::uint64_t>(status.st_size);
    blob.modified_at = from_micros(nanos / 1'000);
    char tag[64];
    std::snprintf(tag, sizeof(tag), "0x%llX-%llX-%llX", static_cast<unsigned long long>(nanos),
                  static_cast<unsigned long long>(status.st_ino),
                  static_cast<unsigned long long>(status.st_size));
    blob.etag = tag;
    return blob;
}

Metadata to_kept(const ports::BlobFacts& facts, const std::string& etag, std::int64_t changed) {
    Metadata kept = facts.metadata;
    for (const auto& [key, value] : facts.properties) {
        if (value.empty() || (key == "content-type" && value == kUsualType)) continue;
        if (key == ports::kMd5Property)
            kept[kChecksum] = etag + " " + value;
        else
            kept[kProperty + key] = value;
    }
    if (changed != 0) kept[kChanged] = std::to_string(changed);
    return kept;
}

std::int64_t last_change(const Metadata& kept) {
    const auto found = kept.find(kChanged);
    return found == kept.end() ? 0 : parse_integer(found->second).value_or(0);
}

void add_facts(ports::BlobInfo& blob, Metadata kept) {
    const std::int64_t changed = last_change(kept);
    kept.erase(kChanged);
    if (const auto found = kept.find(kChecksum); found != kept.end()) {
        if (std::string md5 = checksum_of(found->second, blob.etag); !md5.empty())
            blob.properties[ports::kMd5Property] = std::move(md5);
        kept.erase(found);
    }
    for (auto& [key, value] : kept) {
        if (key.starts_with(kProperty))
            blob.properties[key.substr(1)] = std::move(value);
        else
            blob.metadata[key] = std::move(value);
    }
    if (changed == 0) return;
    char tag[32];
    std::snprintf(tag, sizeof(tag), "-%llX", static_cast<unsigned long long>(changed));
    blob.etag += tag;
    blob.modified_at = std::max(blob.modified_at, from_micros(changed));
}

bool keep_with_file(int file, const Metadata& kept) {
    const std::string bytes = wire::encode(kept);
    return bytes.size() <= kAttributeBytes &&
           ::fsetxattr(file, kAttribute, bytes.data(), bytes.size(), 0) == 0;
}

void drop_from_file(int file) { (void)::fremovexattr(file, kAttribute); }

std::optional<Metadata> kept_with_file(int file) {
    std::array<char, kAttributeBytes> bytes{};
    const ssize_t count = ::fgetxattr(file, kAttribute, bytes.data(), bytes.size());
    if (count < 0) return std::nullopt;
    auto kept = wire::decode<Metadata>(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
    if (!kept || !is_usable(*kept)) return Metadata();
    return std::move(*kept);
}

Result<Metadata> find_kept(int file, const Sidecars& sidecars, const std::string& container,
                           const std::string& name) {
    if (auto kept = kept_with_file(file)) return std::move(*kept);
    return sidecars.read(container, name);
}

}  // namespace lavant::blobs
