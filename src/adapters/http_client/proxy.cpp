#include "adapters/http_client/proxy.h"

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "base/text.h"

namespace lavant::adapters::http_client {
namespace {

namespace ip = boost::asio::ip;
using boost::system::error_code;

std::string first_of(const Variables& variable, std::initializer_list<const char*> names) {
    for (const char* name : names)
        if (std::string value = variable(name); !value.empty()) return value;
    return {};
}

std::optional<ip::address> address_in(const std::string& text) {
    error_code error;
    const ip::address address = ip::make_address(text, error);
    return error ? std::nullopt : std::optional(address);
}

bool is_this_machine(const std::string& host) {
    if (const auto address = address_in(host)) return address->is_loopback();
    return host == "localhost" || host.ends_with(".localhost");
}

// "10.0.0.0/8"
bool is_in_network(const ip::address& address, const std::string& network) {
    error_code error;
    if (address.is_v4()) {
        const auto wanted = ip::make_network_v4(network, error);
        return !error &&
               ip::network_v4(address.to_v4(), wanted.prefix_length()).canonical() == wanted.canonical();
    }
    const auto wanted = ip::make_network_v6(network, error);
    return !error &&
           ip::network_v6(address.to_v6(), wanted.prefix_length()).canonical() == wanted.canonical();
}

// "*", a host, a domain (with or without a dot before it), an address, a network.
bool covers(std::string_view entry, const std::string& host) {
    if (entry == "*") return true;
    if (const auto address = address_in(host)) {
        if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
        const auto same = address_in(std::string(entry));
        return same ? *same == *address : is_in_network(*address, std::string(entry));
    }
    if (entry.starts_with('.')) entry.remove_prefix(1);
    return !entry.empty() && (host == entry || host.ends_with("." + std::string(entry)));
}

bool is_exempt(const std::string& host, std::string list) {
    for (char& c : list)
        if (c == ' ' || c == '\t') c = ',';
    for (const std::string_view entry : split(list, ','))
        if (!entry.empty() && covers(to_lower(entry), host)) return true;
    return false;
}

}  // namespace

Result<std::optional<Proxy>> proxy_for(const net::Target& target, const Variables& variable) {
    const std::string host = to_lower(target.host);
    if (is_this_machine(host)) return std::nullopt;
    // HTTP_PROXY in capitals may be a header that a web server put there.
    std::string text = target.tls
                           ? first_of(variable, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                           : first_of(variable, {"http_proxy", "all_proxy", "ALL_PROXY"});
    if (text.empty() || is_exempt(host, first_of(variable, {"no_proxy", "NO_PROXY"}))) return std::nullopt;

    if (text.find("://") == std::string::npos) text.insert(0, "http://");
    Proxy proxy;
    const std::size_t name = text.find("://") + 3;
    if (const std::size_t at = text.substr(0, text.find('/', name)).rfind('@'); at != std::string::npos) {
        proxy.authorization = "Basic " + base64_encode(percent_decode(text.substr(name, at - name)));
        text.erase(name, at + 1 - name);
    }
    const std::optional<net::Target> where = net::parse_target(text);
    if (!where || where->tls)
        return fail(
            ErrorCode::InvalidArgument,
            std::string("the proxy that the environment names is no http://HOST:PORT; change or unset ") +
                (target.tls ? "https_proxy" : "http_proxy") + " or all_proxy");
    proxy.target = *where;
    return proxy;
}

}  // namespace lavant::adapters::http_client
