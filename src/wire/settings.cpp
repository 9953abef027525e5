#include "wire/settings.h"

#include <algorithm>

#include "base/text.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

using spec::Document;

Result<Document> value_of(const std::string& setting, std::string_view text) {
    const std::string_view trimmed = trim(text);
    const bool is_structure = trimmed.starts_with('{') || trimmed.starts_with('[') ||
                              trimmed.starts_with('"') || trimmed.starts_with('\'');
    if (is_structure) return parse_yaml(text, "--set " + setting);
    if (trimmed.empty()) return Document::string("");
    return plain_scalar(std::string(text), {});
}

Result<void> set_in(Document& root, const std::string& setting, const std::string& section,
                    const std::string& name, Document value) {
    if (root.find(section) == nullptr) root.entries.push_back({section, {}, Document::map()});
    for (Document::Entry& entry : root.entries) {
        if (entry.key != section) continue;
        if (!entry.value.is_map())
            return fail(ErrorCode::InvalidArgument,
                        "cannot use --set " + setting + ": '" + section + "' is not a mapping");
        std::erase_if(entry.value.entries, [&](const Document::Entry& one) { return one.key == name; });
        entry.value.entries.push_back({name, {}, std::move(value)});
        break;
    }
    return {};
}

}  // namespace

Result<void> apply_setting(Document& root, const std::string& setting) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
        return fail(
            ErrorCode::InvalidArgument,
            "cannot use --set " + setting + ": write it as path=value, like " + "--set inputs.epochs=3");
    }
    const std::string path = setting.substr(0, equals);
    const std::string_view text = std::string_view(setting).substr(equals + 1);
    // Names and values that are the user's own: dots in a name are part of it, 7 is the text "7".
    for (const char* section : {"tags", "properties", "environment_variables"}) {
        const std::string prefix = std::string(section) + ".";
        if (!path.starts_with(prefix) || path.size() == prefix.size()) continue;
        return set_in(root, setting, section, path.substr(prefix.size()),
                      Document::string(std::string(text)));
    }
    LAVANT_TRY(Document value, value_of(setting, text));
    if (!spec::set_at(root, path, std::move(value))) {
        return fail(ErrorCode::InvalidArgument, "cannot use --set " + setting + ": '" + path +
                                                    "' leads through something that is not a mapping");
    }
    return {};
}

}  // namespace lavant::wire
