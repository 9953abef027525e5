#pragma once
// Where a request goes.

#include <optional>
#include <string>
#include <string_view>

namespace lavant::net {

struct Target {
    bool tls = true;
    std::string host;  // without brackets
    std::string port;
    std::string path;               // with the query; starts with '/'
    std::string authority() const;  // for the Host header
};

// http and https only; nullopt for anything else.
std::optional<Target> parse_target(std::string_view url);

// Where a redirect from `from` leads: absolute, or a path on the same host.
std::optional<Target> follow(const Target& from, std::string_view location);

}  // namespace lavant::net
