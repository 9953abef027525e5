#pragma once
// Every size there is: those of the catalogue, the machine as a whole, and those of the site, which are
// assets of kind "sizes", unversioned and of no workspace.

#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "base/result.h"
#include "core/model/asset.h"
#include "core/model/size.h"
#include "wire/json.h"

namespace lavant::api {

inline constexpr const char* kSizeKind = "sizes";
inline constexpr int kSiteSizesMax = 1'000;

// Case does not matter, as on Azure.
[[nodiscard]] Result<std::optional<Size>> find_any_size(Context& context, const std::string& name);
// The site's first, then the machine, then the catalogue.
[[nodiscard]] Result<std::vector<Size>> list_all_sizes(Context& context);
// What is said of a name that is none of them.
std::string explain_no_size(Context& context, const std::string& name);
// What who asks for `name` gets: a retired size is replaced or refused, as the server is set. An error is one
// sentence for whoever asked.
[[nodiscard]] Result<ResolvedSize> choose_size(Context& context, const std::string& name);

// --- as the site's are stored and shown ---

AssetKey size_key(const std::string& name);
// What a request says; the name is in its path.
[[nodiscard]] Result<Size> parse_site_size(const std::string& name, const wire::Json& body);
wire::Json size_view(const Size& size);

}  // namespace lavant::api
