#pragma once
// Lists of assets: which rows, in which order, and how many on a page.

#include "api/asset_view.h"
#include "api/context.h"
#include "base/result.h"
#include "ports/http.h"

namespace lavant::api {

// The versions of one name if the path has one, else the containers of a kind. Understands listViewType,
// $top, $skip, $orderBy, tags, properties, stage and, for codes, hash.
[[nodiscard]] Result<ports::HttpResponse> list_assets(const AssetKind& kind, Context& context,
                                                      const Call& call);

// Whether such a list may have to look at every row: then it keeps a thread busy.
bool is_search(const Call& call);

// Which of the rows that can be archived, disabled or the like a list is about, by a word of the query.
struct ViewWords {
    std::string_view name;  // of the query's parameter
    std::string_view kept;  // "ActiveOnly", the default
    std::string_view set_aside;
};
[[nodiscard]] Result<std::optional<bool>> read_view(const Call& call, const ViewWords& words);

struct Page {
    std::int64_t skip = 0;
    std::int64_t top = 0;  // 0: all, page by page
    std::size_t rows() const;
};
[[nodiscard]] Result<Page> read_page(const Call& call);
// The link to what follows `page`, with everything else that was asked for; `more`: there is something.
// "" at the end.
std::string link_to_next(const Context& context, const Call& call, const Page& page, bool more);

}  // namespace lavant::api
