#include "main/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/http_client/beast_client.h"
#include "base/text.h"
#include "cli/job_commands.h"
#include "cli/job_create.h"
#include "cli/job_download.h"
#include "cli/local_server.h"
#include "cli/server_commands.h"
#include "main/serve.h"
#include "main/version.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Format;
using cli::Outcome;
using cli::Session;
using Command = std::function<Outcome<Exit>(Context&)>;

constexpr int kUsage = static_cast<int>(Exit::Usage);
constexpr int kIdleExitSeconds = 900;

// What the parser fills in; a command's callback moves its part into `run`.
struct Arguments {
    cli::CreateOptions create;
    cli::ValidateOptions validate;
    cli::ListOptions list;
    cli::DownloadOptions download;
    ServeOptions serve;
    int idle_exit_s = -1;
    std::string log_level = "info";
    std::string name;
    std::string user;
    std::string target;
    std::string data;
    int port = 0;
    Format format = Format::Table;
    Command run;
    bool runs_server = false;
};

std::string variable(const std::string& name) {
    const char* value = ::getenv(name.c_str());
    return value == nullptr ? "" : value;
}

int terminal_width() {
    ::winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    const auto columns = parse_integer(variable("COLUMNS"));
    return columns && *columns >= 20 && *columns <= 10'000 ? static_cast<int>(*columns) : 80;
}

bool wants_colours() {
    return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && variable("NO_COLOR").empty() &&
           variable("TERM") != "dumb";
}

void add_format(CLI::App& command, Format& into) {
    const std::map<std::string, Format> words{
        {"table", Format::Table}, {"json", Format::Json}, {"yaml", Format::Yaml}};
    command.add_option("-o,--output", into, "table, json or yaml")
        ->transform(CLI::CheckedTransformer(words, CLI::ignore_case).description(""))
        ->option_text("FORMAT");
}

void add_data(CLI::App& command, std::string& into) {
    command.add_option("--data", into, "data folder of the local server")->option_text("DIR");
}

void add_name(CLI::App& command, std::string& into) {
    command.add_option("-n,--name,name", into, "name of the job")->required()->option_text("NAME");
}

void add_file(CLI::App& command, std::string& file, std::vector<std::string>& settings) {
    command.add_option("-f,--file", file, "job file (YAML)")->required()->option_text("FILE");
    command.add_option("--set", settings, "change a value of the file: --set resources.instance_count=2")
        ->option_text("A.B=C")
        ->allow_extra_args(false)
        ->take_all();
}

// A command that talks to a server: connected first, then run.
template <class Run>
Command with_session(const std::string& data, Run run) {
    return [&data, run](Context& context) -> Outcome<Exit> {
        LAVANT_TRY(Session session, cli::connect(context, data));
        return run(session, context.console);
    };
}

void add_job_commands(CLI::App& app, Arguments& arguments) {
    CLI::App* job = app.add_subcommand("job", "run and follow jobs");
    job->require_subcommand(1);

    CLI::App* create = job->add_subcommand("create", "submit a job file");
    add_file(*create, arguments.create.file, arguments.create.settings);
    create->add_option("-n,--name,name", arguments.create.name, "name of the job; made up if left out")
        ->option_text("NAME");
    create->add_flag("-s,--stream", arguments.create.stream, "print the log until the job has ended");
    add_format(*create, arguments.create.format);
    add_data(*create, arguments.create.data);
    create->callback([&] {
        arguments.run = [&](Context& context) { return cli::create_job(context, arguments.create); };
    });

    CLI::App* validate = job->add_subcommand("validate", "check a job file; needs no server");
    add_file(*validate, arguments.validate.file, arguments.validate.settings);
    validate->add_option("--target", arguments.target, "azure: list what Azure would refuse or ignore")
        ->check(CLI::IsMember({"azure", "lavant"}));
    add_format(*validate, arguments.validate.format);
    validate->callback([&] {
        arguments.validate.for_azure = arguments.target == "azure";
        arguments.run = [&](Context& context) { return cli::validate_job(context, arguments.validate); };
    });

    CLI::App* show = job->add_subcommand("show", "what the server knows about a job");
    add_name(*show, arguments.name);
    add_format(*show, arguments.format);
    add_data(*show, arguments.data);
    show->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::show_job(session, console, arguments.name, arguments.format);
        });
    });

    CLI::App* stream = job->add_subcommand("stream", "print the log until the job has ended");
    add_name(*stream, arguments.name);
    add_data(*stream, arguments.data);
    stream->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::stream_job(session, console, arguments.name);
        });
    });

    CLI::App* cancel = job->add_subcommand("cancel", "stop a job");
    add_name(*cancel, arguments.name);
    add_data(*cancel, arguments.data);
    cancel->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::cancel_job(session, console, arguments.name);
        });
    });
}

