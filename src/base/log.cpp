#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace lavant {
namespace {

struct Facade {
    std::shared_ptr<spdlog::logger> logger;  // spdlog shares loggers by design.
    bool json = false;
};

Facade& facade() {
    static Facade instance = [] {
        Facade made;
        made.logger =
            std::make_shared<spdlog::logger>("lavant", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        made.logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
        return made;
    }();
    return instance;
}

spdlog::level::level_enum to_spdlog(Level level) {
    switch (level) {
        case Level::Debug:
            return spdlog::level::debug;
        case Level::Info:
            return spdlog::level::info;
        case Level::Warning:
            return spdlog::level::warn;
        case Level::Error:
            return spdlog::level::err;
        case Level::Silent:
            return spdlog::level::off;
    }
    return spdlog::level::err;
}

// Log lines are one line each, whatever a name or message holds.
void append_quoted(std::string& out, std::string_view text) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (byte < 0x20 || byte == 0x7f) {
            out += "\\u00";
            out += kHex[byte >> 4U];
            out += kHex[byte & 15U];
        } else {
            out += c;
        }
    }
    out += '"';
}

}  // namespace

void configure_log(const LogSettings& settings) {
    Facade& here = facade();
    if (settings.file.empty()) {
        here.logger =
            std::make_shared<spdlog::logger>("lavant", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    } else {
        here.logger = std::make_shared<spdlog::logger>(
            "lavant", std::make_shared<spdlog::sinks::rotating_file_sink_mt>(
                          settings.file, static_cast<std::size_t>(settings.file_bytes_max),
                          static_cast<std::size_t>(settings.files_max)));
    }
    here.json = settings.json;
    const char* pattern =
        settings.json ? R"({"at":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
    here.logger->set_pattern(pattern, spdlog::pattern_time_type::utc);
    here.logger->set_level(to_spdlog(settings.least));
    here.logger->flush_on(spdlog::level::info);
}

void log(Level level, std::string_view event, std::initializer_list<LogField> fields) {
    const Facade& here = facade();
    if (!here.logger->should_log(to_spdlog(level))) return;
    std::string line;
    if (here.json) {
        line = "\"event\":";
        append_quoted(line, event);
    } else {
        line = event;
    }
    for (const auto& [key, value] : fields) {
        line += here.json ? ",\"" : " ";
        line += key;
        line += here.json ? "\":" : "=";
        append_quoted(line, value);
    }
    here.logger->log(to_spdlog(level), line);
}

void flush_log() { facade().logger->flush(); }

}  // namespace lavant
