#include "api/quota_routes.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <utility>

#include "api/answers.h"
#include "api/job_routes.h"
#include "api/quota_requests.h"
#include "api/quota_rows.h"
#include "api/request_body.h"
#include "base/text.h"
#include "core/model/region.h"
#include "core/quota/quota_names.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr std::size_t kUpdatesMax = 500;  // in one request
constexpr const char* kProvider = "Microsoft.MachineLearningServices";

std::string location_path(const Call& call, const std::string& location) {
    return "/subscriptions/" + call.param("subscription") + "/providers/" + kProvider + "/locations/" +
           location;
}

// --- Azure's: usages and quotas ---

std::string_view cores_word(Tier tier) {
    return tier == Tier::Dedicated ? "dedicatedCores" : "lowPriorityCores";
}

// "Microsoft.MachineLearningServices/vmFamily/dedicatedCores/usages"; a total has no family.
std::string azure_type(const QuotaKey& key, const char* what) {
    return std::string(kProvider) + (key.family.empty() ? "/" : "/vmFamily/") +
           std::string(cores_word(key.tier)) + "/" + what;
}
std::string azure_workspace_type(const QuotaKey& key, const char* what) {
    return std::string(kProvider) + "/workspaces/" + std::string(cores_word(key.tier)) + "/" + what;
}

Json azure_entry(std::string id, std::string type, const QuotaKey& key) {
    return Json::object(
        {{"id", std::move(id)},
         {"type", std::move(type)},
         {"unit", "Count"},
         {"name", Json::object({{"value", azure_value_of(key)}, {"localizedValue", azure_name_of(key)}})},
         {"amlWorkspaceLocation", key.location}});
}

Result<std::string> location_of(const Call& call) {
    const std::string& asked = call.param("location");
    if (auto known = find_region(asked)) return std::move(*known);
    return fail(ErrorCode::InvalidArgument, region_problem(asked.substr(0, 100)));
}

