#pragma once
// The log facade: one structured line per event. log(Level::Info, "job_submitted", {{"job", name}});
// Secrets must never be passed. Below src/core nothing logs.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace lavant {

enum class Level { Debug, Info, Warning, Error, Silent };
using LogField = std::pair<std::string_view, std::string>;

struct LogSettings {
    std::string file;  // Empty: standard error.
    bool json = false;
    Level least = Level::Info;
    long file_bytes_max = 16L << 20;
    int files_max = 5;
};

void configure_log(const LogSettings& settings);
void log(Level level, std::string_view event, std::initializer_list<LogField> fields = {});
void flush_log();

}  // namespace lavant
