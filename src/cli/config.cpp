#include "cli/config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/console.h"
#include "core/model/gpu_names.h"
#include "core/spec/document.h"
#include "core/spec/problems.h"
#include "wire/yaml.h"

namespace lavant::cli {
namespace {

using spec::Document;

constexpr std::size_t kNameBytesMax = 255;
constexpr std::size_t kPathBytesMax = 4'000;
constexpr std::int64_t kCountMost = 100'000'000;
constexpr int kFoldersMost = 256;  // looked into on the way up

// Words that people expect here. They belong to a context, where server, authority and key lie together.
bool is_of_a_context(std::string_view word) {
    return word == "endpoint" || word == "url" || word == "server" || word == "ca" || word == "token" ||
           word == "key" || word == "api_key";
}

std::vector<std::string> known_names() {
    std::vector<std::string> names;
    for (const ConfigKey& key : config_keys()) names.emplace_back(key.name);
    return names;
}

std::vector<std::string> choices_of(const ConfigKey& key) {
    std::vector<std::string> words;
    for (const std::string_view word : split(key.choices, '|')) words.emplace_back(word);
    return words;
}

bool has_control(std::string_view text) {
    return std::ranges::any_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f;
    });
}

Result<std::string> check_choice(const ConfigKey& key, std::string_view text) {
    const std::vector<std::string> words = choices_of(key);
    for (const std::string& word : words)
        if (equals_ignoring_case(word, text)) return word;
    const auto near = nearest(text, words);
    return fail(ErrorCode::InvalidArgument,
                fmt::format("cannot be '{}'; {}", printable(text.substr(0, 80)),
                            near ? "did you mean '" + *near + "'?" : "it must be " + spec::listed(words)));
}

Result<std::string> check_flag(std::string_view text) {
    for (const std::string_view yes : {"true", "yes", "on", "1"})
        if (equals_ignoring_case(text, yes)) return std::string("true");
    for (const std::string_view no : {"false", "no", "off", "0"})
        if (equals_ignoring_case(text, no)) return std::string("false");
    return fail(ErrorCode::InvalidArgument,
                fmt::format("must be true or false, not '{}'", printable(text.substr(0, 80))));
}

Result<std::string> check_text(const ConfigKey& key, std::string_view text) {
    const std::size_t most = key.kind == ValueKind::Path ? kPathBytesMax : kNameBytesMax;
    if (text.empty()) return fail(ErrorCode::InvalidArgument, "is empty; give it a value or remove it");
    if (text.size() > most)
        return fail(ErrorCode::InvalidArgument, fmt::format("is longer than the {} bytes allowed", most));
    if (has_control(text)) return fail(ErrorCode::InvalidArgument, "has a control character; remove it");
    if (key.kind == ValueKind::Name && text.find('/') != std::string_view::npos)
        return fail(ErrorCode::InvalidArgument, "is a name: it cannot have a '/'");
    return std::string(text);
}

// `text` is a scalar of a file. Only what YAML itself takes for a number or a truth value is one.
Result<std::string> check_document(const ConfigKey& key, const Document& value) {
    if (value.is_null())
        return fail(ErrorCode::InvalidArgument, "is empty; give it a value or remove the line");
    if (!value.is_scalar())
        return fail(ErrorCode::InvalidArgument,
                    "must be one value, but is " + std::string(name_of(value.kind)));
    if (value.kind == Document::Kind::Boolean) {
        if (key.kind == ValueKind::Flag) return std::string(value.boolean ? "true" : "false");
        return fail(ErrorCode::InvalidArgument,
                    fmt::format("is a truth value for YAML; write \"{}\" in quotes", value.text));
    }
    LAVANT_TRY(std::string text, check_value(key, value.text));
    if (key.kind == ValueKind::Path && !text.starts_with("/") && !text.starts_with("~/"))
        return fail(ErrorCode::InvalidArgument, "must begin with / or ~/: it is read from any folder");
    return text;
}

std::string refusal_in(Source source, std::string_view word) {
    if (source == Source::Project) {
        return fmt::format(
            "a project's file comes with its code and may not set '{}': what is sent where is the user's "
            "choice; log in with `lavant login URL` and name the context",
            word);
    }
    return fmt::format(
        "'{}' has no place here; `lavant login URL` keeps server, authority and key as a context", word);
}

