#include "api/quota_rows.h"

#include <algorithm>
#include <utility>

#include "api/sizes.h"
#include "base/text.h"
#include "core/model/region.h"
#include "core/quota/quota_answer.h"
#include "core/quota/quota_names.h"
#include "core/spec/problems.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr const char* kNoLimit = "unlimited";

using Problems = std::vector<FieldProblem>;

void add(Problems& problems, std::string path, std::string message) {
    problems.push_back({std::move(path), std::move(message), 0, 0});
}

void read_cores(const Json& cores, QuotaWish& wish, Problems& problems) {
    if (cores.is_string() && equals_ignoring_case(cores.text(), kNoLimit)) {
        if (wish.level != QuotaLevel::Workspace)
            add(problems, "cores", "only the workspace can be without a limit of its own; give a number");
        return;
    }
    constexpr std::int64_t kNone = -1;
    const std::int64_t count = cores.is_number() ? cores.integer(kNone) : kNone;
    if (count < 0 || count > kQuotaCoresMax) {
        add(problems, "cores", "must be a whole number from 0 to " + std::to_string(kQuotaCoresMax));
    } else {
        wish.cores = count;
    }
}

}  // namespace

std::int64_t QuotaState::used(const QuotaKey& key) const {
    const auto found = usage.find(key);
    return found == usage.end() ? 0 : found->second;
}

bool QuotaState::is_set(const QuotaKey& key) const {
    return std::ranges::any_of(set, [&key](const Quota& quota) { return quota.key == key; });
}

std::vector<QuotaKey> QuotaState::keys_in(const std::string& location) const {
    std::vector<QuotaKey> keys = quota_keys_in(location, families_of(sizes));
    const auto add_key = [&](const QuotaKey& key) {
        const bool counts = key.location == location && key.family != kLocalFamily;
        if (counts && std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    };
    for (const auto& [key, cores] : usage) add_key(key);
    for (const Quota& quota : set) add_key(quota.key);
    return keys;
}

Result<QuotaState> load_quotas(Context& context) {
    QuotaState state{QuotaBook(context.settings.quota_defaults), {}, {}, {}};
    LAVANT_TRY(state.sizes, list_all_sizes(context));
    LAVANT_TRY(state.set, context.ports.reader.list_quotas());
    for (const Quota& quota : state.set) state.book.set(quota);
    LAVANT_TRY(const auto pools, context.ports.reader.list_pools());
    LAVANT_TRY(const auto nodes, context.ports.reader.list_nodes());
    state.usage = usage_of(pools, nodes);
    return state;
}

Json limit_json(std::int64_t cores) { return cores > kQuotaCoresMax ? -1 : cores; }

Json quota_row(const QuotaState& state, const QuotaKey& key) {
    const auto own = state.book.find(key, QuotaLevel::Workspace);
    return Json::object({{"location", key.location},
                         {"family", family_word(key)},
                         {"tier", name_of(key.tier)},
                         {"name", azure_name_of(key)},
                         {"used", state.used(key)},
                         {"limit", limit_json(state.book.limit(key))},
                         {"subscriptionLimit", limit_json(state.book.limit(key, QuotaLevel::Subscription))},
                         {"workspaceLimit", own && *own <= kQuotaCoresMax ? Json(*own) : Json()},
                         {"set", state.is_set(key)}});
}

Result<QuotaWish> parse_quota_wish(const Json& body, const std::vector<Size>& sizes) {
    QuotaWish wish;
    Problems problems;
    if (body["family"].text().empty()) {
        add(problems, "family", "say which: standardDSv2Family, or 'total' for all of the location");
    } else if (auto family = find_quota_family(body["family"].text(), sizes)) {
        wish.key.family = std::move(*family);
    } else {
        add(problems, "family", family.error().message);
    }
    const std::string location = body.has("location") ? body["location"].scalar_text() : "local";
    if (auto known = find_region(location)) {
        wish.key.location = std::move(*known);
    } else {
        add(problems, "location", region_problem(location.substr(0, 100)));
    }
    const std::string tier = body.has("tier") ? body["tier"].scalar_text() : "dedicated";
    if (const auto known = parse_tier(tier)) {
        wish.key.tier = *known;
    } else {
        add(problems, "tier",
            "there is no tier '" + tier.substr(0, 100) + "'" +
                spec::suggestion(tier, {"dedicated", "low_priority"}));
    }
    const std::string level = body.has("level") ? body["level"].scalar_text() : "subscription";
    if (const auto known = parse_quota_level(level)) {
        wish.level = *known;
    } else {
        add(problems, "level",
            "there is no level '" + level.substr(0, 100) + "'" +
                spec::suggestion(level, {"subscription", "workspace"}));
    }
    read_cores(body["cores"], wish, problems);
    if (!problems.empty())
        return fail(Error{ErrorCode::InvalidArgument, "the quota is not valid", std::move(problems)});
    return wish;
}

std::optional<std::string> above_subscription(const QuotaState& state, const Quota& quota) {
    const std::int64_t most = state.book.limit(quota.key, QuotaLevel::Subscription);
    if (quota.level != QuotaLevel::Workspace || quota.cores == kUnlimitedCores || quota.cores <= most)
        return std::nullopt;
    return "the subscription has " + std::to_string(most) + " cores of " + in_words(quota.key) +
           ", and the workspace cannot have more of them; raise that limit first (level: subscription)";
}

}  // namespace lavant::api
