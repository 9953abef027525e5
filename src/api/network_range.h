#pragma once
#include <string_view>

namespace lavant::api {

// Whether a peer ("10.0.0.7:5123") is at an address ("10.0.0.7") or in a range ("10.0.0.1-10.0.0.9"), both
// ends included. Of IPv6 only whole addresses are compared.
bool lies_in_range(std::string_view peer, std::string_view range);

}  // namespace lavant::api
