#pragma once
// Limits and what counts against them, as they are stored now.

#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "base/result.h"
#include "core/model/size.h"
#include "core/quota/quota_book.h"
#include "wire/json.h"

namespace lavant::api {

struct QuotaState {
    QuotaBook book;
    QuotaUsage usage;
    std::vector<Quota> set;   // what somebody set
    std::vector<Size> sizes;  // whose families there are

    std::int64_t used(const QuotaKey& key) const;
    bool is_set(const QuotaKey& key) const;
    // Of every family that a size has, and of those that are used or set all the same.
    std::vector<QuotaKey> keys_in(const std::string& location) const;
};
[[nodiscard]] Result<QuotaState> load_quotas(Context& context);

// A limit for JSON: -1 where there is none, as Azure writes it.
wire::Json limit_json(std::int64_t cores);

// {"location","family","tier","name","used","limit","subscriptionLimit","workspaceLimit","set"}
wire::Json quota_row(const QuotaState& state, const QuotaKey& key);

struct QuotaWish {
    QuotaKey key;
    std::optional<std::int64_t> cores;  // nullopt: no limit, at the level of the workspace
    QuotaLevel level = QuotaLevel::Subscription;
};
// {"family","cores","location","tier","level"}; all problems at once.
[[nodiscard]] Result<QuotaWish> parse_quota_wish(const wire::Json& body, const std::vector<Size>& sizes);

// Why the workspace cannot have more than the subscription; nothing if it does not.
std::optional<std::string> above_subscription(const QuotaState& state, const Quota& quota);

}  // namespace lavant::api