bool says_nothing(std::string_view text) {
    for (const std::string_view line : split(text, '\n')) {
        const std::string_view words = trim(line);
        if (!words.empty() && !words.starts_with('#') && words != "---") return false;
    }
    return true;
}

struct ProjectFile {
    bool there = false;
    std::string why_not;  // it may not be read
};

// Everybody who can write the file decides what it says.
ProjectFile judge(const struct ::stat& about, const std::string& path, uid_t user) {
    if (!S_ISREG(about.st_mode)) return {true, "it is not a file"};
    if (about.st_uid != user && about.st_uid != 0)
        return {true, fmt::format("it belongs to another user ({}); copy it if you trust it", about.st_uid)};
    if ((about.st_mode & S_IWOTH) != 0)
        return {true, "everybody may write it; run: chmod o-w " + shell_quote(path)};
    return {true, ""};
}

ProjectFile look_at(const std::string& path, uid_t user) {
    struct ::stat about {};
    if (::stat(path.c_str(), &about) != 0) return {};
    return judge(about, path, user);
}

std::string resolved(const std::string& path) {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), &::free);
    return real ? real.get() : path;
}

// From where one is upward: to the root, or up to one's home (what is above it is not one's own).
std::string find_project_file(const ConfigWorld& world, std::vector<std::string>& warnings) {
    if (!world.folder.starts_with("/")) return "";
    const std::string home = resolved(world.variable("HOME"));
    std::string folder = world.folder;
    for (int i = 0; i < kFoldersMost; ++i) {
        const std::string path = (folder == "/" ? "" : folder) + "/" + kProjectFile;
        const ProjectFile found = look_at(path, world.user);
        if (found.there && found.why_not.empty()) return path;
        if (found.there) warnings.push_back(fmt::format("not reading {}: {}", path, found.why_not));
        if (folder == "/" || folder == home) break;
        folder = parent_of(folder);
    }
    return "";
}

// Judged again once it is open: whoever can write the folder might have put another file there.
Result<std::string> read_project_file(const std::string& path, uid_t user) {
    LAVANT_TRY(const Fd file, open_file(path, O_RDONLY | O_NONBLOCK));
    struct ::stat about {};
    if (::fstat(file.get(), &about) != 0) return fail(system_error("look at '" + path + "'", errno));
    if (const ProjectFile found = judge(about, path, user); !found.why_not.empty())
        return fail(ErrorCode::PermissionDenied, "cannot read '" + path + "': " + found.why_not);
    return read_file(fmt::format("/proc/self/fd/{}", file.get()), kConfigBytesMax);
}

Result<void> read_into(Config& config, const std::string& path, Source source, uid_t user) {
    if (path.empty() || !exists(path)) return {};
    LAVANT_TRY(const std::string text,
               source == Source::Project ? read_project_file(path, user) : read_file(path, kConfigBytesMax));
    LAVANT_TRY(const auto settings, parse_config(text, path, source));
    for (const FileSetting& one : settings) config.set(one.key->name, {one.value, {source, path, one.line}});
    return {};
}

}  // namespace

