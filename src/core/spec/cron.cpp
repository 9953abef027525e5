#include "core/spec/cron.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text.h"

namespace lavant::spec {
namespace {

struct CronPart {
    const char* name;
    int least;
    int most;
    std::string_view words;  // three letters each, the first one stands for `least`
};

constexpr CronPart kParts[] = {{"minute", 0, 59, ""},
                               {"hour", 0, 23, ""},
                               {"day", 1, 31, ""},
                               {"month", 1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
                               {"weekday", 0, 7, "sunmontuewedthufrisat"}};

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<int> number_of(std::string_view word, const CronPart& part) {
    if (is_digits(word)) {
        const auto number = parse_integer(word);
        if (number && *number >= part.least && *number <= part.most) return static_cast<int>(*number);
        return std::nullopt;
    }
    const std::string lower = to_lower(word);
    for (std::size_t at = 0; lower.size() == 3 && at + 3 <= part.words.size(); at += 3)
        if (part.words.substr(at, 3) == lower) return part.least + static_cast<int>(at / 3);
    return std::nullopt;
}

bool is_cron_item(std::string_view item, const CronPart& part) {
    if (const std::size_t slash = item.find('/'); slash != std::string_view::npos) {
        const std::string_view digits = item.substr(slash + 1);
        const auto step = is_digits(digits) ? parse_integer(digits) : std::nullopt;
        if (!step || *step < 1 || *step > part.most) return false;
        item = item.substr(0, slash);
    }
    if (item == "*") return true;
    const std::size_t dash = item.find('-');
    const auto first = number_of(item.substr(0, dash), part);
    if (dash == std::string_view::npos) return first.has_value();
    const auto last = number_of(item.substr(dash + 1), part);
    return first && last && *first <= *last;
}

}  // namespace

std::optional<std::string> find_cron_problem(std::string_view expression) {
    std::vector<std::string_view> words;
    for (const std::string_view word : split(trim(expression), ' '))
        if (!word.empty()) words.push_back(word);
    if (words.size() != std::size(kParts))
        return "has " + std::to_string(words.size()) +
               " parts; five are needed: minute hour day month weekday";
    for (std::size_t i = 0; i < words.size(); ++i)
        for (const std::string_view item : split(words[i], ','))
            if (!is_cron_item(item, kParts[i]))
                return "'" + std::string(words[i].substr(0, 80)) + "' is no " + kParts[i].name + ": * or " +
                       std::to_string(kParts[i].least) + " to " + std::to_string(kParts[i].most) +
                       ", as 5, 1-5, 1,15 or */10";
    return std::nullopt;
}

}  // namespace lavant::spec
