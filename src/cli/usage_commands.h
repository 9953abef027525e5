#pragma once
// `lavant usage`: who used how much, and what it would have cost.

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

struct UsageOptions {
    std::string by = "user";
    std::string since;  // "7d", "2026-01-31", or a time; "" from the beginning
    std::string until;  // likewise; "" until now
    int max = 50;
};
[[nodiscard]] Outcome<Exit> show_usage(Session& session, const Console& console, const UsageOptions& options,
                                       const Output& output);

// "7d" and "12h" before `now`, a day, or a time. Nothing for anything else.
std::optional<Instant> parse_moment(std::string_view text, Instant now);

}  // namespace lavant::cli
