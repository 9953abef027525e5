#include "main/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/host_checks/host_checks.h"
#include "adapters/http_client/beast_client.h"
#include "base/files.h"
#include "base/text.h"
#include "main/build.h"
#include "main/commands/families.h"
#include "main/person.h"
#include "main/sandbox_trial.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;

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

bool is_out_beside_err() {
    struct ::stat out {};
    struct ::stat err {};
    if (::isatty(STDOUT_FILENO) == 1) return true;
    return ::fstat(STDOUT_FILENO, &out) == 0 && ::fstat(STDERR_FILENO, &err) == 0 &&
           out.st_dev == err.st_dev && out.st_ino == err.st_ino;
}

bool wants_colours(const std::string& chosen) {
    if (chosen != "auto") return chosen == "always";
    return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && variable("NO_COLOR").empty() &&
           variable("TERM") != "dumb";
}

// What a mistake in the configuration costs depends on the command.
void load_config_into(Context& context) {
    const cli::ConfigWorld world{.variable = variable, .folder = context.folder, .user = ::geteuid()};
    auto config = cli::load_config(world);
    if (config) {
        context.config = *std::move(config);
        return;
    }
    context.config.files = cli::find_config_files(world, context.config.warnings);
    context.config_error = std::move(config).error();
}

std::vector<ports::HostCheck> check_host(const std::string& data, const std::string& gpus) {
    host_checks::HostQuery query{
        .data = data, .variable = variable, .protections = {}, .protections_off = {}};
    if (gpus != cli::kDetectGpus) query.gpus = gpus;
    const std::string temporary = variable("TMPDIR").starts_with("/") ? variable("TMPDIR") : "/tmp";
    if (auto tried = try_protections(data, temporary)) {
        query.protections = *std::move(tried);
    } else {
        query.protections_off = std::move(tried).error().message;
    }
    return host_checks::check_host(query);
}

void add_all_families(CommandLine& line) {
    add_submit(line);
    add_job_family(line);
    add_compute_family(line);
    add_asset_families(line);
    add_datastore_family(line);
    add_schedule_family(line);
    add_server_family(line);
    add_key_family(line);
    add_access_families(line);
    add_size_family(line);
    add_workspace_family(line);
    add_quota_family(line);
    add_lock_family(line, line.root());
    add_usage(line);
    add_backup(line);
    add_config_family(line);
    add_context_family(line);
    add_doctor(line);
    add_serve(line);
    add_sandbox(line);
    add_shell_family(line);
    CommandLine::add(line.root(), "az", "the same commands in the words of the Azure CLI",
                     "az() { lavant az \"$@\"; }\naz ml job create -f job.yml --query name -o tsv");
}

}  // namespace

int run_cli(const std::vector<std::string>& given) {
    ::signal(SIGPIPE, SIG_IGN);  // `lavant job stream x | head` ends by itself.
    std::ios::sync_with_stdio(false);
    const bool az = !given.empty() && given.front() == "az";
    const std::vector<std::string> words(given.begin() + (az ? 1 : 0), given.end());
    CommandLine line(az ? Manner::Az : Manner::Lavant);
    if (az) {
        add_job_family(line);
        add_compute_family(line);
        add_asset_families(line);
        add_datastore_family(line);
        add_schedule_family(line);
        add_workspace_family(line);
        add_lock_family(line, *line.root().get_parent());
        add_az_family(line);
        line.add_az_options();
    } else {
        add_all_families(line);
    }
    int exit_code = 0;
    const Command command = line.parse(words, exit_code);
    if (!command) return exit_code;

    const cli::Console console{std::cout, std::cerr,           terminal_width(),
                               false,     is_out_beside_err(), ::isatty(STDERR_FILENO) == 1};
    auto crypto = adapters::OpensslCrypto::without_key_file();
    if (!crypto) return cli::report(cli::Failure(crypto.error()), console);
    const auto make_client = [](const std::string& ca_file) -> std::unique_ptr<ports::HttpClient> {
        return std::make_unique<adapters::BeastClient>(adapters::ClientSettings{.ca_file = ca_file});
    };
    Context context{console, variable, make_client, **crypto, own_program(), own_build()};
    context.folder = working_folder();
    context.make_unverified_client = []() -> std::unique_ptr<ports::HttpClient> {
        return std::make_unique<adapters::BeastClient>(adapters::ClientSettings{.verify = false});
    };
    context.person = person_at_terminal();
    context.check_host = [&context](const std::string& data) {
        return check_host(data, context.config["gpus"]);
    };
    load_config_into(context);
    context.console.colours = wants_colours(context.config["color"]);
    for (const std::string& warning : context.config.warnings)
        std::cerr << "lavant: " << cli::printable(warning) << "\n";
    if (context.config_error && !line.bears_bad_config())
        return cli::report(*context.config_error, context.console);
    line.set_default_format(context.config["output"]);
    const Outcome<Exit> outcome = command(context);
    std::cout.flush();
    if (outcome && *outcome == Exit::Completed && !std::cout.good())
        return cli::report(
            cli::Failure(Exit::Failed, {ErrorCode::Unavailable, "cannot write the result", {}}),
            context.console);
    return outcome ? static_cast<int>(*outcome) : cli::report(outcome.error(), context.console);
}

}  // namespace lavant
