#pragma once
// Time inside is UTC in integer microseconds; outside it is RFC 3339. Reading a clock is the Clock port's
// work (ports/clock.h), never done here.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lavant {

using Duration = std::chrono::microseconds;
struct UtcClock {  // A tag: it has no now().
    using duration = Duration;
    using rep = Duration::rep;
    using period = Duration::period;
    using time_point = std::chrono::time_point<UtcClock>;
    static constexpr bool is_steady = false;
};
using Instant = UtcClock::time_point;

inline std::int64_t to_micros(Instant at) { return at.time_since_epoch().count(); }
inline Instant from_micros(std::int64_t micros) { return Instant{Duration{micros}}; }

std::string to_rfc3339(Instant at);                             // 2026-01-02T03:04:05.678901Z
std::string to_http_date(Instant at);                           // Fri, 02 Jan 2026 03:04:05 GMT
std::optional<Instant> parse_http_date(std::string_view text);  // the form above, no other
std::optional<Instant> parse_rfc3339(std::string_view text);    // accepts offsets and 0-9 fraction digits

std::string in_words(Duration length);  // "3 s", "12 min", "5 h", "2 d": whole units, rounded down

std::string to_iso_duration(Duration length);                       // PT1H30M; zero is PT0S
std::optional<Duration> parse_iso_duration(std::string_view text);  // PnDTnHnMnS with fractions of seconds

}  // namespace lavant
