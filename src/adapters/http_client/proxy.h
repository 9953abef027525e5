#pragma once
// Which proxy the environment asks for: https_proxy, http_proxy, all_proxy and no_proxy as other tools read
// them.

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/target.h"

namespace lavant::adapters::http_client {

using Variables = std::function<std::string(const std::string&)>;  // "" for one that is not set

struct Proxy {
    net::Target target;
    std::string authorization;  // of the Proxy-Authorization header; "" for none
};

// None: straight to the target, as always for this machine itself.
[[nodiscard]] Result<std::optional<Proxy>> proxy_for(const net::Target& target, const Variables& variable);

}  // namespace lavant::adapters::http_client
