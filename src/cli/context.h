#pragma once
// What main hands to every command: the world behind functions, so that tests can put their own there.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/build.h"
#include "cli/config.h"
#include "cli/console.h"
#include "ports/crypto.h"
#include "ports/host_check.h"
#include "ports/http.h"

namespace lavant::cli {

// Whoever sits at the terminal. Without one nobody can be asked.
struct Person {
    std::function<bool()> is_there = [] { return false; };
    std::function<std::optional<std::string>(const std::string& question)> ask = {};
    std::function<std::optional<std::string>(const std::string& question)> ask_secret = {};  // not shown
    std::function<Result<std::string>(std::size_t bytes_max)> read_input = {};  // all of standard input
};

struct Context {
    Console console;
    std::function<std::string(const std::string&)> variable;  // of the environment; "" if unset
    std::function<std::unique_ptr<ports::HttpClient>(const std::string& ca_file)> make_client;
    ports::Crypto& crypto;
    std::string program;  // this executable, to start a server with
    Build build = {};     // what it is
    Config config = {};
    std::optional<Failure> config_error = {};  // why `config` is nothing but defaults
    std::string folder = {};                   // the current one
    // Trusts any certificate and sends no credentials: only to learn which authority a server has.
    std::function<std::unique_ptr<ports::HttpClient>()> make_unverified_client = {};
    Person person = {};
    std::function<std::vector<ports::HostCheck>(const std::string& data)> check_host = {};
};

}  // namespace lavant::cli
