#include "core/spec/output_path.h"

#include <algorithm>
#include <vector>

#include "base/limits.h"
#include "base/text.h"
#include "core/model/workspace.h"

namespace lavant::spec {
namespace {

// "a/${{name}}/b" -> "a/x/b"
std::string without_expressions(std::string_view text) {
    std::string out;
    while (true) {
        const std::size_t open = text.find("${{");
        const std::size_t close = open == std::string_view::npos ? open : text.find("}}", open);
        if (close == std::string_view::npos) return out += text;
        (out += text.substr(0, open)) += 'x';
        text.remove_prefix(close + 2);
    }
}

std::optional<std::string> find_part_problem(std::string_view part) {
    if (part.empty()) return "a part of it is empty; write one '/' between names";
    if (part == "." || part == "..")
        return "'" + std::string(part) + "' is not a name; write the path without it";
    if (part.size() > limits::kBlobNamePartBytes)
        return "a part of it is longer than " + std::to_string(limits::kBlobNamePartBytes) +
               " bytes; shorten it";
    return std::nullopt;
}

}  // namespace

std::optional<std::string> find_path_problem(std::string_view path) {
    while (path.starts_with('/')) path.remove_prefix(1);
    if (path.ends_with('/')) path.remove_suffix(1);  // a folder
    if (path.empty()) return "it names nothing below paths/; add a folder, as in paths/models/";
    if (path.size() > limits::kOutputPathBytes)
        return "it is longer than " + std::to_string(limits::kOutputPathBytes) + " bytes; shorten it";
    if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
        return "it has a control character in it; remove that";
    const std::vector<std::string_view> parts = split(path, '/');
    if (parts.size() > limits::kOutputPathParts)
        return "it has more than " + std::to_string(limits::kOutputPathParts) + " parts; use fewer folders";
    if (parts.front() == kStagingFolder)
        return "'" + std::string(kStagingFolder) + "' is the server's own; choose another folder";
    for (const std::string_view part : parts)
        if (auto problem = find_part_problem(part)) return problem;
    return std::nullopt;
}

std::optional<std::string> find_output_problem(std::string_view uri) {
    constexpr std::string_view kStores = "datastores/";
    constexpr std::string_view kPaths = "/paths/";
    if (!uri.starts_with("azureml://")) return std::nullopt;
    const std::size_t stores = uri.find(kStores);
    if (stores == std::string_view::npos) return std::nullopt;
    const std::size_t slash = uri.find('/', stores + kStores.size());
    if (slash == std::string_view::npos || !uri.substr(slash).starts_with(kPaths)) return std::nullopt;
    return find_path_problem(without_expressions(uri.substr(slash + kPaths.size())));
}

}  // namespace lavant::spec
