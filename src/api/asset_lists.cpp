#include "api/asset_lists.h"

#include <algorithm>
#include <utility>

#include "api/answers.h"
#include "base/limits.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using ports::HttpResponse;
using wire::Json;

// A list that has to be sorted or searched is read as a whole, piece by piece; above this it has to be
// narrowed.
constexpr std::size_t kSearchedRows = 100'000;
constexpr std::size_t kSearchedBytes = 1U << 30;
constexpr int kRowsAtOnce = 250;  // of a search: a row may have a mebibyte

Result<std::int64_t> count_of(const Call& call, const char* name) {
    const auto text = call.request.query_value(name);
    if (!text || text->empty()) return 0;
    const auto number = parse_integer(*text);
    if (!number || *number < 0)
        return fail(ErrorCode::InvalidArgument,
                    std::string(name) + " must be a whole number from 0 on, not '" + *text + "'");
    return *number;
}

enum class By { Created, Modified, Name, Version };
struct Order {
    By by = By::Created;
    bool ascending = false;
};

Result<Order> order_of(const Call& call) {
    std::string text = to_lower(call.request.query_value("$orderBy").value_or(""));
    std::ranges::replace(text, '+', ' ');
    Order order;
    std::string_view field = trim(text);
    if (field.empty()) return order;
    order.ascending = true;  // where nothing is said, as in OData
    if (const std::size_t space = field.find(' '); space != std::string_view::npos) {
        const std::string_view way = trim(field.substr(space));
        field = field.substr(0, space);
        order.ascending = way == "asc";
        if (way != "asc" && way != "desc") field = {};
    }
    if (field == "createdtime") return order;
    if (field == "modifiedtime") return order.by = By::Modified, order;
    if (field == "name") return order.by = By::Name, order;
    if (field == "version") return order.by = By::Version, order;
    return fail(ErrorCode::InvalidArgument,
                "$orderBy is one of createdtime, modifiedtime, name and version, with asc or desc behind");
}

// Numbers before words, and numbers by their value.
bool version_less(const std::string& a, const std::string& b) {
    const auto x = parse_integer(a);
    const auto y = parse_integer(b);
    if (x && y) return *x < *y;
    if (x.has_value() != y.has_value()) return x.has_value();
    return a < b;
}

// The rows come newest first, so that equal ones stay in that order.
void sort_assets(std::vector<Asset>& assets, const Order& order) {
    const auto less = [&](const Asset& a, const Asset& b) {
        switch (order.by) {
            case By::Modified:
                return a.modified_at < b.modified_at;
            case By::Name:
                return a.key.name < b.key.name;
            case By::Version:
                return version_less(a.key.version, b.key.version);
            case By::Created:
                break;
        }
        return a.created_at < b.created_at;
    };
    if (order.by == By::Created) {
        if (order.ascending) std::ranges::reverse(assets);
        return;
    }
    std::ranges::stable_sort(
        assets, [&](const Asset& a, const Asset& b) { return order.ascending ? less(a, b) : less(b, a); });
}

// "a,b=c": the key a, and b with the value c.
struct Filter {
    std::string member;
    std::string text;
};

bool holds(const Json& values, std::string_view wanted) {
    for (const std::string_view part : split(wanted, ',')) {
        const std::string_view pair = trim(part);
        if (pair.empty()) continue;
        const std::size_t equals = pair.find('=');
        const Json* value = values.find(pair.substr(0, equals));
        if (value == nullptr) return false;
        if (equals != std::string_view::npos && value->scalar_text() != pair.substr(equals + 1)) return false;
    }
    return true;
}

std::vector<Filter> filters_of(const Call& call) {
    std::vector<Filter> filters;
    for (const char* name : {"tags", "properties", "stage"}) {
        auto text = call.request.query_value(name);
        if (text && !text->empty()) filters.push_back({name, std::move(*text)});
    }
    return filters;
}

bool passes(const Asset& asset, const std::vector<Filter>& filters) {
    if (filters.empty()) return true;
    const auto body = wire::parse_json(asset.body);
    return body && std::ranges::all_of(filters, [&](const Filter& filter) {
               const Json& value = (*body)[filter.member];
               return filter.member == "stage" ? equals_ignoring_case(value.text(), filter.text)
                                               : holds(value, filter.text);
           });
}

// Leaves the first `wanted`, in order.
void keep_first(std::vector<Asset>& assets, const Order& order, std::size_t wanted) {
    sort_assets(assets, order);
    if (assets.size() > wanted) assets.resize(wanted);
    // Back to the order in which rows come, so that more can be added behind.
    if (order.by == By::Created && order.ascending) std::ranges::reverse(assets);
}

