#include "core/model/size.h"

#include <cstdint>

#include "base/text.h"

namespace lavant {
namespace {

Size size(std::string name, std::string family, int vcpus, double memory_gib, int gpus = 0) {
    return {std::move(name),
            std::move(family),
            {.cpu_millis = vcpus * 1000,
             .memory_bytes = static_cast<std::int64_t>(memory_gib * (1LL << 30)),
             .gpus = gpus}};
}

std::vector<Size> make_catalogue() {
    return {
        size("Standard_DS1_v2", "standardDSv2Family", 1, 3.5),
        size("Standard_DS2_v2", "standardDSv2Family", 2, 7),
        size("Standard_DS3_v2", "standardDSv2Family", 4, 14),
        size("Standard_DS4_v2", "standardDSv2Family", 8, 28),
        size("Standard_DS5_v2", "standardDSv2Family", 16, 56),
        size("Standard_DS11_v2", "standardDSv2Family", 2, 14),
        size("Standard_DS12_v2", "standardDSv2Family", 4, 28),
        size("Standard_D1_v2", "standardDv2Family", 1, 3.5),
        size("Standard_D2_v2", "standardDv2Family", 2, 7),
        size("Standard_D3_v2", "standardDv2Family", 4, 14),
        size("Standard_D4_v2", "standardDv2Family", 8, 28),
        size("Standard_D2s_v3", "standardDSv3Family", 2, 8),
        size("Standard_D4s_v3", "standardDSv3Family", 4, 16),
        size("Standard_D8s_v3", "standardDSv3Family", 8, 32),
        size("Standard_E2s_v3", "standardESv3Family", 2, 16),
        size("Standard_E4s_v3", "standardESv3Family", 4, 32),
        size("Standard_E8s_v3", "standardESv3Family", 8, 64),
        size("Standard_F2s_v2", "standardFSv2Family", 2, 4),
        size("Standard_F4s_v2", "standardFSv2Family", 4, 8),
        size("Standard_F8s_v2", "standardFSv2Family", 8, 16),
        size("Standard_NC6", "standardNCFamily", 6, 56, 1),
        size("Standard_NC12", "standardNCFamily", 12, 112, 2),
        size("Standard_NC24", "standardNCFamily", 24, 224, 4),
        size("Standard_NC6s_v3", "standardNCSv3Family", 6, 112, 1),
        size("Standard_NC12s_v3", "standardNCSv3Family", 12, 224, 2),
        size("Standard_NC24s_v3", "standardNCSv3Family", 24, 448, 4),
        size("Standard_NC4as_T4_v3", "standardNCASv3_T4Family", 4, 28, 1),
        size("Standard_NC24ads_A100_v4", "standardNCADSA100v4Family", 24, 220, 1),
        size("Standard_ND96asr_v4", "standardNDASv4_A100Family", 96, 900, 8),
    };
}

}  // namespace

const std::vector<Size>& size_catalogue() {
    static const std::vector<Size> catalogue = make_catalogue();
    return catalogue;
}

std::optional<Size> find_size(std::string_view name) {
    for (const Size& candidate : size_catalogue())
        if (equals_ignoring_case(candidate.name, name)) return candidate;
    return std::nullopt;
}

}  // namespace lavant
