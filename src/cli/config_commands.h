#pragma once
// `lavant config show | get | set | unset | path`.

#include <string>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"

namespace lavant::cli {

// As they are for a command with these flags.
[[nodiscard]] Outcome<Exit> show_config(Context& context, const ServerChoice& flags, bool with_origins,
                                        const Output& output);
[[nodiscard]] Outcome<Exit> get_config(Context& context, const std::string& key);
[[nodiscard]] Outcome<Exit> show_config_paths(Context& context, const Output& output);

// Which file is changed: the user's unless told.
enum class ConfigScope { User, Project, System };
// These two work on the text of the file, also where it is not valid: that is how it is repaired.
[[nodiscard]] Outcome<Exit> set_config(Context& context, const std::string& key, const std::string& value,
                                       ConfigScope scope);
[[nodiscard]] Outcome<Exit> unset_config(Context& context, const std::string& key, ConfigScope scope);

}  // namespace lavant::cli
