#pragma once
// `lavant job stream` and --stream: the log as it is written, a word when there is none, how the job ended.

#include <string>

#include "cli/context.h"
#include "cli/session.h"

namespace lavant::cli {

// Goes on where it was when the server restarts. Never silent for long: what the job waits for or does is
// said on standard error. Ctrl-C leaves the job running and says how to come back. The exit code tells the
// job's end.
[[nodiscard]] Outcome<Exit> stream_job(Session& session, Context& context, const std::string& name);

// What to do about a job that failed, from its log; "" if nothing more is known.
std::string remedy_of(Session& session, const std::string& name);

}  // namespace lavant::cli