void add_list_and_download(CLI::App& app, Arguments& arguments) {
    CLI::App* job = app.get_subcommand("job");
    CLI::App* list = job->add_subcommand("list", "jobs, newest first");
    cli::ListOptions& options = arguments.list;
    list->add_option("-r,--max-results", options.max, "at most so many")
        ->check(CLI::Range(1, 100'000))
        ->option_text("N");
    list->add_option("--status", options.status, "only those with this status")->option_text("STATUS");
    list->add_option("--experiment", options.experiment, "only those of this experiment")
        ->option_text("NAME");
    list->add_option("--tag", options.tag, "only those with this tag")->option_text("KEY[=VALUE]");
    list->add_flag("--archived-only", options.archived, "only archived jobs");
    list->add_flag("--include-archived", options.all, "archived jobs too");
    add_format(*list, options.format);
    add_data(*list, arguments.data);
    list->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::list_jobs(session, console, arguments.list);
        });
    });

    CLI::App* download = job->add_subcommand("download", "fetch logs and outputs of an ended job");
    add_name(*download, arguments.download.name);
    download->add_option("-p,--download-path", arguments.download.folder, "where to; ./NAME if left out")
        ->option_text("DIR");
    download->add_option("--output-name", arguments.download.output_name, "only this named output")
        ->option_text("OUTPUT");
    download->add_flag("--all", arguments.download.all, "named outputs too");
    add_data(*download, arguments.data);
    download->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::download_job(session, console, arguments.download);
        });
    });
}

void add_server_commands(CLI::App& app, Arguments& arguments) {
    CLI::App* up = app.add_subcommand("up", "start the local server and leave it running");
    up->add_option("--port", arguments.port, "any free one if left out")
        ->check(CLI::Range(0, 65'535))
        ->option_text("PORT");
    add_data(*up, arguments.data);
    up->callback([&] {
        arguments.run = [&](Context& context) {
            return cli::bring_up(context, arguments.data, arguments.port);
        };
    });
    CLI::App* down = app.add_subcommand("down", "stop the local server");
    add_data(*down, arguments.data);
    down->callback(
        [&] { arguments.run = [&](Context& context) { return cli::take_down(context, arguments.data); }; });
    CLI::App* status = app.add_subcommand("status", "whether a server runs, and where");
    add_format(*status, arguments.format);
    add_data(*status, arguments.data);
    status->callback([&] {
        arguments.run = [&](Context& context) {
            return cli::show_status(context, arguments.data, arguments.format);
        };
    });
    CLI::App* env = app.add_subcommand("env", "export lines for other clients: eval \"$(lavant env)\"");
    add_data(*env, arguments.data);
    env->callback([&] {
        arguments.run = [&](Context& context) { return cli::print_environment(context, arguments.data); };
    });

    CLI::App* key = app.add_subcommand("key", "who may use the server");
    key->require_subcommand(1);
    CLI::App* create = key->add_subcommand("create", "make a key for a user and print it");
    create->add_option("-u,--user,user", arguments.user, "name of the user")->required()->option_text("USER");
    add_data(*create, arguments.data);
    create->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::create_key(session, console, arguments.user);
        });
    });
    CLI::App* list = key->add_subcommand("list", "keys, without their secrets");
    add_format(*list, arguments.format);
    add_data(*list, arguments.data);
    list->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::list_keys(session, console, arguments.format);
        });
    });
    CLI::App* revoke = key->add_subcommand("revoke", "make a key useless at once");
    revoke->add_option("id", arguments.name, "as `lavant key list` shows it")->required()->option_text("ID");
    add_data(*revoke, arguments.data);
    revoke->callback([&] {
        arguments.run = with_session(arguments.data, [&](Session& session, const cli::Console& console) {
            return cli::revoke_key(session, console, arguments.name);
        });
    });
}

