#include "base/time.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace lavant {
namespace {

std::tm utc_parts(Instant at) {
    const std::time_t seconds = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return parts;
}

bool take_digits(std::string_view& text, int count, int& value) {
    if (text.size() < static_cast<std::size_t>(count)) return false;
    value = 0;
    for (int i = 0; i < count; ++i) {
        const char c = text[static_cast<std::size_t>(i)];
        if (c < '0' || c > '9') return false;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(static_cast<std::size_t>(count));
    return true;
}

bool take_char(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

std::int64_t take_fraction_micros(std::string_view& text) {
    std::int64_t micros = 0;
    std::int64_t scale = 100'000;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        micros += (text.front() - '0') * scale;
        scale /= 10;
        text.remove_prefix(1);
    }
    return micros;
}

// Over the zeros at `at`.
void put_digits(std::string& text, std::size_t at, std::size_t digits, int value) {
    for (std::size_t i = at + digits; i > at; --i, value /= 10)
        text[i - 1] = static_cast<char>('0' + value % 10);
}

}  // namespace

std::string to_rfc3339(Instant at) {
    const std::tm parts = utc_parts(at);
    const std::int64_t whole = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
    const int micros = static_cast<int>(to_micros(at) - whole * 1'000'000);
    const int year = parts.tm_year + 1900;
    if (year >= 0 && year <= 9999) {  // every job shown has several of these: no format to parse
        std::string text = "0000-00-00T00:00:00.000000Z";
        put_digits(text, 0, 4, year);
        put_digits(text, 5, 2, parts.tm_mon + 1);
        put_digits(text, 8, 2, parts.tm_mday);
        put_digits(text, 11, 2, parts.tm_hour);
        put_digits(text, 14, 2, parts.tm_min);
        put_digits(text, 17, 2, parts.tm_sec);
        put_digits(text, 20, 6, micros);
        return text;
    }
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", year, parts.tm_mon + 1,
                  parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, micros);
    return text.data();
}

std::string to_http_date(Instant at) {
    static constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::tm parts = utc_parts(at);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                  kDays.at(static_cast<std::size_t>(parts.tm_wday)), parts.tm_mday,
                  kMonths.at(static_cast<std::size_t>(parts.tm_mon)), parts.tm_year + 1900, parts.tm_hour,
                  parts.tm_min, parts.tm_sec);
    return text.data();
}

std::optional<Instant> parse_http_date(std::string_view text) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (text.size() != std::string_view("Fri, 02 Jan 2026 03:04:05 GMT").size()) return std::nullopt;
    const std::size_t month = kMonths.find(text.substr(8, 3));
    if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
    std::array<char, 8> number{};
    std::snprintf(number.data(), number.size(), "-%02d-", static_cast<int>(month / 3) + 1);
    std::string rewritten(text.substr(12, 4));
    rewritten.append(number.data())
        .append(text.substr(5, 2))
        .append("T")
        .append(text.substr(17, 8))
        .append("Z");
    const std::optional<Instant> at = parse_rfc3339(rewritten);
    // Whatever weekday it claims.
    if (!at || to_http_date(*at).substr(4) != text.substr(4)) return std::nullopt;
    return at;
}

