#pragma once
// Names of GPU devices, as CUDA_VISIBLE_DEVICES takes them: "0", "1", or what a site calls them.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lavant {

inline constexpr std::size_t kGpusMax = 64;
inline constexpr std::size_t kGpuNameChars = 64;

// What the setting `gpus` says: names by commas, all different; "none" for no GPU at all.
[[nodiscard]] Result<std::vector<std::string>> parse_gpu_names(std::string_view text);
std::string join_gpu_names(const std::vector<std::string>& names);  // by commas

}  // namespace lavant
