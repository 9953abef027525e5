#pragma once
// Where nodes are: this machine's own region "local", or a region of Azure. Computes and quotas name one.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lavant {

inline constexpr std::string_view kLocalLocation = "local";  // of the workspace, and of what names no other

const std::vector<std::string>& location_names();
// Case and blanks do not matter: "West Europe" is "westeurope".
std::optional<std::string> find_location(std::string_view name);
// Why there is no such location, with the nearest one.
std::string location_problem(std::string_view name);

}  // namespace lavant
