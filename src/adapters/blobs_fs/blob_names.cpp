#include "adapters/blobs_fs/blob_names.h"

#include <algorithm>

#include "base/text.h"

namespace lavant::blobs {
namespace {

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

tl::unexpected<Error> refuse(std::string_view kind, std::string_view name, std::string_view why) {
    constexpr std::size_t kShown = 80;
    return fail(ErrorCode::InvalidArgument, "cannot use " + std::string(kind) + " " +
                                                json_quote(name.substr(0, kShown)) + ": " + std::string(why));
}

}  // namespace

Result<void> check_container_name(std::string_view container) {
    const bool fits = !container.empty() && container.size() <= kContainerChars &&
                      is_letter_or_digit(container.front()) && std::ranges::all_of(container, [](char c) {
                          return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
                      });
    if (fits) return {};
    return refuse("container name", container,
                  "it must be 1 to 63 letters, digits, '-', '_' or '.', and begin with a letter or digit");
}

Result<void> check_blob_name(std::string_view name) {
    if (name.size() > kNameBytes)
        return refuse("blob name", name, "it is longer than 2048 bytes; shorten it");
    if (name.find('\0') != std::string_view::npos)
        return refuse("blob name", name, "it contains a zero byte");
    const std::vector<std::string_view> segments = split(name, '/');
    if (segments.size() > kSegments)
        return refuse("blob name", name, "it has more than 64 parts; use fewer folders");
    for (const std::string_view segment : segments) {
        if (segment.empty()) return refuse("blob name", name, "a part of it is empty; remove the extra '/'");
        if (segment == "." || segment == "..") return refuse("blob name", name, "'.' and '..' are not names");
        if (segment.size() > kSegmentBytes)
            return refuse("blob name", name, "a part of it is longer than 245 bytes; shorten it");
    }
    return {};
}

Result<void> check_block_id(std::string_view id) {
    if (!id.empty() && id.size() <= kBlockIdBytes) return {};
    return refuse("block id", id, "it must have 1 to 100 bytes");
}

std::string side_path(const std::string& container, std::string_view name, std::string_view suffix) {
    std::string path = container;
    const std::vector<std::string_view> segments = split(name, '/');
    for (std::size_t i = 0; i < segments.size(); ++i) {
        path += '/';
        path += segments[i];
        path += i + 1 < segments.size() ? std::string_view(".d") : suffix;
    }
    return path;
}

}  // namespace lavant::blobs
