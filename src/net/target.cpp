#include "net/target.h"

#include "base/text.h"

namespace lavant::net {

std::string Target::authority() const {
    const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
    return port == (tls ? "443" : "80") ? name : name + ":" + port;
}

std::optional<Target> parse_target(std::string_view url) {
    Target target;
    const std::string scheme = to_lower(url.substr(0, 8));
    if (scheme.starts_with("https://")) {
        url.remove_prefix(8);
    } else if (scheme.starts_with("http://")) {
        url.remove_prefix(7);
        target.tls = false;
    } else {
        return std::nullopt;
    }
    url = url.substr(0, url.find('#'));
    const std::size_t slash = url.find_first_of("/?");
    std::string_view authority = url.substr(0, slash);
    target.path = slash == std::string_view::npos ? "/" : std::string(url.substr(slash));
    if (target.path.front() == '?') target.path.insert(0, "/");
    if (authority.find('@') != std::string_view::npos) return std::nullopt;
    target.port = target.tls ? "443" : "80";
    const std::size_t bracket = authority.find(']');
    const std::size_t colon = authority.rfind(':');
    if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
        target.port = authority.substr(colon + 1);
        authority = authority.substr(0, colon);
        const auto number = parse_integer(target.port);
        if (!number || *number < 1 || *number > 65535) return std::nullopt;
    }
    if (authority.starts_with('[') && authority.ends_with(']'))
        authority = authority.substr(1, authority.size() - 2);
    if (authority.empty()) return std::nullopt;
    // Nothing that could break out of a request's head.
    for (const std::string_view part : {authority, std::string_view(target.path)}) {
        for (const char c : part) {
            if (c <= ' ' || c == 127) return std::nullopt;
        }
    }
    target.host = authority;
    return target;
}

std::optional<Target> follow(const Target& from, std::string_view location) {
    if (location.starts_with("//"))
        return parse_target((from.tls ? "https:" : "http:") + std::string(location));
    if (!location.starts_with('/')) return parse_target(location);
    return parse_target((from.tls ? "https://" : "http://") + from.authority() + std::string(location));
}

}  // namespace lavant::net
