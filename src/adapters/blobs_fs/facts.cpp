#include "adapters/blobs_fs/facts.h"

#include <sys/xattr.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

#include "base/text.h"

namespace lavant::blobs {
namespace {

// In side files properties begin with a character that no header's name has, so that no metadata meets them.
constexpr char kProperty = ':';
constexpr const char* kChanged = ":changed";
constexpr const char* kChecksum = ":content-md5";
constexpr const char* kAttribute = "user.lavant.md5";
constexpr const char* kUsualType = "application/octet-stream";
constexpr std::size_t kAttributeBytes = 256;

// "{etag of the bytes} {checksum}": one of other bytes counts for nothing.
std::string checksum_of(std::string_view kept, std::string_view etag) {
    const std::size_t blank = kept.find(' ');
    if (blank == std::string_view::npos || kept.substr(0, blank) != etag) return "";
    return std::string(kept.substr(blank + 1));
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

std::int64_t last_change(const Metadata& side_file) {
    const auto found = side_file.find(kChanged);
    return found == side_file.end() ? 0 : parse_integer(found->second).value_or(0);
}

void add_facts(ports::BlobInfo& blob, Metadata side_file, int file) {
    const std::int64_t changed = last_change(side_file);
    side_file.erase(kChanged);
    std::array<char, kAttributeBytes> kept{};
    const ssize_t bytes = file > 0 ? ::fgetxattr(file, kAttribute, kept.data(), kept.size()) : -1;
    std::string md5 =
        bytes <= 0 ? "" : checksum_of({kept.data(), static_cast<std::size_t>(bytes)}, blob.etag);
    if (const auto found = side_file.find(kChecksum); found != side_file.end()) {
        if (md5.empty()) md5 = checksum_of(found->second, blob.etag);
        side_file.erase(found);
    }
    if (!md5.empty()) blob.properties[ports::kMd5Property] = std::move(md5);
    for (auto& [key, value] : side_file) {
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

Metadata to_side_file(const ports::BlobFacts& facts, std::int64_t changed) {
    Metadata side_file = facts.metadata;
    for (const auto& [key, value] : facts.properties)
        if (key != ports::kMd5Property && !value.empty() && !(key == "content-type" && value == kUsualType))
            side_file[kProperty + key] = value;
    if (changed != 0) side_file[kChanged] = std::to_string(changed);
    return side_file;
}

bool keep_checksum(int file, const std::string& etag, const std::string& md5) {
    if (md5.empty()) {
        (void)::fremovexattr(file, kAttribute);
        return true;
    }
    const std::string kept = etag + " " + md5;
    return kept.size() <= kAttributeBytes && ::fsetxattr(file, kAttribute, kept.data(), kept.size(), 0) == 0;
}

void add_checksum(Metadata& side_file, const std::string& etag, const std::string& md5) {
    side_file[kChecksum] = etag + " " + md5;
}

}  // namespace lavant::blobs
