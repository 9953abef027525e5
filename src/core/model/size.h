#pragma once
// The catalogue of VM sizes: data, not code.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/resources.h"

namespace lavant {

inline constexpr std::string_view kDefaultSize = "Standard_DS3_v2";

struct Size {
    std::string name;
    std::string family;
    Resources resources;
};

const std::vector<Size>& size_catalogue();
std::optional<Size> find_size(std::string_view name);  // case does not matter

}  // namespace lavant
