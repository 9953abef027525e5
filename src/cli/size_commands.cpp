#include "cli/size_commands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "core/model/region.h"

namespace lavant::cli {
namespace {

using wire::Json;

// 0.293, 3.60, 0.0146: as many places as there are, but two.
std::string dollars(double price) {
    constexpr std::size_t kLeast = 3;  // the point and two places
    std::string text = fmt::format("{:.4f}", price);
    while (text.ends_with('0') && text.size() - text.find('.') > kLeast) text.pop_back();
    return text;
}

std::string gib(const Json& amount) { return fmt::format("{:g} GiB", amount.number()); }

std::string note_on(const Json& size) {
    if (size.has("retiredOn")) return fmt::format("retired; now {}", printable(size["successor"].text()));
    if (size["origin"].text() == "site") return "of this site";
    return size["origin"].text() == "machine" ? "this machine" : "";
}

bool is_in(const Json& size, const std::string& region) {
    if (region.empty() || region == kLocalRegion) return true;
    return std::ranges::any_of(size["regions"].items(),
                               [&](const Json& one) { return one.text() == "all" || one.text() == region; });
}

bool passes(const Json& size, const SizeFilter& filter, const std::string& region) {
    return (filter.retired || !size.has("retiredOn")) && is_in(size, region) &&
           size["vcpus"].integer() >= filter.vcpus && size["memoryGib"].number() >= filter.memory_gib &&
           size["gpus"].integer() >= filter.gpus &&
           (!filter.price_max || size["price"].number() <= *filter.price_max);
}

// What a person may spell in several ways, or nothing.
Outcome<std::string> read_region(const std::string& asked) {
    if (asked.empty()) return std::string();
    auto region = find_region(asked);
    if (!region) return stop(Exit::Usage, ErrorCode::InvalidArgument, "--location: " + region_problem(asked));
    return *std::move(region);
}

std::string regions_of(const Json& size) {
    std::string text;
    for (const Json& one : size["regions"].items())
        text += (text.empty() ? "" : ", ") + printable(one.text());
    return text;
}

std::string render_size(const Json& size, int width) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"name", printable(size["name"].text())},
        {"family", printable(size["family"].text())},
        {"vcpus", size["vcpus"].scalar_text()},
        {"memory", gib(size["memoryGib"])},
        {"gpus", size["gpus"].scalar_text()},
        {"temporary disk", gib(size["diskGib"])},
        {"price", dollars(size["price"].number()) + " USD an hour"},
        {"low priority", dollars(size["lowPriorityPrice"].number()) + " USD an hour"},
        {"regions", regions_of(size)}};
    if (size.has("retiredOn")) {
        fields.emplace_back("retired on", printable(size["retiredOn"].text()));
        fields.emplace_back("successor", printable(size["successor"].text()));
    } else if (const std::string note = note_on(size); !note.empty()) {
        fields.emplace_back("note", note);
    }
    return render_fields(fields, width);
}

// The problem is with a flag, not with the field of a request.
Failure in_flags(Error error) {
    for (FieldProblem& one : error.fields) {
        if (one.path == "memoryGib") one.path = "--memory";
        if (one.path == "diskGib") one.path = "--disk";
        if (one.path == "lowPriorityPrice") one.path = "--low-priority-price";
        if (!one.path.starts_with("--")) one.path = "--" + one.path;
    }
    error.message = "cannot create the size";
    return Failure(Exit::Usage, std::move(error));
}

std::string size_path(Session& session, const std::string& name) {
    return session.own_path("/sizes/" + percent_encode(name));
}

}  // namespace

Outcome<Exit> list_sizes(Session& session, const Console& console, const SizeFilter& filter,
                         const Output& output) {
    LAVANT_TRY(const std::string region, read_region(filter.location));
    LAVANT_TRY(const Json answer, session.get(session.own_path("/sizes")));
    Json::Array found;
    for (const Json& size : answer["value"].items())
        if (passes(size, filter, region)) found.push_back(size);
    std::ranges::stable_sort(found, {}, [](const Json& size) { return size["price"].number(); });
    const Json sizes(std::move(found));
    LAVANT_TRY_VOID(print(sizes, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& size : sizes.items())
            rows.push_back({printable(size["name"].text()), size["vcpus"].scalar_text(),
                            size["gpus"].scalar_text(), gib(size["memoryGib"]),
                            dollars(size["price"].number()), dollars(size["lowPriorityPrice"].number()),
                            note_on(size)});
        return render_table({{"NAME", Cut::Last},
                             {"VCPUS"},
                             {"GPUS"},
                             {"MEMORY"},
                             {"$/HOUR"},
                             {"LOW PRIO"},
                             {"NOTE", Cut::First}},
                            rows, console.width);
    }));
    if (sizes.size() == 0) console.note("no size is like that; leave out some of the options");
    return Exit::Completed;
}

Outcome<Exit> show_size(Session& session, const Console& console, const std::string& name,
                        const Output& output) {
    LAVANT_TRY(const Json size, session.get(size_path(session, name)));
    LAVANT_TRY_VOID(print(size, output, console, [&] { return render_size(size, console.width); }));
    return Exit::Completed;
}

Outcome<Exit> create_size(Session& session, const Console& console, const SiteSize& asked,
                          const Output& output) {
    if (auto checked = check_site_size(asked); !checked)
        return tl::make_unexpected(in_flags(std::move(checked).error()));
    Json body = Json::object({{"vcpus", asked.vcpus},
                              {"memoryGib", asked.memory_gib},
                              {"gpus", asked.gpus},
                              {"diskGib", asked.disk_gib},
                              {"price", asked.price}});
    if (asked.low_priority_price) body.set("lowPriorityPrice", *asked.low_priority_price);
    if (!asked.family.empty()) body.set("family", asked.family);
    LAVANT_TRY(const Json size, session.create(size_path(session, asked.name), body));
    LAVANT_TRY_VOID(print(size, output, console, [&] { return render_size(size, console.width); }));
    return Exit::Completed;
}

Outcome<Exit> delete_size(Session& session, const Console& console, const std::string& name) {
    LAVANT_TRY_VOID(session.remove(size_path(session, name)));
    console.out << "deleted " << printable(name) << "\n";
    console.out.flush();
    return Exit::Completed;
}

Outcome<Exit> list_az_sizes(Session& session, const Console& console, const std::string& location,
                            const Output& output) {
    LAVANT_TRY(std::string region, read_region(location));
    if (region.empty()) {
        LAVANT_TRY(const Json workspace, session.get(session.workspace_path()));
        region = workspace["location"].string();
    }
    LAVANT_TRY(const Json answer,
               session.get(fmt::format(
                   "/subscriptions/{}/providers/Microsoft.MachineLearningServices/locations/{}/vmSizes",
                   percent_encode(session.address().workspace.subscription), percent_encode(region))));
    Json sizes = Json::array();
    for (const Json& size : answer["value"].items())
        sizes.append(Json::object({{"name", size["name"]},
                                   {"family", size["family"]},
                                   {"v_cp_us", size["vCPUs"]},
                                   {"gpus", size["gpus"]},
                                   {"os_vhd_size_mb", size["osVhdSizeMB"]},
                                   {"max_resource_volume_mb", size["maxResourceVolumeMB"]},
                                   {"memory_gb", size["memoryGB"]},
                                   {"low_priority_capable", size["lowPriorityCapable"]},
                                   {"premium_io", size["premiumIO"]},
                                   {"supported_compute_types", size["supportedComputeTypes"]}}));
    LAVANT_TRY_VOID(print(sizes, output, console, {}));
    return Exit::Completed;
}

}  // namespace lavant::cli
