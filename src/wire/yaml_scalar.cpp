#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "base/text.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

using spec::Document;

struct Number {
    std::int64_t integer = 0;  // clamped; `value` tells the size
    double value = 0;
};

bool is_word(std::string_view text, std::string_view lower) {
    // YAML 1.1 knows three spellings of each word: yes, Yes, YES.
    if (text == lower) return true;
    const std::string all = to_lower(text);
    if (all != lower) return false;
    const bool rest_lower = text.substr(1) == lower.substr(1);
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    bool rest_upper = true;
    for (char c : text) rest_upper = rest_upper && is_upper(c);
    return is_upper(text.front()) && (rest_lower || rest_upper);
}

std::optional<bool> read_boolean(std::string_view text) {
    if (text.empty() || text.size() > 5) return std::nullopt;
    for (std::string_view word : {"true", "yes", "on"}) {
        if (is_word(text, word)) return true;
    }
    for (std::string_view word : {"false", "no", "off"}) {
        if (is_word(text, word)) return false;
    }
    return std::nullopt;
}

std::optional<int> digit_of(char c, int base) {
    int value = -1;
    if (c >= '0' && c <= '9') value = c - '0';
    if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
    if (value < 0 || value >= base) return std::nullopt;
    return value;
}

std::optional<Number> read_digits(std::string_view digits, int base, bool negative) {
    Number number;
    bool any = false;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    for (char c : digits) {
        if (c == '_') continue;
        const auto digit = digit_of(c, base);
        if (!digit) return std::nullopt;
        any = true;
        number.value = number.value * base + *digit;
        number.integer = number.integer > (kMost - *digit) / base ? kMost : number.integer * base + *digit;
    }
    if (!any) return std::nullopt;
    if (negative) number = {-number.integer, -number.value};
    return number;
}

// 1:30:00, base sixty: a trap of YAML 1.1 that Azure's clients fall into as well.
std::optional<Number> read_sixties(std::string_view text, bool negative) {
    Number number;
    bool first = true;
    for (std::string_view part : split(text, ':')) {
        const auto digits = read_digits(part, 10, false);
        if (!digits || part.front() == '_') return std::nullopt;
        if (!first && (part.size() > 2 || digits->integer > 59)) return std::nullopt;
        if (number.integer > (1LL << 50)) return std::nullopt;
        first = false;
        number.integer = number.integer * 60 + digits->integer;
    }
    if (negative) number.integer = -number.integer;
    number.value = static_cast<double>(number.integer);
    return number;
}

std::optional<Number> read_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    if (text.empty() || !digit_of(text.front(), 10)) return std::nullopt;
    if (text.starts_with("0b")) return read_digits(text.substr(2), 2, negative);
    if (text.starts_with("0x")) return read_digits(text.substr(2), 16, negative);
    if (text.size() > 1 && text.front() == '0') return read_digits(text.substr(1), 8, negative);
    if (text.find(':') != std::string_view::npos) return read_sixties(text, negative);
    return read_digits(text, 10, negative);
}

// [-+]?digits.digits([eE][-+]digits)? and .digits: an exponent needs its sign, a float its point.
bool looks_like_float(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    const auto skip = [&] {
        std::size_t count = 0;
        while (count < text.size() && (digit_of(text[count], 10) || (count > 0 && text[count] == '_')))
            ++count;
        text.remove_prefix(count);
        return count;
    };
    const std::size_t before = skip();
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
    if (skip() + before == 0) return false;
    if (text.empty()) return true;
    if (text.front() != 'e' && text.front() != 'E') return false;
    text.remove_prefix(1);
    if (!text.starts_with('-') && !text.starts_with('+')) return false;
    text.remove_prefix(1);
    return skip() > 0 && text.empty();
}

std::optional<double> read_float(std::string_view text) {
    std::string_view bare = text;
    if (bare.starts_with('-') || bare.starts_with('+')) bare.remove_prefix(1);
    for (std::string_view word : {".inf", ".Inf", ".INF"}) {
        if (bare == word) return text.front() == '-' ? -HUGE_VAL : HUGE_VAL;
    }
    for (std::string_view word : {".nan", ".NaN", ".NAN"}) {
        if (text == word) return std::nan("");
    }
    if (!looks_like_float(text)) return std::nullopt;
    std::string digits;
    for (char c : text) {
        if (c != '_') digits += c;
    }
    return std::strtod(digits.c_str(), nullptr);
}

}  // namespace

Document plain_scalar(std::string text, spec::Position at) {
    Document out = Document::string(std::move(text), at);
    if (const auto boolean = read_boolean(out.text)) {
        out.kind = Document::Kind::Boolean;
        out.boolean = *boolean;
    } else if (const auto integer = read_integer(out.text)) {
        out.kind = Document::Kind::Integer;
        out.integer = integer->integer;
        out.number = integer->value;
    } else if (const auto number = read_float(out.text)) {
        out.kind = Document::Kind::Float;
        out.number = *number;
    } else if (out.text.empty() || out.text == "~" || is_word(out.text, "null")) {
        out.kind = Document::Kind::Null;
    }
    return out;
}

}  // namespace lavant::wire
