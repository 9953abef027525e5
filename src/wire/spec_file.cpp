#include "wire/spec_file.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "wire/yaml.h"

namespace lavant::wire {

Result<SpecFile> read_spec_text(std::string_view text, const std::string& label, const std::string& what) {
    LAVANT_TRY(spec::Document root, parse_yaml(text, label));
    if (!root.is_map())
        return fail(ErrorCode::InvalidArgument, "'" + label + "' is not " + what +
                                                    ": it must be a mapping, but is " +
                                                    std::string(name_of(root.kind)));
    return SpecFile{.root = std::move(root), .folder = {}, .label = label};
}

Result<SpecFile> read_spec_file(const std::string& path, const std::string& what) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return fail(ErrorCode::InvalidArgument,
                    "cannot read '" + path + "': it is a folder; name the file in it");
    LAVANT_TRY(const std::string text, read_file(path, limits::kYamlBytes));
    LAVANT_TRY(SpecFile file, read_spec_text(text, path, what));
    const std::filesystem::path whole = std::filesystem::absolute(path, error);
    file.folder = (error ? std::filesystem::path(path) : whole).parent_path().lexically_normal().string();
    return file;
}

}  // namespace lavant::wire
