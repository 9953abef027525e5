#include "api/network_range.h"

#include <cstdint>
#include <optional>

#include "base/text.h"

namespace lavant::api {
namespace {

std::optional<std::uint32_t> parse_address(std::string_view text) {
    const auto parts = split(text, '.');
    if (parts.size() != 4) return std::nullopt;
    std::uint32_t address = 0;
    for (const std::string_view part : parts) {
        const auto number = parse_integer(part);
        if (!number || *number < 0 || *number > 255 || part.size() > 3) return std::nullopt;
        address = address * 256 + static_cast<std::uint32_t>(*number);
    }
    return address;
}

}  // namespace

bool lies_in_range(std::string_view peer, std::string_view range) {
    peer = peer.substr(0, peer.rfind(':'));
    if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
    if (peer.starts_with("::ffff:")) peer.remove_prefix(7);
    const std::size_t dash = range.find('-');
    if (dash == std::string_view::npos) return !peer.empty() && peer == range;
    const auto at = parse_address(peer);
    const auto from = parse_address(range.substr(0, dash));
    const auto to = parse_address(range.substr(dash + 1));
    return at && from && to && *from <= *at && *at <= *to;
}

}  // namespace lavant::api
