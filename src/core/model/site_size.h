#pragma once
// Sizes that a site defines for machines of its own: `lavant size create --name rtx4090 --vcpus 16 ...`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/model/size.h"

namespace lavant {

// As somebody asks for it. What is left out of prices and disk is 0.
struct SiteSize {
    std::string name;
    std::string family;  // "": kSiteFamily
    std::int64_t vcpus = 0;
    double memory_gib = 0;
    std::int64_t gpus = 0;
    std::int64_t disk_gib = 0;
    double price = 0;                               // dollars for an hour of a node
    std::optional<double> low_priority_price;  // a part of the price if left out
};

inline constexpr std::string_view kSiteFamily = "site";
inline constexpr std::size_t kSizeNameChars = 64;
inline constexpr std::int64_t kSizeVcpusMax = 1'024;
inline constexpr double kSizeMemoryGibMin = 0.25;
inline constexpr double kSizeMemoryGibMax = 65'536;
inline constexpr std::int64_t kSizeGpusMax = 64;
inline constexpr std::int64_t kSizeDiskGibMax = 1'048'576;
inline constexpr double kSizePriceMax = 1'000'000;

// The size itself, or all that is wrong with it, by the fields of the request.
[[nodiscard]] Result<Size> check_site_size(const SiteSize& asked);

}  // namespace lavant
