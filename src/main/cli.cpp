#include "main/cli.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "adapters/crypto_openssl/openssl_crypto.h"
#include "adapters/http_client/curl_client.h"
#include "base/text.h"
#include "main/build.h"
#include "main/commands/families.h"

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

bool wants_colours() {
    return ::isatty(STDOUT_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && variable("NO_COLOR").empty() &&
           variable("TERM") != "dumb";
}

}  // namespace

int run_cli(const std::vector<std::string>& words) {
    ::signal(SIGPIPE, SIG_IGN);  // `lavant job stream x | head` ends by itself.
    std::ios::sync_with_stdio(false);
    const cli::Console console{std::cout,
                               std::cerr,
                               terminal_width(),
                               wants_colours(),
                               ::isatty(STDOUT_FILENO) == 1,
                               ::isatty(STDERR_FILENO) == 1};

    CommandLine line(Manner::Lavant);
    add_job_family(line);
    add_server_family(line);
    add_key_family(line);
    add_serve(line);
    int exit_code = 0;
    const Command command = line.parse(words, exit_code);
    if (!command) return exit_code;

    auto crypto = adapters::OpensslCrypto::without_key_file();
    if (!crypto) return cli::report(cli::Failure(crypto.error()), console);
    const auto make_client = [](const std::string& ca_file) -> std::unique_ptr<ports::HttpClient> {
        return std::make_unique<adapters::CurlClient>(adapters::ClientSettings{.ca_file = ca_file});
    };
    Context context{console, variable, make_client, **crypto, own_program(), own_build()};
    const Outcome<Exit> outcome = command(context);
    std::cout.flush();
    return outcome ? static_cast<int>(*outcome) : cli::report(outcome.error(), console);
}

}  // namespace lavant
