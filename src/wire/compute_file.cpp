#include "wire/compute_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "wire/settings.h"
#include "wire/yaml.h"

namespace lavant::wire {

Result<spec::ComputeSpec> load_compute(spec::Document root, spec::ComputeText text,
                                       const std::vector<std::string>& sets) {
    for (const std::string& setting : sets) LAVANT_TRY_VOID(apply_setting(root, setting));
    return spec::parse_compute(root, text);
}

Result<spec::Document> read_compute_text(std::string_view text, const std::string& label) {
    LAVANT_TRY(spec::Document root, parse_yaml(text, label));
    if (root.is_map()) return root;
    return fail(
        ErrorCode::InvalidArgument,
        "'" + label + "' is not a compute: it must be a mapping, but is " + std::string(name_of(root.kind)));
}

Result<spec::Document> read_compute_file(const std::string& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return fail(ErrorCode::InvalidArgument,
                    "cannot read '" + path + "': it is a folder; name the compute file in it");
    LAVANT_TRY(const std::string text, read_file(path, limits::kYamlBytes));
    return read_compute_text(text, path);
}

Result<spec::ComputeSpec> load_compute_text(std::string_view text, const std::string& label,
                                            const std::vector<std::string>& sets) {
    LAVANT_TRY(spec::Document root, read_compute_text(text, label));
    return load_compute(std::move(root), spec::ComputeText::Whole, sets).map_error(in(label));
}

Result<spec::ComputeSpec> load_compute_file(const std::string& path, const std::vector<std::string>& sets) {
    LAVANT_TRY(spec::Document root, read_compute_file(path));
    return load_compute(std::move(root), spec::ComputeText::Whole, sets).map_error(in(path));
}

}  // namespace lavant::wire
