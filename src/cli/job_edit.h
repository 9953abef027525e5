#pragma once
// `lavant job update | archive | restore | delete`.

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

// `settings`: display_name=…, description=…, tags.KEY=…, properties.KEY=….
[[nodiscard]] Outcome<Exit> update_job(Session& session, const Console& console, const std::string& name,
                                       const std::vector<std::string>& settings, const Output& output);

[[nodiscard]] Outcome<Exit> archive_job(Session& session, const Console& console, const std::string& name,
                                        bool archived);

// With all its files. Asks on a terminal unless `yes`.
[[nodiscard]] Outcome<Exit> delete_job(Session& session, Context& context, const std::string& name, bool yes);

}  // namespace lavant::cli
