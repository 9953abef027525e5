#include "api/sizes.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "core/model/site_size.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr double kGib = 1LL << 30;
constexpr double kMicros = 1e6;
constexpr std::array kFields = {"family",  "vcpus", "memoryGib",       "gpus",
                                "diskGib", "price", "lowPriorityPrice"};

const char* word_of(SizeOrigin origin) {
    switch (origin) {
        case SizeOrigin::Catalogue:
            return "azure";
        case SizeOrigin::Site:
            return "site";
        case SizeOrigin::Machine:
            return "machine";
    }
    return "azure";
}

Result<Size> stored_size(const Asset& asset) {
    LAVANT_TRY(const Json body, wire::parse_json(asset.body));
    return parse_site_size(body["name"].string(), body["size"]);
}

Result<std::vector<Size>> list_site_sizes(Context& context) {
    ports::AssetQuery query;
    query.kind = kSizeKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = kSiteSizesMax;
    LAVANT_TRY(const auto assets, context.ports.reader.list_assets(query));
    std::vector<Size> sizes;
    for (const Asset& asset : assets) {
        LAVANT_TRY(Size size, stored_size(asset));
        sizes.push_back(std::move(size));
    }
    return sizes;
}

// A whole number, or -1, which is outside of every limit.
std::int64_t integer_in(const Json& body, std::string_view field) {
    return body.has(field) ? body[field].integer(-1) : 0;
}
double number_in(const Json& body, std::string_view field) {
    return body.has(field) ? body[field].number(-1) : 0;
}

Result<void> check_fields(const Json& body) {
    if (!body.is_object())
        return fail(ErrorCode::InvalidArgument,
                    R"(describe the size: {"vcpus": 16, "memoryGib": 64, "gpus": 1})");
    const std::vector<std::string> known(kFields.begin(), kFields.end());
    for (const auto& [key, value] : body.members()) {
        if (std::ranges::find(known, key) != known.end()) continue;
        const auto near = nearest(key, known);
        return fail(ErrorCode::InvalidArgument,
                    "a size has no '" + key.substr(0, kSizeNameChars) + "'" +
                        (near ? "; did you mean '" + *near + "'?"
                              : "; it has vcpus, memoryGib, gpus, diskGib, price, "
                                "lowPriorityPrice and family"));
    }
    if (body.has("family") && !body["family"].is_string())
        return fail(ErrorCode::InvalidArgument, "family must be a string");
    return {};
}

}  // namespace

AssetKey size_key(const std::string& name) { return {"", kSizeKind, to_lower(name), ""}; }

// Azure's names are nobody else's, so for these, which nearly every job has, nothing is read.
Result<std::optional<Size>> find_any_size(Context& context, const std::string& name) {
    if (auto known = find_size(name)) return known;
    if (equals_ignoring_case(name, kLocalSize))
        return std::optional<Size>(local_size(context.settings.machine));
    if (name.size() > kSizeNameChars || is_azure_size_name(name)) return std::optional<Size>{};
    LAVANT_TRY(const auto asset, context.ports.reader.find_asset(size_key(name)));
    if (!asset) return std::optional<Size>{};
    LAVANT_TRY(Size size, stored_size(*asset));
    return std::optional<Size>(std::move(size));
}

Result<std::vector<Size>> list_all_sizes(Context& context) {
    LAVANT_TRY(std::vector<Size> sizes, list_site_sizes(context));
    sizes.push_back(local_size(context.settings.machine));
    sizes.insert(sizes.end(), size_catalogue().begin(), size_catalogue().end());
    return sizes;
}

std::string explain_no_size(Context& context, const std::string& name) {
    std::vector<std::string> others{std::string(kLocalSize)};
    if (const auto own = list_site_sizes(context))
        for (const Size& size : *own) others.push_back(size.name);
    return size_problem(name, others);
}

Result<ResolvedSize> choose_size(Context& context, const std::string& name) {
    LAVANT_TRY(const auto size, find_any_size(context, name));
    if (!size) return fail(ErrorCode::InvalidArgument, explain_no_size(context, name));
    return resolve_size(*size, context.settings.retired_sizes);
}

Result<Size> parse_site_size(const std::string& name, const Json& body) {
    LAVANT_TRY_VOID(check_fields(body));
    SiteSize asked;
    asked.name = name;
    asked.family = body["family"].string();
    asked.vcpus = integer_in(body, "vcpus");
    asked.memory_gib = number_in(body, "memoryGib");
    asked.gpus = integer_in(body, "gpus");
    asked.disk_gib = integer_in(body, "diskGib");
    asked.price = number_in(body, "price");
    if (body.has("lowPriorityPrice")) asked.low_priority_price = number_in(body, "lowPriorityPrice");
    return check_site_size(asked);
}

Json size_view(const Size& size) {
    Json regions = Json::array();
    if (size.regions.is_all()) {
        regions.append("all");
    } else {
        for (std::string& name : size.regions.names()) regions.append(std::move(name));
    }
    Json view = Json::object({{"name", size.name},
                              {"family", size.family},
                              {"vcpus", size.vcpus()},
                              {"memoryGib", static_cast<double>(size.resources.memory_bytes) / kGib},
                              {"gpus", size.resources.gpus},
                              {"diskGib", size.disk_gib},
                              {"price", static_cast<double>(size.price) / kMicros},
                              {"lowPriorityPrice", static_cast<double>(size.low_priority_price) / kMicros},
                              {"origin", word_of(size.origin)},
                              {"regions", std::move(regions)}});
    if (size.is_retired()) view.set("retiredOn", size.retired_on).set("successor", size.successor);
    return view;
}

}  // namespace lavant::api
