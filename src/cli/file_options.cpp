#include "cli/file_options.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/limits.h"
#include "wire/settings.h"

namespace lavant::cli {
namespace {

using spec::Document;
using wire::Json;

std::string flag_of(std::string_view key) {
    std::string flag = "--" + std::string(key.substr(key.rfind('.') + 1));
    std::ranges::replace(flag, '_', '-');
    return flag;
}

// A local path that a flag names is as if it stood in a file of the current folder.
std::string from_here(const Context& context, const std::string& path) {
    const std::size_t colon = path.find(':');
    const bool remote = colon != std::string::npos && colon >= 2 && path.find('/') > colon;
    if (remote || path.starts_with('/') || context.folder.empty()) return path;
    return context.folder + "/" + (path == "." ? "" : path);
}

Outcome<wire::SpecFile> read(const Context& context, const FileOptions& options, const std::string& what) {
    if (options.file.empty()) return wire::SpecFile{.folder = context.folder};
    auto file = [&]() -> Result<wire::SpecFile> {
        if (options.file != "-") return wire::read_spec_file(options.file, what);
        LAVANT_TRY(const std::string text, context.person.read_input(limits::kYamlBytes));
        LAVANT_TRY(wire::SpecFile read, wire::read_spec_text(text, "standard input", what));
        read.folder = context.folder;
        return read;
    }();
    if (!file) return tl::make_unexpected(Failure(Exit::Usage, std::move(file).error()));
    return std::move(*file);
}

}  // namespace

Outcome<std::vector<std::string>> settings_of_tags(const std::vector<std::string>& tags) {
    std::vector<std::string> settings;
    for (const std::string& tag : tags) {
        const std::size_t equals = tag.find('=');
        if (equals == std::string::npos || equals == 0)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("cannot use --tags {}: write it as KEY=VALUE", printable(tag)));
        settings.push_back("tags." + tag);
    }
    return settings;
}

Outcome<wire::SpecFile> read_file_options(const Context& context, const FileOptions& options,
                                          const std::string& what,
                                          const std::vector<std::string>& path_keys) {
    LAVANT_TRY(wire::SpecFile file, read(context, options, what));
    for (const auto& [key, word] : options.words) {
        if (word.empty()) continue;
        const bool is_path = std::ranges::find(path_keys, key) != path_keys.end();
        if (!spec::set_at(file.root, key, Document::string(is_path ? from_here(context, word) : word)))
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("cannot use {}: '{}' of the file is not a mapping", flag_of(key),
                                    key.substr(0, key.find('.'))));
    }
    LAVANT_TRY(std::vector<std::string> settings, settings_of_tags(options.tags));
    settings.insert(settings.end(), options.settings.begin(), options.settings.end());
    for (const std::string& setting : settings) {
        const auto set = wire::apply_setting(file.root, setting);
        if (!set) return tl::make_unexpected(Failure(Exit::Usage, set.error()));
    }
    if (file.label.empty() && file.root.entries.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument, fmt::format("give {} with -f, or flags", what));
    return file;
}

void say_warnings(const Console& console, const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings)
        console.note("warning: " + printable(warning), Colour::Yellow);
}

Outcome<Exit> print_valid(const Console& console, const Output& output, const Validated& valid) {
    const std::string label = valid.file == "-" ? "standard input" : valid.file;
    Json findings = Json::array();
    bool refused = false;
    std::string text = fmt::format("{} is valid: {}\n", printable(label), printable(valid.what));
    if (valid.for_azure && valid.findings.empty()) text += "Azure would take it as it is\n";
    if (valid.for_azure)
        for (const spec::Finding& one : valid.findings) {
            findings.append(Json::object({{"refused", one.refused}, {"text", one.text}}));
            text += "  azure: " + printable(one.text) + "\n";
            refused = refused || one.refused;
        }
    Json document = Json::object({{"valid", true},
                                  {"file", label},
                                  {"kind", valid.kind},
                                  {"name", valid.name.empty() ? Json() : Json(valid.name)},
                                  {"findings", std::move(findings)}});
    for (const auto& [key, value] : valid.more) document.set(key, value);
    LAVANT_TRY_VOID(print(document, output, console, [&text] { return text; }));
    return refused ? Exit::Usage : Exit::Completed;
}

Outcome<Exit> print_body(const Json& body, const Console& console, const Output& output) {
    LAVANT_TRY_VOID(print(body, output, console, [&] { return body.pretty() + "\n"; }));
    console.err << "dry run: nothing was sent\n";
    return Exit::Completed;
}

}  // namespace lavant::cli
