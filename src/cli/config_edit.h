#pragma once
// Changes one key in the text of a configuration file and leaves every other byte, comments too, as it is.

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/config.h"

namespace lavant::cli {

// `value` is checked already. Where the file is written so that one line cannot be changed alone (a mapping
// in braces, a value over several lines) the answer says which line to edit by hand.
[[nodiscard]] Result<std::string> with_key(const std::string& text, const std::string& file,
                                           const ConfigKey& key, const std::string& value);
// NotFound if the key is not in it. The key need not be one that we know: that is how a wrong one is removed.
[[nodiscard]] Result<std::string> without_key(const std::string& text, const std::string& file,
                                              std::string_view key);

}  // namespace lavant::cli