const std::vector<ConfigKey>& config_keys() {
    static const std::vector<ConfigKey> keys{
        {"context", ValueKind::Name, "LAVANT_CONTEXT", "", "", true,
         "server to use, by the name `lavant login` gave it; `local` is the embedded one"},
        {"subscription", ValueKind::Name, "LAVANT_SUB", "", default_workspace().subscription, true,
         "subscription of the workspace"},
        {"resource_group", ValueKind::Name, "LAVANT_RG", "", default_workspace().resource_group, true,
         "resource group of the workspace"},
        {"workspace", ValueKind::Name, "LAVANT_WS", "", default_workspace().name, true,
         "name of the workspace"},
        {"output", ValueKind::Choice, "LAVANT_OUTPUT", "table|json|jsonc|yaml|tsv|none", "table", true,
         "how results are printed where -o is not given"},
        {"experiment_name", ValueKind::Name, "LAVANT_EXPERIMENT_NAME", "", "", true,
         "experiment of jobs that name none; the current folder's name if unset"},
        {"git_diff", ValueKind::Flag, "LAVANT_GIT_DIFF", "", "true", true,
         "whether a job keeps the diff of a dirty git tree"},
        {"color", ValueKind::Choice, "LAVANT_COLOR", "auto|always|never", "auto", true,
         "colours in what is printed; auto: on a terminal"},
        {"data", ValueKind::Path, "LAVANT_DATA", "", "", false,
         "data folder of the embedded server; $XDG_STATE_HOME/lavant, else ~/.local/state/lavant if unset"},
        {"timeout_s", ValueKind::Count, "LAVANT_TIMEOUT_S", "", "60", true,
         "seconds after which a server that does not answer is given up"},
        {"idle_exit_s", ValueKind::Count, "LAVANT_IDLE_EXIT_S", "", "900", false,
         "seconds without work after which the embedded server leaves; 0: never"},
        {"retired_sizes", ValueKind::Choice, "LAVANT_RETIRED_SIZES", "substitute|refuse", "substitute", false,
         "what a server does with sizes that Azure retired: run on the successor, or refuse"},
        {"gpus", ValueKind::Gpus, "LAVANT_GPUS", "", kDetectGpus, false,
         "names of the server's GPUs by commas; none: it has none; auto: those that are found"},
        {"make_workspaces", ValueKind::Flag, "LAVANT_MAKE_WORKSPACES", "", "true", false,
         "whether a server makes a workspace when an owner first names it"},
        {"mirrors", ValueKind::Mirrors, "LAVANT_MIRRORS", "", "", false,
         "where a server finds data of Azure storage: account/container=/folder, several by blanks"},
        {"notify_hosts", ValueKind::Words, "LAVANT_NOTIFY_HOSTS", "", "", false,
         "hosts that webhooks of jobs may go to, by blanks; any if unset"},
        {"key_requests_per_s", ValueKind::Count, "LAVANT_KEY_REQUESTS_PER_S", "", "50000", false,
         "requests a second that a server takes with one key; 0: no limit"},
        {"key_upload_mib_per_s", ValueKind::Count, "LAVANT_KEY_UPLOAD_MIB_PER_S", "", "10240", false,
         "MiB a second that a server takes with one key; 0: no limit"},
        {"failed_logins_per_minute", ValueKind::Count, "LAVANT_FAILED_LOGINS_PER_MINUTE", "", "600", false,
         "wrong credentials a minute after which a server lets an address wait; 0: no limit"},
    };
    return keys;
}

const ConfigKey* find_config_key(std::string_view name) {
    const auto found = std::ranges::find(config_keys(), name, &ConfigKey::name);
    return found == config_keys().end() ? nullptr : &*found;
}

std::vector<std::string> parse_words(std::string_view text) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(" ,");
        if (const std::string_view word = text.substr(0, end); !word.empty()) words.push_back(to_lower(word));
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    return words;
}

Result<std::map<std::string, std::string>> parse_mirrors(std::string_view text) {
    std::map<std::string, std::string> mirrors;
    for (const std::string_view word : split(text, ' ')) {
        if (word.empty()) continue;
        const std::size_t equals = word.find('=');
        const std::string_view target = equals == std::string_view::npos ? "" : word.substr(equals + 1);
        const bool known = target.starts_with('/') || target.starts_with("azureml://datastores/") ||
                           target.starts_with("https://") || target.starts_with("http://");
        if (equals == 0 || !known)
            return fail(ErrorCode::InvalidArgument,
                        fmt::format("must be account/container=/folder, several by blanks, not '{}'",
                                    printable(word.substr(0, 80))));
        mirrors[std::string(word.substr(0, equals))] = target;
    }
    return mirrors;
}

Result<std::string> check_value(const ConfigKey& key, std::string_view text) {
    switch (key.kind) {
        case ValueKind::Choice:
            return check_choice(key, text);
        case ValueKind::Flag:
            return check_flag(text);
        case ValueKind::Count: {
            const auto number = parse_integer(text);
            if (number && *number >= 0 && *number <= kCountMost) return std::to_string(*number);
            return fail(ErrorCode::InvalidArgument, fmt::format("must be an integer from 0 to {}, not '{}'",
                                                                kCountMost, printable(text.substr(0, 80))));
        }
        case ValueKind::Words:
        case ValueKind::Mirrors: {
            if (key.kind == ValueKind::Mirrors) LAVANT_TRY_VOID(parse_mirrors(text));
            return std::string(text);
        }
        case ValueKind::Gpus: {
            if (equals_ignoring_case(text, kDetectGpus)) return std::string(kDetectGpus);
            LAVANT_TRY(const auto names, parse_gpu_names(text));
            return names.empty() ? std::string("none") : join_gpu_names(names);
        }
        case ValueKind::Name:
        case ValueKind::Path:
            return check_text(key, text);
    }
    CHECK(false, "every kind is checked");
}

