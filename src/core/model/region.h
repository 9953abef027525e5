#pragma once
// Azure's regions, by name, and "local": where a workspace is that lies nowhere on Azure.

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lavant {

inline constexpr std::string_view kLocalRegion = "local";
inline constexpr std::size_t kRegionsMax = 128;

const std::vector<std::string>& known_regions();
// The region's name, however it is spelt: "westus2", "West US 2".
std::optional<std::string> find_region(std::string_view text);
// For what is no region: "there is no region 'wetus'; did you mean 'westus'?"
std::string region_problem(std::string_view text);

// Some of the known regions. "local" is in every set: there everything can be had.
class RegionSet {
 public:
    static RegionSet all();
    static RegionSet of(std::string_view names);  // parted by blanks; every one must be known

    bool has(std::string_view name) const;  // of known_regions()
    bool is_all() const { return bits_ == all().bits_; }
    std::vector<std::string> names() const;
    bool operator==(const RegionSet&) const = default;

 private:
    std::bitset<kRegionsMax> bits_;  // by the place in known_regions()
};

}  // namespace lavant