void add_serve(CLI::App& app, Arguments& arguments) {
    CLI::App* serve = app.add_subcommand("serve", "run a server in the foreground");
    ServeOptions& options = arguments.serve;
    serve->add_option("--port", options.port, "0: any free one")
        ->check(CLI::Range(0, 65'535))
        ->option_text("PORT")
        ->capture_default_str();
    serve->add_option("--address", options.address, "where to listen")
        ->option_text("ADDRESS")
        ->capture_default_str();
    serve->add_option("--name", options.names, "further host name or address for the certificate")
        ->allow_extra_args(false)
        ->take_all()
        ->option_text("HOST");
    CLI::Option* certificate =
        serve->add_option("--tls-cert", options.tls_certificate, "certificate of one's own (PEM)")
            ->check(CLI::ExistingFile)
            ->option_text("FILE");
    CLI::Option* key = serve->add_option("--tls-key", options.tls_key, "its key (PEM)")
                           ->check(CLI::ExistingFile)
                           ->option_text("FILE");
    certificate->needs(key);
    key->needs(certificate);
    serve
        ->add_option("--idle-exit", arguments.idle_exit_s,
                     "leave after so many seconds without work; 0: never")
        ->check(CLI::NonNegativeNumber)
        ->option_text("SECONDS");
    serve->add_option("--keep-events", options.events_kept, "so many of the history; the oldest go")
        ->check(CLI::Range(std::int64_t{1'000}, std::int64_t{1'000'000'000}))
        ->option_text("COUNT")
        ->capture_default_str();
    serve->add_option("--log-file", options.log.file, "standard error if left out")->option_text("FILE");
    serve->add_flag("--log-json", options.log.json, "one JSON object per line");
    serve->add_option("--log-level", arguments.log_level, "debug, info, warning or error")
        ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
        ->option_text("LEVEL");
    serve->add_flag("--embedded", options.embedded)->group("");
    serve->add_option("--ready-fd", options.ready_fd)->group("");
    add_data(*serve, arguments.data);
    serve->callback([&] { arguments.runs_server = true; });
}

int start_server(Arguments& arguments, Context& context) {
    ServeOptions& options = arguments.serve;
    const auto data = cli::data_folder(context, arguments.data);
    if (!data) return cli::report(data.error(), context.console);
    options.data = *data;
    options.idle_exit_s = arguments.idle_exit_s >= 0 ? arguments.idle_exit_s
                          : options.embedded         ? kIdleExitSeconds
                                                     : 0;
    const std::map<std::string, Level> levels{
        {"debug", Level::Debug}, {"info", Level::Info}, {"warning", Level::Warning}, {"error", Level::Error}};
    options.log.least = levels.at(arguments.log_level);
    return run_serve(options);
}

std::string own_path() {
    std::string path(4096, '\0');
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    path.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    return path;
}

}  // namespace

int run_cli(int argc, char** argv) {
    ::signal(SIGPIPE, SIG_IGN);  // `lavant job stream x | head` ends by itself.
    std::ios::sync_with_stdio(false);
    const cli::Console console{std::cout, std::cerr, terminal_width(), wants_colours()};

    CLI::App app{"Runs Azure ML jobs on your own machines.", "lavant"};
    app.set_version_flag("--version", std::string("lavant ") + kVersion);
    app.require_subcommand(1);
    app.failure_message(CLI::FailureMessage::simple);
    Arguments arguments;
    add_job_commands(app, arguments);
    add_list_and_download(app, arguments);
    add_server_commands(app, arguments);
    add_serve(app, arguments);
    app.add_subcommand("agent", "run a node; started by the server")->group("");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        // CLI11 answers --help and --version this way too, with code 0.
        return app.exit(error, std::cout, std::cerr) == 0 ? 0 : kUsage;
    }

    auto crypto = adapters::OpensslCrypto::without_key_file();
    if (!crypto) return cli::report(cli::Failure(crypto.error()), console);
    const auto make_client = [](const std::string& ca_file) -> std::unique_ptr<ports::HttpClient> {
        return std::make_unique<adapters::BeastClient>(adapters::ClientSettings{.ca_file = ca_file});
    };
    Context context{console, variable, make_client, **crypto, own_path()};
    if (arguments.runs_server) return start_server(arguments, context);
    if (!arguments.run) return kUsage;
    const Outcome<Exit> outcome = arguments.run(context);
    std::cout.flush();
    return outcome ? static_cast<int>(*outcome) : cli::report(outcome.error(), console);
}

}  // namespace lavant
