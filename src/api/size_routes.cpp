#include "api/size_routes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/answers.h"
#include "api/computes.h"
#include "api/sizes.h"
#include "app/workspace_rows.h"
#include "base/text.h"
#include "core/model/region.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

constexpr double kGib = 1LL << 30;
constexpr double kMicros = 1e6;

// --- Azure's list ---

Json price_of(const char* tier, std::int64_t price) {
    return Json::object(
        {{"retailPrice", static_cast<double>(price) / kMicros}, {"osType", "Linux"}, {"vmTier", tier}});
}

Json arm_view(const Size& size) {
    Json prices =
        Json::array({price_of("Standard", size.price), price_of("LowPriority", size.low_priority_price)});
    return Json::object({{"name", size.name},
                         {"family", size.family},
                         {"vCPUs", size.vcpus()},
                         {"gpus", size.resources.gpus},
                         {"osVhdSizeMB", 0},
                         {"maxResourceVolumeMB", size.disk_gib * 1024},
                         {"memoryGB", static_cast<double>(size.resources.memory_bytes) / kGib},
                         {"lowPriorityCapable", true},
                         {"premiumIO", false},
                         {"estimatedVMPrices", Json::object({{"billingCurrency", "USD"},
                                                             {"unitOfMeasure", "OneHour"},
                                                             {"values", std::move(prices)}})},
                         {"supportedComputeTypes", Json::array({"AmlCompute", "ComputeInstance"})}});
}

