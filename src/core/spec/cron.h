#pragma once
// Cron expressions, as schedules have them.

#include <optional>
#include <string>
#include <string_view>

namespace lavant::spec {

// Five parts, each within its bounds; nothing if it is fine, else what is wrong with it.
std::optional<std::string> find_cron_problem(std::string_view expression);

}  // namespace lavant::spec
