#pragma once
// The settings of the command line and where each comes from: a flag, a LAVANT_* variable, the project's
// .lavant.yml, the user's file, the system's, or the default, in this order. docs/configuration.md.
//
// A project's file comes with somebody's repository. So it may choose among what the user has (a context, a
// workspace) but name neither a server, nor a key, nor a folder in which a server's address is looked up.

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/outcome.h"
#include "core/model/workspace.h"

namespace lavant::cli {

enum class ValueKind { Name, Path, Choice, Flag, Count, Gpus, Words, Mirrors };

struct ConfigKey {
    std::string_view name;
    ValueKind kind = ValueKind::Name;
    std::string_view variable;
    std::string_view choices;   // of a Choice, by '|'
    std::string_view fallback;  // "": whatever the description says
    bool in_project = true;
    std::string_view description;
};
const std::vector<ConfigKey>& config_keys();
const ConfigKey* find_config_key(std::string_view name);
// The value as it is kept ("yes" becomes "true"), or what is wrong with it and what it may be.
[[nodiscard]] Result<std::string> check_value(const ConfigKey& key, std::string_view text);
// For a key that is none: with the nearest that is one.
Error unknown_key(std::string_view name);

enum class Source { Default, System, User, Project, Variable, Flag };
struct Origin {
    Source source = Source::Default;
    std::string place;  // a file, the name of a variable or of a flag
    int line = 0;
    std::string text() const;  // "LAVANT_WS", "/etc/lavant/config.yml:3", "--workspace", "default"
};
struct Setting {
    std::string value;
    Origin origin;
};

struct ConfigFiles {
    std::string system;
    std::string user;     // "" where there is no home
    std::string project;  // "" where there is none
};

class Config {
 public:
    Config();  // nothing but defaults

    const Setting& setting(std::string_view key) const;
    const std::string& operator[](std::string_view key) const { return setting(key).value; }
    bool flag(std::string_view key) const { return setting(key).value == "true"; }
    WorkspaceName workspace() const;
    void set(std::string_view key, Setting setting);

    ConfigFiles files;
    std::vector<std::string> warnings;  // of files that were not read

 private:
    std::vector<Setting> settings_;  // as config_keys()
};

struct ConfigWorld {
    std::function<std::string(const std::string&)> variable;  // "" if unset
    std::string folder;  // where one is: the project's file is looked for from here up
    uid_t user = 0;
    std::string system_file = "/etc/lavant/config.yml";
};
[[nodiscard]] Outcome<Config> load_config(const ConfigWorld& world);

// $XDG_CONFIG_HOME/lavant, else ~/.config/lavant; "" where neither is known.
std::string config_home(const std::function<std::string(const std::string&)>& variable);
ConfigFiles find_config_files(const ConfigWorld& world, std::vector<std::string>& warnings);

// What a file of that source says. Problems come with file, line and column, all at once.
struct FileSetting {
    const ConfigKey* key = nullptr;
    std::string value;
    int line = 0;
};
[[nodiscard]] Result<std::vector<FileSetting>> parse_config(std::string_view text, const std::string& file,
                                                            Source source);

inline constexpr std::string_view kDetectGpus = "auto";  // of a Gpus: those that are found
inline constexpr const char* kProjectFile = ".lavant.yml";
inline constexpr std::size_t kConfigBytesMax = 64U << 10;

// "a, b c" to its words.
std::vector<std::string> parse_words(std::string_view text);
// "account/container=/folder other=https://place" to pairs.
[[nodiscard]] Result<std::map<std::string, std::string>> parse_mirrors(std::string_view text);

}  // namespace lavant::cli