Error unknown_key(std::string_view name) {
    const std::string shown = printable(name.substr(0, 80));
    if (is_of_a_context(name)) return {ErrorCode::InvalidArgument, refusal_in(Source::User, shown), {}};
    return {ErrorCode::InvalidArgument,
            fmt::format("there is no key '{}'{}", shown, spec::suggestion(name, known_names())),
            {}};
}

std::string Origin::text() const {
    if (source == Source::Default) return "default";
    return line > 0 ? fmt::format("{}:{}", place, line) : place;
}

Config::Config() {
    for (const ConfigKey& key : config_keys()) settings_.push_back({std::string(key.fallback), {}});
}

const Setting& Config::setting(std::string_view key) const {
    const ConfigKey* known = find_config_key(key);
    CHECK(known != nullptr, "the key is in the table");
    return settings_[static_cast<std::size_t>(known - config_keys().data())];
}

void Config::set(std::string_view key, Setting setting) {
    const ConfigKey* known = find_config_key(key);
    CHECK(known != nullptr, "the key is in the table");
    settings_[static_cast<std::size_t>(known - config_keys().data())] = std::move(setting);
}

WorkspaceName Config::workspace() const {
    return {(*this)["subscription"], (*this)["resource_group"], (*this)["workspace"]};
}

std::string config_home(const std::function<std::string(const std::string&)>& variable) {
    const std::string given = variable("XDG_CONFIG_HOME");
    if (given.starts_with("/")) return given + "/lavant";  // A relative one is invalid by its specification.
    const std::string home = variable("HOME");
    return home.empty() ? "" : home + "/.config/lavant";
}

ConfigFiles find_config_files(const ConfigWorld& world, std::vector<std::string>& warnings) {
    const std::string home = config_home(world.variable);
    return {world.system_file, home.empty() ? "" : home + "/config.yml", find_project_file(world, warnings)};
}

Result<std::vector<FileSetting>> parse_config(std::string_view text, const std::string& file, Source source) {
    std::vector<FileSetting> settings;
    if (says_nothing(text)) return settings;
    LAVANT_TRY(const Document root, wire::parse_yaml(text, file));
    spec::Problems problems;
    if (!root.is_map())
        problems.add("", root.at,
                     "must be a mapping of keys to values, but is " + std::string(name_of(root.kind)));
    for (const Document::Entry& entry : root.entries) {
        const std::string shown = printable(entry.key.substr(0, 80));
        const ConfigKey* key = find_config_key(entry.key);
        if (is_of_a_context(entry.key)) {
            problems.add(shown, entry.key_at, refusal_in(source, shown));
        } else if (key == nullptr) {
            problems.add(shown, entry.key_at, "unknown key" + spec::suggestion(entry.key, known_names()));
        } else if (source == Source::Project && !key->in_project) {
            problems.add(
                shown, entry.key_at,
                fmt::format("a project's file may not set '{}'; set it for yourself: lavant config set "
                            "{} VALUE",
                            shown, shown));
        } else if (auto value = check_document(*key, entry.value)) {
            settings.push_back({key, *std::move(value), entry.key_at.line});
        } else {
            const spec::Position at = entry.value.is_null() ? entry.key_at : entry.value.at;
            problems.add(shown, at, value.error().message);
        }
    }
    if (!problems.empty()) return fail(problems.to_error(file));
    return settings;
}

Outcome<Config> load_config(const ConfigWorld& world) {
    Config config;
    config.files = find_config_files(world, config.warnings);
    LAVANT_TRY_VOID(read_into(config, config.files.system, Source::System, world.user));
    LAVANT_TRY_VOID(read_into(config, config.files.user, Source::User, world.user));
    LAVANT_TRY_VOID(read_into(config, config.files.project, Source::Project, world.user));
    for (const ConfigKey& key : config_keys()) {
        const std::string name(key.variable);
        const std::string text = world.variable(name);
        if (text.empty()) continue;
        auto value = check_value(key, text);
        if (!value)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("the variable {} {}", name, value.error().message));
        config.set(key.name, {*std::move(value), {Source::Variable, name}});
    }
    return config;
}

}  // namespace lavant::cli
