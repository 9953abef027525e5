#include "api/byte_range.h"

#include <algorithm>

#include "base/text.h"

namespace lavant::api {

std::string ByteRange::content_range(std::uint64_t total) const {
    return "bytes " + std::to_string(offset) + "-" + std::to_string(offset + bytes - 1) + "/" +
           std::to_string(total);
}

ByteRange resolve_range(std::string_view header, std::uint64_t total) {
    const ByteRange whole{ByteRange::Kind::Whole, 0, total};
    constexpr std::string_view kUnit = "bytes=";
    header = trim(header);
    if (!header.starts_with(kUnit)) return whole;
    header.remove_prefix(kUnit.size());
    const std::size_t dash = header.find('-');
    if (dash == std::string_view::npos || header.find(',') != std::string_view::npos) return whole;
    const auto first = parse_integer(header.substr(0, dash));
    const auto last = parse_integer(header.substr(dash + 1));
    if (dash == 0) {  // the last n bytes
        if (!last || *last < 0) return whole;
        const std::uint64_t bytes = std::min(total, static_cast<std::uint64_t>(*last));
        if (bytes == 0) return {ByteRange::Kind::Impossible, 0, 0};
        return {ByteRange::Kind::Part, total - bytes, bytes};
    }
    const bool open_ended = dash + 1 == header.size();
    if (!first || *first < 0 || (!open_ended && (!last || *last < *first))) return whole;
    const auto offset = static_cast<std::uint64_t>(*first);
    if (offset >= total) return {ByteRange::Kind::Impossible, 0, 0};
    const std::uint64_t end = open_ended ? total : std::min(total, static_cast<std::uint64_t>(*last) + 1);
    return {ByteRange::Kind::Part, offset, end - offset};
}

}  // namespace lavant::api
