#pragma once
// `lavant schedule create | validate | show | list | update | enable | disable | trigger | delete`

#include <string>
#include <vector>

#include "cli/connect.h"
#include "cli/context.h"
#include "cli/file_options.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

// One of that name that is there already is replaced.
[[nodiscard]] Outcome<Exit> create_schedule(Context& context, const ServerChoice& choice,
                                            const FileOptions& options, const Output& output);
// The same, but one of that name must be there.
[[nodiscard]] Outcome<Exit> replace_schedule(Context& context, const ServerChoice& choice,
                                             const FileOptions& options, const Output& output);
// Needs no server.
[[nodiscard]] Outcome<Exit> validate_schedule(Context& context, const FileOptions& options,
                                              const Output& output);

[[nodiscard]] Outcome<Exit> show_schedule(Session& session, const Console& console, const std::string& name,
                                          const Output& output);
struct ScheduleFilter {
    bool disabled_only = false;
    bool include_disabled = false;
    int max = 0;  // 0: all
};
[[nodiscard]] Outcome<Exit> list_schedules(Session& session, const Console& console,
                                           const ScheduleFilter& filter, const Output& output);
// Words about it, and its trigger: --set trigger.expression="0 4 * * *". The options' word `name` says which.
[[nodiscard]] Outcome<Exit> update_schedule(Session& session, const Console& console,
                                            const FileOptions& options, const Output& output);
[[nodiscard]] Outcome<Exit> enable_schedule(Session& session, const Console& console, const std::string& name,
                                            bool enabled);
// Its job once, now.
[[nodiscard]] Outcome<Exit> trigger_schedule(Session& session, const Console& console,
                                             const std::string& name, const Output& output);
[[nodiscard]] Outcome<Exit> delete_schedule(Session& session, Context& context, const std::string& name,
                                            bool yes);

// The ARM resource; `verb` for messages.
[[nodiscard]] Outcome<wire::Json> fetch_schedule(Session& session, const std::string& name,
                                                 const std::string& verb);
// What an ARM resource says, on one line or whole, with a warning that no clock fires it yet.
[[nodiscard]] Outcome<Exit> print_schedule(const wire::Json& arm, const Console& console,
                                           const Output& output, bool whole);

}  // namespace lavant::cli
