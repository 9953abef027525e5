#pragma once
// `lavant login URL`: finds out whom to trust there, checks the key, keeps both as a context.

#include <string>

#include "cli/context.h"

namespace lavant::cli {

struct LoginOptions {
    std::string url;
    std::string name;         // of the context; made from the host if empty
    std::string key_file;     // "-": standard input; empty: the person is asked
    std::string fingerprint;  // of the authority that is expected
    std::string ca_file;      // the authority itself, had by another way
    bool yes = false;         // trust what the server shows
};
[[nodiscard]] Outcome<Exit> log_in(Context& context, const LoginOptions& options);

// "host:8443/" becomes "https://host:8443". InvalidArgument for what is no server's address.
[[nodiscard]] Outcome<std::string> server_url(std::string text);
// "gpu-1.example.org" of "https://gpu-1.example.org:8443".
std::string name_from_url(const std::string& url);

}  // namespace lavant::cli
