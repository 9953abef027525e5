#include "cli/config_commands.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include <stdlib.h>

#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/config_edit.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr int kWhole = 10'000;  // Paths are copied: they stay in one piece.

Json typed(const ConfigKey& key, const std::string& value) {
    if (value.empty()) return nullptr;
    if (key.kind == ValueKind::Flag) return value == "true";
    if (key.kind == ValueKind::Count) return parse_integer(value).value_or(0);
    return value;
}

struct Target {
    std::string file;
    Source source = Source::User;
    int mode = 0600;
};

Outcome<Target> target_of(Context& context, ConfigScope scope) {
    const ConfigFiles& files = context.config.files;
    switch (scope) {
        case ConfigScope::System:
            return Target{files.system, Source::System, 0644};
        case ConfigScope::Project:
            return Target{files.project.empty() ? context.folder + "/" + kProjectFile : files.project,
                          Source::Project, 0644};
        case ConfigScope::User:
            break;
    }
    if (files.user.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "cannot tell where your configuration lies: set HOME or XDG_CONFIG_HOME");
    return Target{files.user, Source::User, 0600};
}

Outcome<std::string> text_of(const Target& target) {
    if (!exists(target.file)) return std::string();
    LAVANT_TRY(std::string text, read_file(target.file, kConfigBytesMax));
    return text;
}

// Through a link (a folder of dot files under version control) to the file itself.
Outcome<void> write_to(const Target& target, const std::string& text) {
    LAVANT_TRY_VOID(make_directories(parent_of(target.file), target.source == Source::User ? 0700 : 0755));
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(target.file.c_str(), nullptr), &::free);
    LAVANT_TRY_VOID(write_file_atomically(real ? real.get() : target.file, text, target.mode));
    return {};
}

// Two commands at once change the file one after the other. The folder is locked: the file is replaced.
Result<Fd> lock_beside(const std::string& file) {
    LAVANT_TRY_VOID(make_directories(parent_of(file)));
    LAVANT_TRY(Fd folder, open_file(parent_of(file), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (::flock(folder.get(), LOCK_EX) != 0)
        return fail(system_error("lock '" + parent_of(file) + "'", errno));
    return folder;
}

}  // namespace

Outcome<Exit> show_config(Context& context, const ServerChoice& flags, bool with_origins,
                          const Output& output) {
    const Config config = with_flags(context.config, flags);
    Json document = Json::object();
    std::vector<std::vector<std::string>> rows;
    for (const ConfigKey& key : config_keys()) {
        const Setting& setting = config.setting(key.name);
        const std::string origin = setting.origin.text();
        Json value = typed(key, setting.value);
        rows.push_back({std::string(key.name), setting.value.empty() ? "-" : printable(setting.value)});
        if (with_origins) {
            rows.back().push_back(printable(origin));
            value = Json::object({{"value", std::move(value)}, {"origin", origin}});
        }
        document.set(key.name, std::move(value));
    }
    std::vector<Column> columns{{"KEY"}, {"VALUE"}};
    if (with_origins) columns.push_back({"ORIGIN"});
    LAVANT_TRY_VOID(
        print(document, output, context.console, [&] { return render_table(columns, rows, kWhole); }));
    return Exit::Completed;
}

Outcome<Exit> get_config(Context& context, const std::string& key) {
    if (find_config_key(key) == nullptr) return tl::make_unexpected(Failure(unknown_key(key)));
    const std::string& value = context.config[key];
    if (!value.empty()) context.console.out << value << "\n";
    context.console.out.flush();
    return Exit::Completed;
}

Outcome<Exit> show_config_paths(Context& context, const Output& output) {
    const ConfigFiles& files = context.config.files;
    const std::pair<const char*, const std::string&> all[] = {
        {"project", files.project}, {"user", files.user}, {"system", files.system}};
    Json document = Json::object();
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& [name, path] : all) {
        document.set(name, path.empty() ? Json() : Json(path));
        fields.emplace_back(name, path.empty() ? "none" : path + (exists(path) ? "" : " (not there)"));
    }
    LAVANT_TRY_VOID(print(document, output, context.console, [&] { return render_fields(fields, kWhole); }));
    return Exit::Completed;
}

Outcome<Exit> set_config(Context& context, const std::string& key, const std::string& value,
                         ConfigScope scope) {
    const ConfigKey* known = find_config_key(key);
    if (known == nullptr) return tl::make_unexpected(Failure(unknown_key(key)));
    LAVANT_TRY(const Target target, target_of(context, scope));
    LAVANT_TRY(const std::string checked, check_value(*known, value).map_error(in(key)));
    LAVANT_TRY(const Fd lock, lock_beside(target.file));
    LAVANT_TRY(const std::string before, text_of(target));
    LAVANT_TRY(const std::string after, with_key(before, target.file, *known, checked));
    // Refuses what this file may not say, and tells of other lines that are wrong.
    LAVANT_TRY_VOID(parse_config(after, target.file, target.source));
    LAVANT_TRY_VOID(write_to(target, after));
    context.console.err << fmt::format("set {} in {}\n", key, target.file);
    const Setting& now = context.config.setting(key);
    if (now.origin.source == Source::Variable)
        context.console.err << fmt::format("{} is set and wins over it\n", now.origin.place);
    return Exit::Completed;
}

Outcome<Exit> unset_config(Context& context, const std::string& key, ConfigScope scope) {
    LAVANT_TRY(const Target target, target_of(context, scope));
    LAVANT_TRY(const Fd lock, lock_beside(target.file));
    LAVANT_TRY(const std::string before, text_of(target));
    LAVANT_TRY(const std::string after, without_key(before, target.file, key));
    LAVANT_TRY_VOID(write_to(target, after));
    context.console.err << fmt::format("removed {} from {}\n", printable(key), target.file);
    return Exit::Completed;
}

}  // namespace lavant::cli