Result<HttpResponse> list_for_region(Context& context, const Call& call) {
    const std::string& asked = call.param("location");
    const auto region = find_region(asked);
    if (!region) return fail(ErrorCode::InvalidArgument, region_problem(asked));
    LAVANT_TRY(const auto sizes, list_all_sizes(context));
    Json value = Json::array();
    for (const Size& size : sizes)
        if (!size.is_retired() && size.regions.has(*region)) value.append(arm_view(size));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

// --- our own ---

Result<HttpResponse> list_sizes(Context& context, const Call& /*call*/) {
    LAVANT_TRY(const auto sizes, list_all_sizes(context));
    Json value = Json::array();
    for (const Size& size : sizes) value.append(size_view(size));
    return json_response(200, Json::object({{"value", std::move(value)}}));
}

Result<HttpResponse> get_size(Context& context, const Call& call) {
    const std::string& name = call.param("name");
    LAVANT_TRY(const auto size, find_any_size(context, name));
    if (!size) return fail(ErrorCode::NotFound, explain_no_size(context, name));
    return json_response(200, size_view(*size));
}

// The compute of the workspace whose nodes have this size, if there is one.
Result<std::optional<std::string>> find_user_in(Context& context, const std::string& workspace,
                                                const std::string& size) {
    ports::AssetQuery query;
    query.workspace = workspace;
    query.kind = kComputeKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = ports::kRowsPerQuery;
    for (;; query.offset += query.limit) {
        LAVANT_TRY(const auto page, context.ports.reader.list_assets(query));
        for (const Asset& compute : page) {
            LAVANT_TRY(const Json body, wire::parse_json(compute.body));
            if (equals_ignoring_case(body.get("properties.properties.vmSize").text(), size))
                return std::optional<std::string>(compute.key.name);
        }
        if (std::ssize(page) < query.limit) return std::optional<std::string>{};
    }
}

Result<std::optional<std::string>> find_user_of(Context& context, const std::string& size) {
    LAVANT_TRY(const auto workspaces, app::list_workspace_keys(context.ports.reader));
    for (const std::string& workspace : workspaces) {
        LAVANT_TRY(auto user, find_user_in(context, workspace, size));
        if (user) return user;
    }
    return std::nullopt;
}

struct SizeWrite {
    plane::WriteAssets event;
    Size size;
    bool existed = false;
};

Result<SizeWrite> plan_put(Context& context, const Call& call) {
    LAVANT_TRY(const Json body, wire::parse_json(call.request.body));
    LAVANT_TRY(Size size, parse_site_size(call.param("name"), body));
    AssetWrite write;
    write.asset.key = size_key(size.name);
    LAVANT_TRY(const auto existing, context.ports.reader.find_asset(write.asset.key));
    if (existing && call.request.header("If-None-Match") == "*")
        return fail(ErrorCode::AlreadyExists,
                    "there is a size '" + size.name + "' already; delete it first, or choose another name");
    LAVANT_TRY(const auto all, list_all_sizes(context));
    const auto of_site = std::ranges::count(all, SizeOrigin::Site, &Size::origin);
    if (!existing && of_site >= kSiteSizesMax)
        return fail(ErrorCode::ResourceExhausted, "there are " + std::to_string(kSiteSizesMax) +
                                                      " sizes of this site, and no more can be; delete one");
    write.asset.body = Json::object({{"name", size.name}, {"size", body}}).dump();
    if (existing && existing->body != write.asset.body) {
        // Its nodes, its quota and its prices were reckoned with the size as it is.
        LAVANT_TRY(const auto user, find_user_of(context, size.name));
        if (user)
            return fail(ErrorCode::Conflict, "compute '" + *user + "' has nodes of size '" + size.name +
                                                 "', which cannot be changed meanwhile; delete the compute "
                                                 "first, or make a size of another name");
    }
    write.asset.created_by = existing ? existing->created_by : call.caller.user;
    write.asset.modified_at = context.ports.clock.now();
    write.asset.created_at = existing ? existing->created_at : write.asset.modified_at;
    write.expected = existing ? existing->row_version : 0;
    SizeWrite plan{.event = {}, .size = std::move(size), .existed = existing.has_value()};
    plan.event.writes.push_back(std::move(write));
    return plan;
}

// Somebody else wrote the same size between our look and our write.
bool was_written(const SharedCall& call, const plane::Answer& answer) {
    if (!answer.assets_written.empty() && answer.assets_written.front()) return true;
    call->respond(error_response(
        {ErrorCode::Conflict, "somebody else changed the size at the same moment; look, and try again", {}}));
    return false;
}

void put_size(Context& context, const SharedCall& call) {
    auto plan = plan_put(context, *call);
    if (!plan) return call->respond(error_response(plan.error()));
    post(context, call, std::move(plan->event),
         [call, size = std::move(plan->size), existed = plan->existed](const plane::Answer& answer) {
             if (was_written(call, answer))
                 call->respond(json_response(existed ? 200 : 201, size_view(size)));
         });
}

Result<plane::WriteAssets> plan_delete(Context& context, const std::string& name) {
    LAVANT_TRY(const auto size, find_any_size(context, name));
    if (!size) return fail(ErrorCode::NotFound, explain_no_size(context, name));
    if (size->origin != SizeOrigin::Site)
        return fail(ErrorCode::Conflict,
                    "'" + size->name + "' is " +
                        (size->origin == SizeOrigin::Machine ? "the machine itself" : "Azure's") +
                        "; only a size that was made with `lavant size create` can be deleted");
    LAVANT_TRY(const auto user, find_user_of(context, size->name));
    if (user)
        return fail(ErrorCode::Conflict, "compute '" + *user + "' has nodes of size '" + size->name +
                                             "'; delete the compute first");
    AssetWrite write;
    write.asset.key = size_key(name);
    write.remove = true;
    plane::WriteAssets event;
    event.writes.push_back(std::move(write));
    return event;
}

void delete_size(Context& context, const SharedCall& call) {
    auto event = plan_delete(context, call->param("name"));
    if (!event) return call->respond(error_response(event.error()));
    post(context, call, std::move(*event), [call](const plane::Answer& answer) {
        if (!was_written(call, answer)) return;
        HttpResponse response;
        response.status = 204;
        call->respond(std::move(response));
    });
}

}  // namespace

void add_size_routes(Router& router, Context& context) {
    router.add(
        "GET",
        "/subscriptions/{subscription}/providers/Microsoft.MachineLearningServices/locations/{location}/"
        "vmSizes",
        answer_now(context, Need::SignedIn, list_for_region));
    const std::string base = "/lavant/v1/sizes";
    router.add("GET", base, answer_now(context, Need::SignedIn, list_sizes));
    router.add("GET", base + "/{name}", answer_now(context, Need::SignedIn, get_size));
    router.add("PUT", base + "/{name}", answer_later(context, Need::ServerOwner, put_size));
    router.add("DELETE", base + "/{name}", answer_later(context, Need::ServerOwner, delete_size));
}

}  // namespace lavant::api
