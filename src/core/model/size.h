#pragma once
// VM sizes: those of Azure, in a catalogue that is data (size_catalogue.cpp), those that a site defines
// (site_size.h), and the whole machine.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/region.h"
#include "core/model/resources.h"

namespace lavant {

inline constexpr std::string_view kDefaultSize = "Standard_DS3_v2";
inline constexpr std::string_view kLocalSize = "local";  // the whole machine; its family has the same name

enum class SizeOrigin { Catalogue, Site, Machine };

struct Size {
    std::string name;
    std::string family;  // as quotas spell it
    Resources resources;
    std::int64_t disk_gib = 0;             // temporary disk
    std::int64_t price = 0;                // of a node, in millionths of a dollar an hour
    std::int64_t low_priority_price = 0;   // likewise
    RegionSet regions = RegionSet::all();  // where it can be had
    std::string retired_on = {};           // "2023-08-31"; "": it is not
    std::string successor = {};            // of a retired one
    SizeOrigin origin = SizeOrigin::Catalogue;

    bool is_retired() const { return !retired_on.empty(); }
    std::int64_t vcpus() const { return (resources.cpu_millis + 999) / 1000; }
    bool operator==(const Size&) const = default;
};

// Where there is no price of its own, low priority costs this part of it, as on Azure.
inline constexpr std::int64_t kLowPriorityShare = 5;

const std::vector<Size>& size_catalogue();
std::optional<Size> find_size(std::string_view name);  // of the catalogue; case does not matter
// Names that Azure gives or may yet give: nobody else's size may have one, so a client can judge them alone.
bool is_azure_size_name(std::string_view name);
// For a name that is no size: with the nearest that is one, of the catalogue or of `others`.
std::string size_problem(std::string_view asked, const std::vector<std::string>& others = {});

// All of a machine. Nothing is paid for it.
Size local_size(const Resources& machine);

// What a size that Azure has retired means: its successor, or nothing.
enum class RetiredSizes { Substitute, Refuse };
std::string_view name_of(RetiredSizes setting);
std::optional<RetiredSizes> parse_retired_sizes(std::string_view name);

struct ResolvedSize {
    Size size;
    std::string warning;  // names both sizes and the date; "" where the size is what was asked for
};
[[nodiscard]] Result<ResolvedSize> resolve_size(const Size& asked, RetiredSizes setting);

}  // namespace lavant
