#include "cli/build.h"

#include <optional>
#include <vector>

#include "base/text.h"

namespace lavant::cli {
namespace {

constexpr std::size_t kIdCharsShown = 8;

// Number by number: 0.10 is later than 0.9. Nothing if it is no version.
std::optional<std::vector<std::int64_t>> numbers_of(std::string_view version) {
    std::vector<std::int64_t> numbers;
    for (const std::string_view part : split(version, '.')) {
        const auto number = parse_integer(part);
        if (!number || *number < 0) return std::nullopt;
        numbers.push_back(*number);
    }
    while (!numbers.empty() && numbers.back() == 0) numbers.pop_back();  // 0.1 is 0.1.0
    return numbers;
}

}  // namespace

bool supersedes(const Build& mine, const Build& theirs) {
    const auto ours = numbers_of(mine.version);
    const auto other = numbers_of(theirs.version);
    if (!ours || !other) return false;
    if (*ours != *other) return *ours > *other;
    const bool known = !mine.id.empty() && !theirs.id.empty();
    return known && mine.id != theirs.id && mine.made_at_us > theirs.made_at_us;
}

std::string describe_change(const Build& from, const Build& to) {
    if (from.version != to.version) return from.version + " -> " + to.version;
    return to.version + ", build " + from.id.substr(0, kIdCharsShown) + " -> " +
           to.id.substr(0, kIdCharsShown);
}

}  // namespace lavant::cli
