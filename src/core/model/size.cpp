#include "core/model/size.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace lavant {
namespace {

constexpr std::size_t kShownChars = 80;
constexpr std::string_view kAzurePrefixes[] = {"standard_", "basic_"};

std::optional<std::string> nearest_name(std::string_view asked, const std::vector<std::string>& others) {
    // "DS3_v2" is how people speak of them.
    if (const auto whole = find_size("Standard_" + std::string(asked))) return whole->name;
    std::vector<std::string> names = others;
    for (const Size& size : size_catalogue()) names.push_back(size.name);
    std::vector<std::string> lowered;
    for (const std::string& name : names) lowered.push_back(to_lower(name));
    const auto near = nearest(to_lower(asked), lowered);
    if (!near) return std::nullopt;
    return names[static_cast<std::size_t>(std::ranges::find(lowered, *near) - lowered.begin())];
}

}  // namespace

std::optional<Size> find_size(std::string_view name) {
    for (const Size& candidate : size_catalogue())
        if (equals_ignoring_case(candidate.name, name)) return candidate;
    return std::nullopt;
}

bool is_azure_size_name(std::string_view name) {
    return std::ranges::any_of(kAzurePrefixes, [&](std::string_view prefix) {
        return equals_ignoring_case(name.substr(0, prefix.size()), prefix);
    });
}

std::string size_problem(std::string_view asked, const std::vector<std::string>& others) {
    std::string message = "there is no size '" + std::string(asked.substr(0, kShownChars)) + "'";
    if (const auto near = nearest_name(asked, others)) return message + "; did you mean '" + *near + "'?";
    return message + "; `lavant size list` shows what there is, and " + std::string(kDefaultSize) +
           " is the default";
}

Size local_size(const Resources& machine) {
    Size size{.name = std::string(kLocalSize), .family = std::string(kLocalSize), .resources = machine};
    size.resources.memory_bytes = round_memory(machine.memory_bytes);
    size.origin = SizeOrigin::Machine;
    return size;
}

std::string_view name_of(RetiredSizes setting) {
    return setting == RetiredSizes::Refuse ? "refuse" : "substitute";
}

std::optional<RetiredSizes> parse_retired_sizes(std::string_view name) {
    for (const RetiredSizes setting : {RetiredSizes::Substitute, RetiredSizes::Refuse})
        if (name_of(setting) == name) return setting;
    return std::nullopt;
}

Result<ResolvedSize> resolve_size(const Size& asked, RetiredSizes setting) {
    if (!asked.is_retired()) return ResolvedSize{asked, ""};
    const std::string gone = asked.name + " was retired on " + asked.retired_on;
    if (setting == RetiredSizes::Refuse)
        return fail(ErrorCode::InvalidArgument, gone + "; use its successor " + asked.successor);
    auto successor = find_size(asked.successor);
    CHECK(successor.has_value(), "the successor of a retired size is in the catalogue");
    return ResolvedSize{*std::move(successor), gone + "; its successor " + asked.successor + " is used"};
}

}  // namespace lavant
