// `lavant serve` and, for the help's sake, `lavant agent` (main.cpp runs it).

#include "main/serve.h"

#include <CLI/CLI.hpp>
#include <map>

#include "base/text.h"
#include "core/model/gpu_names.h"
#include "main/commands/families.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;

constexpr int kIdleExitSeconds = 900;

struct Options : ServeOptions {
    int idle_exit_asked_s = -1;
    std::string log_level = "info";
    std::string retired_sizes_asked;
    std::string gpus_asked;
    std::string key_requests_asked;
    std::string key_upload_asked;
    std::string failed_logins_asked;
};

// Where the flag is not given, the variable, the file or the default counts.
Result<std::string> setting_of(const Context& context, const char* key, const std::string& asked) {
    if (asked.empty()) return context.config[key];
    return cli::check_value(*cli::find_config_key(key), asked).map_error([key](Error error) {
        error.message = std::string(key) + " " + error.message;
        return error;
    });
}

Result<int> count_of(const Context& context, const char* key, const std::string& asked) {
    LAVANT_TRY(const std::string text, setting_of(context, key, asked));
    return static_cast<int>(parse_integer(text).value_or(0));
}

Result<void> read_settings(const Context& context, Options& options) {
    LAVANT_TRY(options.key_requests_per_s,
               count_of(context, "key_requests_per_s", options.key_requests_asked));
    LAVANT_TRY(options.key_upload_mib_per_s,
               count_of(context, "key_upload_mib_per_s", options.key_upload_asked));
    LAVANT_TRY(options.failed_logins_per_minute,
               count_of(context, "failed_logins_per_minute", options.failed_logins_asked));
    LAVANT_TRY(const std::string retired, setting_of(context, "retired_sizes", options.retired_sizes_asked));
    options.retired_sizes = parse_retired_sizes(retired).value_or(RetiredSizes::Substitute);
    LAVANT_TRY(const std::string gpus, setting_of(context, "gpus", options.gpus_asked));
    if (gpus != cli::kDetectGpus) {
        LAVANT_TRY(options.gpus, parse_gpu_names(gpus));
    }
    options.make_workspaces = context.config["make_workspaces"] == "true";
    LAVANT_TRY(options.mirrors, cli::parse_mirrors(context.config["mirrors"]));
    options.notify_hosts = cli::parse_words(context.config["notify_hosts"]);
    return {};
}

Outcome<Exit> serve(Context& context, const cli::ServerChoice& choice, Options& options) {
    LAVANT_TRY(options.data, cli::data_folder(context, choice.data));
    LAVANT_TRY_VOID(read_settings(context, options));
    options.idle_exit_s = options.idle_exit_asked_s >= 0 ? options.idle_exit_asked_s
                          : options.embedded             ? kIdleExitSeconds
                                                         : 0;
    const std::map<std::string, Level> levels{
        {"debug", Level::Debug}, {"info", Level::Info}, {"warning", Level::Warning}, {"error", Level::Error}};
    options.log.least = levels.at(options.log_level);
    return static_cast<Exit>(run_serve(options));
}

void add_tls(CLI::App& command, Options& options) {
    command.add_option("--name", options.names, "further host name or address for the certificate")
        ->allow_extra_args(false)
        ->take_all()
        ->option_text("HOST");
    CLI::Option* certificate =
        command.add_option("--tls-cert", options.tls_certificate, "certificate of one's own (PEM)")
            ->check(CLI::ExistingFile.description(""))
            ->option_text("FILE");
    CLI::Option* key = command.add_option("--tls-key", options.tls_key, "its key (PEM)")
                           ->check(CLI::ExistingFile.description(""))
                           ->option_text("FILE");
    certificate->needs(key);
    key->needs(certificate);
}

void add_metering(CLI::App& command, Options& options) {
    const auto add = [&](const char* name, std::string& into, const char* about) {
        command.add_option(name, into, about)->option_text("COUNT");
    };
    add("--key-requests-per-s", options.key_requests_asked, "requests a second with one key; 0: no limit");
    add("--key-upload-mib-per-s", options.key_upload_asked,
        "MiB uploaded a second with one key; 0: no limit");
    add("--failed-logins-per-minute", options.failed_logins_asked,
        "wrong credentials a minute from one address; 0: no limit");
}

void add_log(CLI::App& command, Options& options) {
    command.add_option("--log-file", options.log.file, "standard error if left out")->option_text("FILE");
    command.add_flag("--log-json", options.log.json, "one JSON object per line");
    command.add_option("--log-level", options.log_level, "debug, info, warning or error")
        ->check(CLI::IsMember({"debug", "info", "warning", "error"}).description(""))
        ->option_text("LEVEL");
}

}  // namespace

void add_serve(CommandLine& line) {
    auto& options = line.keep<Options>();
    CLI::App& command = CommandLine::add(line.root(), "serve", "run a server in the foreground",
                                         "lavant serve --port 8443 --data /srv/lavant");
    command.add_option("--port", options.port, "0: any free one")
        ->check(CLI::Range(0, 65'535).description(""))
        ->option_text("PORT");
    command.add_option("--address", options.address, "where to listen; 127.0.0.1 if left out")
        ->option_text("ADDRESS");
    add_tls(command, options);
    command
        .add_option("--idle-exit", options.idle_exit_asked_s,
                    "leave after so many seconds without work; 0: never")
        ->check(CLI::NonNegativeNumber.description(""))
        ->option_text("SECONDS");
    command.add_option("--keep-events", options.events_kept, "so many of the history; the oldest go")
        ->check(CLI::Range(std::int64_t{1'000}, std::int64_t{1'000'000'000}).description(""))
        ->option_text("COUNT");
    command
        .add_option("--retired-sizes", options.retired_sizes_asked,
                    "substitute (run on the successor, with a warning) or refuse")
        ->option_text("WHAT");
    command
        .add_option("--gpus", options.gpus_asked,
                    "names of this machine's GPUs by commas, none, or auto: what is found")
        ->option_text("NAMES");
    add_metering(command, options);
    add_log(command, options);
    command.add_flag("--embedded", options.embedded)->group("");
    command.add_option("--ready-fd", options.ready_fd)->group("");
    command.add_option("--data", line.choice().data, "where everything is kept")->option_text("DIR");
    line.runs(command,
              [&line, &options](Context& context) { return serve(context, line.choice(), options); });

    CommandLine::add(line.root(), "agent", "run a node; started by the server", "lavant agent --version");
}

}  // namespace lavant
