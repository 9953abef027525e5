#pragma once
// `lavant key`: API keys. A secret is printed once, to standard output and alone, so that it can be piped.

#include <string>

#include "cli/context.h"
#include "cli/outcome.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

struct KeyWords {
    std::string user;
    std::string role;  // "": as the user has roles of their own, or contributor
    std::string label;
    std::string expires;  // "30d", "2030-01-31" or a time; "never"; "": as it is
    int requests_per_s = -1;
    int upload_mib_per_s = -1;
    int body_mib = -1;
};

[[nodiscard]] Outcome<Exit> create_key(Session& session, const Console& console, const KeyWords& words);
[[nodiscard]] Outcome<Exit> list_keys(Session& session, const Console& console, const std::string& user,
                                      const Output& output);
[[nodiscard]] Outcome<Exit> update_key(Session& session, const Console& console, const std::string& id,
                                       const KeyWords& words);
[[nodiscard]] Outcome<Exit> rotate_key(Session& session, const Console& console, const std::string& id);
[[nodiscard]] Outcome<Exit> revoke_key(Session& session, const Console& console, const std::string& id);

// The body of a new or changed key.
[[nodiscard]] Outcome<wire::Json> key_request(const KeyWords& words);

// Lets a client that showed a code in, or not (`lavant login --approve CODE`).
[[nodiscard]] Outcome<Exit> answer_device_login(Session& session, Context& context, const std::string& code,
                                                bool approve, bool yes);

}  // namespace lavant::cli