Result<HttpResponse> list_usages(Context& context, const Call& call) {
    LAVANT_TRY(const std::string location, location_of(call));
    LAVANT_TRY(const QuotaState state, load_quotas(context));
    Json value = Json::array();
    for (const QuotaKey& key : state.keys_in(location)) {
        Json entry = azure_entry(location_path(call, location) + "/usages/" + azure_value_of(key),
                                 azure_type(key, "usages"), key);
        entry.set("currentValue", state.used(key))
            .set("limit", limit_json(state.book.limit(key, QuotaLevel::Subscription)));
        value.append(std::move(entry));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

// In the workspace the smaller limit counts: that is what it shows.
Result<HttpResponse> list_workspace_usages(Context& context, const Call& call) {
    LAVANT_TRY(const QuotaState state, load_quotas(context));
    Json value = Json::array();
    for (const QuotaKey& key : state.keys_in(std::string(kLocalRegion))) {
        Json entry = azure_entry(arm_id(workspace_of(call)) + "/usages/" + azure_value_of(key),
                                 azure_workspace_type(key, "usages"), key);
        entry.set("currentValue", state.used(key)).set("limit", limit_json(state.book.limit(key)));
        value.append(std::move(entry));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> list_azure_quotas(Context& context, const Call& call) {
    LAVANT_TRY(const std::string location, location_of(call));
    LAVANT_TRY(const QuotaState state, load_quotas(context));
    Json value = Json::array();
    for (const QuotaKey& key : state.keys_in(location)) {
        Json entry = azure_entry(location_path(call, location) + "/quotas/" + azure_value_of(key),
                                 azure_type(key, "quotas"), key);
        entry.set("limit", limit_json(state.book.limit(key, QuotaLevel::Subscription)));
        value.append(std::move(entry));
        const auto own = state.book.find(key, QuotaLevel::Workspace);
        if (!own) continue;
        WorkspaceName workspace = default_workspace();
        workspace.subscription = call.param("subscription");
        Json below = azure_entry(arm_id(workspace) + "/quotas/" + azure_value_of(key),
                                 azure_workspace_type(key, "quotas"), key);
        below.set("limit", limit_json(*own));
        value.append(std::move(below));
    }
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

// --- Azure's: several limits of the workspace at once, each with a status of its own ---

constexpr const char* kSuccess = "Success";
constexpr const char* kBelowUse = "InvalidQuotaBelowClusterMinimum";
constexpr const char* kAboveSubscription = "InvalidQuotaExceedsSubscriptionLimit";
constexpr const char* kNoFamily = "InvalidVMFamilyName";
constexpr const char* kFailure = "Failure";

struct Update {
    Quota quota;
    const char* refused = nullptr;  // nullptr: to be posted
};

Update parse_update(const QuotaState& state, const std::string& location, const Json& entry) {
    Update update;
    update.quota.level = QuotaLevel::Workspace;
    update.quota.key.location = location;
    const std::string_view id = entry["id"].text();
    const std::string_view name = id.substr(id.rfind('/') == std::string_view::npos ? 0 : id.rfind('/') + 1);
    const bool low = to_lower(entry["type"].text()).find("lowprioritycores") != std::string::npos ||
                     equals_ignoring_case(name, "TotalLowPriorityCores");
    update.quota.key.tier = low ? Tier::LowPriority : Tier::Dedicated;
    const bool total = equals_ignoring_case(name, azure_value_of({location, "", update.quota.key.tier}));
    auto family = find_quota_family(total ? kTotalFamily : name, state.sizes);
    if (!family) {
        update.refused = kNoFamily;
        return update;
    }
    update.quota.key.family = std::move(*family);
    constexpr std::int64_t kNone = -1;  // on Azure: as much as the subscription has
    const std::int64_t limit = entry["limit"].integer(kNone - 1);
    update.quota.cores = limit == kNone ? kUnlimitedCores : limit;
    if (limit < kNone || limit > kQuotaCoresMax) {
        update.refused = kFailure;
    } else if (above_subscription(state, update.quota)) {
        update.refused = kAboveSubscription;
    }
    return update;
}

// Answers when the last of its entries is decided. Every entry writes its own place.
struct Updates {
    explicit Updates(Json given) : entries(std::move(given)), statuses(entries.size(), kFailure) {}
    Json entries;
    std::vector<const char*> statuses;
    std::atomic<std::size_t> left{1};  // one for the loop that posts them

    void done(const SharedCall& call) {
        if (--left != 0) return;
        Json value = Json::array();
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const Json& entry = entries.items()[i];
            value.append(Json::object({{"id", entry["id"]},
                                       {"type", entry["type"]},
                                       {"limit", entry["limit"]},
                                       {"unit", "Count"},
                                       {"status", statuses[i]}}));
        }
        call->respond(json_response(200, Json::object({{"value", std::move(value)}})));
    }
};

const char* status_of_refusal(const Error& error) {
    const bool below = error.code == ErrorCode::Conflict || error.code == ErrorCode::InvalidArgument;
    return below ? kBelowUse : kFailure;
}

Result<Json> parse_updates(const Call& call) {
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    const Json& value = body["value"];
    if (!value.is_array() || value.size() == 0 || value.size() > kUpdatesMax)
        return fail(ErrorCode::InvalidArgument, "give a list of 1 to " + std::to_string(kUpdatesMax) +
                                                    R"( limits: {"value":[{"id","type","limit","unit"}]})");
    return value;
}

void update_quotas(Context& context, const SharedCall& call) {
    auto location = location_of(*call);
    if (!location) return call->respond(error_response(location.error()));
    auto entries = parse_updates(*call);
    if (!entries) return call->respond(error_response(entries.error()));
    const auto state = load_quotas(context);
    if (!state) return call->respond(error_response(state.error()));
    const auto updates = std::make_shared<Updates>(std::move(*entries));
    for (std::size_t i = 0; i < updates->statuses.size(); ++i) {
        const Update update = parse_update(*state, *location, updates->entries.items()[i]);
        if (update.refused != nullptr) {
            updates->statuses[i] = update.refused;
            continue;
        }
        plane::SetQuota event;
        event.quota = update.quota;
        event.who = call->caller.user;
        ++updates->left;
        const bool taken = context.ports.post(event, [updates, call, i](const Result<plane::Answer>& answer) {
            updates->statuses[i] = answer ? kSuccess : status_of_refusal(answer.error());
            updates->done(call);
        });
        if (!taken) updates->done(call);
    }
    updates->done(call);
}

// --- ours ---

// Without a location: that of the workspace, and every other where something is used or set.
Result<HttpResponse> list_quotas(Context& context, const Call& call) {
    std::set<std::string> locations;
    LAVANT_TRY(const QuotaState state, load_quotas(context));
    if (const auto asked = call.request.query_value("location")) {
        const auto known = find_region(*asked);
        if (!known) return fail(ErrorCode::InvalidArgument, region_problem(asked->substr(0, 100)));
        locations.insert(*known);
    } else {
        locations.emplace(kLocalRegion);
        for (const auto& [key, cores] : state.usage) locations.insert(key.location);
        for (const Quota& quota : state.set) locations.insert(quota.key.location);
    }
    std::optional<std::string> family;
    if (const auto asked = call.request.query_value("family")) {
        LAVANT_TRY(family, find_quota_family(*asked, state.sizes));
    }
    Json value = Json::array();
    for (const std::string& location : locations)
        for (const QuotaKey& key : state.keys_in(location))
            if (!family || key.family == *family) value.append(quota_row(state, key));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<Quota> parse_quota(Context& context, const Call& call) {
    LAVANT_TRY(const Json body, parse_body(call, {"family", "cores", "location", "tier", "level"}));
    LAVANT_TRY(const QuotaState state, load_quotas(context));
    LAVANT_TRY(const QuotaWish wish, parse_quota_wish(body, state.sizes));
    const Quota quota{wish.key, wish.level, wish.cores.value_or(kUnlimitedCores)};
    if (auto problem = above_subscription(state, quota))
        return fail(ErrorCode::InvalidArgument, std::move(*problem));
    return quota;
}

void put_quota(Context& context, const SharedCall& call) {
    const auto quota = parse_quota(context, *call);
    if (!quota) return call->respond(error_response(quota.error()));
    plane::SetQuota event;
    event.quota = *quota;
    event.who = call->caller.user;
    post(context, call, std::move(event), [call, quota = *quota](const plane::Answer&) {
        call->respond(json_response(200, Json::object({{"location", quota.key.location},
                                                       {"family", family_word(quota.key)},
                                                       {"tier", name_of(quota.key.tier)},
                                                       {"level", name_of(quota.level)},
                                                       {"cores", limit_json(quota.cores)}})));
    });
}

}  // namespace

void add_quota_routes(Router& router, Context& context) {
    const std::string place =
        std::string("/subscriptions/{subscription}/providers/") + kProvider + "/locations/{location}";
    router.add("GET", place + "/usages", answer_now(context, Need::SignedIn, list_usages));
    router.add("GET", place + "/quotas", answer_now(context, Need::SignedIn, list_azure_quotas));
    router.add("POST", place + "/updateQuotas", answer_later(context, Need::ServerOwner, update_quotas));
    router.add("GET", std::string(kWorkspacePattern) + "/usages",
               answer_now(context, Need::Reader, list_workspace_usages));
    router.add("GET", "/lavant/v1/quotas", answer_now(context, Need::Reader, list_quotas));
    router.add("PUT", "/lavant/v1/quotas", answer_later(context, Need::ServerOwner, put_quota));
    add_quota_request_routes(router, context);
}

}  // namespace lavant::api
