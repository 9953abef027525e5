#pragma once
// Which job is meant: its whole name, a beginning that only one job has, or @last.

#include <string>

#include "cli/session.h"

namespace lavant::cli {

// The whole name. A name that nobody has, or a beginning that several have, is refused with what is there.
// Exactly: only a whole name will do, as scripts written for az expect, and before something is deleted.
enum class Match { Exactly, ByBeginning };
[[nodiscard]] Outcome<std::string> resolve_job(Session& session, const std::string& given, Match match);

}  // namespace lavant::cli
