#include "core/model/gpu_names.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace lavant {
namespace {

bool is_gpu_name(std::string_view text) {
    return !text.empty() && text.size() <= kGpuNameChars && std::ranges::all_of(text, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("-_:.").find(c) != std::string_view::npos;
    });
}

}  // namespace

Result<std::vector<std::string>> parse_gpu_names(std::string_view text) {
    std::vector<std::string> names;
    if (text == "none") return names;
    std::set<std::string_view> seen;
    for (const std::string_view part : split(text, ',')) {
        const std::string_view name = trim(part);
        if (!is_gpu_name(name))
            return fail(ErrorCode::InvalidArgument,
                        "must be names by commas, like 0,1, each of at most 64 letters, digits and -_:.");
        if (!seen.insert(name).second)
            return fail(ErrorCode::InvalidArgument, "names '" + std::string(name) + "' twice");
        if (names.size() == kGpusMax) return fail(ErrorCode::InvalidArgument, "has more than 64 names");
        names.emplace_back(name);
    }
    return names;
}

std::string join_gpu_names(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return text;
}

}  // namespace lavant
