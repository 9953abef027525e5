#pragma once
// What to do about a job that failed, from its error and the end of its log.

#include <string>
#include <string_view>

#include "wire/json.h"

namespace lavant::cli {

// `job` as az shows it. Empty where the error itself says all there is to say.
std::string advise(const wire::Json& job, std::string_view log_tail);

// The last `lines` lines of a log, without those that Lavant wrote itself at its beginning.
std::string last_lines(std::string_view log, std::size_t lines);

}  // namespace lavant::cli
