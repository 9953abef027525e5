#pragma once
// What main hands to every command: the world behind functions, so that tests can put their own there.

#include <functional>
#include <memory>
#include <string>

#include "cli/build.h"
#include "cli/console.h"
#include "ports/crypto.h"
#include "ports/http.h"

namespace lavant::cli {

struct Context {
    Console console;
    std::function<std::string(const std::string&)> variable;  // of the environment; "" if unset
    std::function<std::unique_ptr<ports::HttpClient>(const std::string& ca_file)> make_client;
    ports::Crypto& crypto;
    std::string program;  // this executable, to start a server with
    Build build = {};     // what it is
};

}  // namespace lavant::cli