// The first `wanted` rows that pass, in order. Looks at what there is, keeps no more than about twice that.
Result<std::vector<Asset>> search(Context& context, ports::AssetQuery query,
                                  const std::vector<Filter>& filters, const Order& order,
                                  std::size_t wanted) {
    const bool as_they_come = order.by == By::Created && !order.ascending;
    std::vector<Asset> found;
    std::size_t rows_seen = 0;
    std::size_t bytes_seen = 0;
    query.limit = kRowsAtOnce;
    for (query.offset = 0;; query.offset += query.limit) {
        LAVANT_TRY(auto rows, context.ports.reader.list_assets(query));
        const bool last = rows.size() < static_cast<std::size_t>(query.limit);
        for (Asset& row : rows) {
            ++rows_seen;
            bytes_seen += row.body.size();
            if (passes(row, filters)) found.push_back(std::move(row));
        }
        if (last || (as_they_come && found.size() >= wanted)) break;
        if (found.size() >= 2 * wanted) keep_first(found, order, wanted);
        if (rows_seen >= kSearchedRows || bytes_seen >= kSearchedBytes)
            return fail(ErrorCode::InvalidArgument,
                        "more than " + std::to_string(kSearchedRows) + " rows or " +
                            std::to_string(kSearchedBytes >> 20U) +
                            " MiB would have to be searched; ask for one name, or for all of them in the "
                            "order `createdtime desc`");
    }
    sort_assets(found, order);
    if (found.size() > wanted) found.resize(wanted);
    return found;
}

// The rows of the page, and one more if there is a next one.
Result<std::vector<Asset>> read_rows(Context& context, ports::AssetQuery query, const Page& page,
                                     const Call& call) {
    LAVANT_TRY(const Order order, order_of(call));
    const std::vector<Filter> filters = filters_of(call);
    if (filters.empty() && order.by == By::Created && !order.ascending) {
        query.offset = page.skip;
        query.limit = static_cast<int>(page.rows()) + 1;
        return context.ports.reader.list_assets(query);
    }
    // No more can be searched, so no more can be skipped.
    const auto skip = static_cast<std::size_t>(std::min<std::int64_t>(page.skip, kSearchedRows));
    LAVANT_TRY(auto all, search(context, std::move(query), filters, order, skip + page.rows() + 1));
    const auto from = std::min(skip, all.size());
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(from));
    return all;
}

bool is_paging(std::string_view pair) {
    const std::string_view name = pair.substr(0, pair.find('='));
    return equals_ignoring_case(name, "$skip") || equals_ignoring_case(name, "%24skip") ||
           equals_ignoring_case(name, "$top") || equals_ignoring_case(name, "%24top");
}

}  // namespace

std::size_t Page::rows() const {
    return static_cast<std::size_t>(top == 0 ? limits::kListPage
                                             : std::min<std::int64_t>(top, limits::kListPage));
}

Result<Page> read_page(const Call& call) {
    Page page;
    LAVANT_TRY(page.skip, count_of(call, "$skip"));
    LAVANT_TRY(page.top, count_of(call, "$top"));
    return page;
}

Result<std::optional<bool>> read_view(const Call& call, const ViewWords& words) {
    const std::string view = call.request.query_value(words.name).value_or("");
    if (view.empty() || equals_ignoring_case(view, words.kept)) return std::optional<bool>(false);
    if (equals_ignoring_case(view, "All")) return std::optional<bool>{};
    if (equals_ignoring_case(view, words.set_aside)) return std::optional<bool>(true);
    return fail(ErrorCode::InvalidArgument, std::string(words.name) + " is " + std::string(words.kept) +
                                                ", " + std::string(words.set_aside) + " or All, not '" +
                                                view + "'");
}

std::string link_to_next(const Context& context, const Call& call, const Page& page, bool more) {
    const auto rows = static_cast<std::int64_t>(page.rows());
    if (!more || (page.top != 0 && page.top <= rows)) return "";
    std::string link = origin_of(context, call.request) + call.request.path + "?";
    for (const std::string_view pair : split(call.request.query, '&'))
        if (!pair.empty() && !is_paging(pair)) (link += pair) += '&';
    if (page.top != 0) link += "%24top=" + std::to_string(page.top - rows) + "&";
    return link + "%24skip=" + std::to_string(page.skip + rows);
}

bool is_search(const Call& call) {
    return !filters_of(call).empty() || call.request.query_value("$orderBy").has_value();
}

Result<HttpResponse> list_assets(const AssetKind& kind, Context& context, const Call& call) {
    ports::AssetQuery query;
    query.workspace = call.workspace;
    query.kind = kind.name;
    query.name = call.param("name");
    query.containers = query.name.empty();
    LAVANT_TRY(query.archived, read_view(call, {"listViewType", "ActiveOnly", "ArchivedOnly"}));
    LAVANT_TRY(const Page page, read_page(call));
    const bool containers = query.containers;
    std::vector<Asset> assets;
    if (const auto hash = call.request.query_value("hash"); hash && kind.name == "codes") {
        // Whatever name the path has: the client makes up a new one before it knows whether the code is
        // there.
        LAVANT_TRY(auto hit, context.ports.reader.find_asset_by_hash(query.workspace, kind.name, *hash));
        if (hit) assets.push_back(std::move(*hit));
    } else {
        LAVANT_TRY(assets, read_rows(context, std::move(query), page, call));
    }
    const bool more = assets.size() > page.rows();
    if (more) assets.resize(page.rows());
    Json value = Json::array();
    for (const Asset& asset : assets) {
        LAVANT_TRY(Json view,
                   containers ? container_view(context, call, asset) : version_view(context, call, asset));
        value.append(std::move(view));
    }
    Json body = Json::object({{"value", std::move(value)}});
    if (std::string link = link_to_next(context, call, page, more); !link.empty())
        body.set("nextLink", std::move(link));
    return json_response(200, body);
}

}  // namespace lavant::api