std::optional<Instant> parse_rfc3339(std::string_view text) {
    std::tm parts{};
    int year = 0;
    const bool date = take_digits(text, 4, year) && take_char(text, '-') &&
                      take_digits(text, 2, parts.tm_mon) && take_char(text, '-') &&
                      take_digits(text, 2, parts.tm_mday);
    if (!date || text.empty() || (text.front() != 'T' && text.front() != 't' && text.front() != ' '))
        return std::nullopt;
    text.remove_prefix(1);
    const bool clock = take_digits(text, 2, parts.tm_hour) && take_char(text, ':') &&
                       take_digits(text, 2, parts.tm_min) && take_char(text, ':') &&
                       take_digits(text, 2, parts.tm_sec);
    if (!clock || parts.tm_mon < 1 || parts.tm_mon > 12 || parts.tm_mday < 1 || parts.tm_mday > 31 ||
        parts.tm_hour > 23 || parts.tm_min > 59 || parts.tm_sec > 60)
        return std::nullopt;
    std::int64_t micros = 0;
    if (take_char(text, '.')) micros = take_fraction_micros(text);

    std::int64_t offset_minutes = 0;
    if (!take_char(text, 'Z') && !take_char(text, 'z')) {
        if (text.empty() || (text.front() != '+' && text.front() != '-')) return std::nullopt;
        const int sign = text.front() == '-' ? -1 : 1;
        text.remove_prefix(1);
        int hours = 0;
        int minutes = 0;
        if (!take_digits(text, 2, hours) || !take_char(text, ':') || !take_digits(text, 2, minutes))
            return std::nullopt;
        offset_minutes = sign * (hours * 60 + minutes);
    }
    if (!text.empty()) return std::nullopt;
    parts.tm_year = year - 1900;
    parts.tm_mon -= 1;
    const std::int64_t seconds = timegm(&parts) - offset_minutes * 60;
    return from_micros(seconds * 1'000'000 + micros);
}

std::string in_words(Duration length) {
    using namespace std::chrono_literals;
    const std::pair<Duration, const char*> units[] = {{24h, " d"}, {1h, " h"}, {1min, " min"}};
    for (const auto& [unit, name] : units)
        if (length >= unit) return std::to_string(length / unit) + name;
    return std::to_string(std::max<std::int64_t>(0, length / 1s)) + " s";
}

std::string to_iso_duration(Duration length) {
    std::int64_t micros = length.count();
    if (micros <= 0) return "PT0S";
    const std::int64_t hours = micros / 3'600'000'000;
    micros -= hours * 3'600'000'000;
    const std::int64_t minutes = micros / 60'000'000;
    micros -= minutes * 60'000'000;
    std::string text = "PT";
    if (hours > 0) text += std::to_string(hours) + "H";
    if (minutes > 0) text += std::to_string(minutes) + "M";
    if (micros > 0) {
        text += std::to_string(micros / 1'000'000);
        if (micros % 1'000'000 != 0) {
            std::string fraction = std::to_string(1'000'000 + micros % 1'000'000).substr(1);
            while (fraction.back() == '0') fraction.pop_back();
            text += "." + fraction;
        }
        text += "S";
    }
    return text;
}

std::optional<Duration> parse_iso_duration(std::string_view text) {
    if (!take_char(text, 'P') || text.empty()) return std::nullopt;
    std::int64_t micros = 0;
    bool in_time = false;
    bool any = false;
    while (!text.empty()) {
        if (take_char(text, 'T')) {
            if (in_time) return std::nullopt;
            in_time = true;
            continue;
        }
        std::int64_t number = 0;
        int digits = 0;
        while (!text.empty() && text.front() >= '0' && text.front() <= '9' && digits < 9) {
            number = number * 10 + (text.front() - '0');
            text.remove_prefix(1);
            ++digits;
        }
        std::int64_t fraction = 0;
        if (digits > 0 && take_char(text, '.')) fraction = take_fraction_micros(text);
        if (digits == 0 || text.empty()) return std::nullopt;
        const char unit = text.front();
        text.remove_prefix(1);
        std::int64_t seconds = 0;
        if (!in_time && unit == 'D') seconds = 86'400;
        if (!in_time && unit == 'W') seconds = 7 * 86'400;
        if (in_time && unit == 'H') seconds = 3'600;
        if (in_time && unit == 'M') seconds = 60;
        if (in_time && unit == 'S') seconds = 1;
        if (seconds == 0) return std::nullopt;
        constexpr std::int64_t kCenturies = 100'000'000'000;  // Seconds; far from overflow, beyond any use.
        if (number > kCenturies / seconds) return std::nullopt;
        micros += number * seconds * 1'000'000 + fraction * seconds;
        if (micros > kCenturies * 1'000'000) return std::nullopt;
        any = true;
    }
    if (!any) return std::nullopt;
    return Duration{micros};
}

}  // namespace lavant
