#pragma once
// The servers a user has logged in to, below the configuration folder:
//
//   contexts/NAME/context.yml   url and user
//   contexts/NAME/ca.pem        the one authority that is trusted there; absent: what the system trusts
//   contexts/NAME/token         the key; absent after `lavant logout`
//   contexts/current            the name that `lavant context use` chose; absent: the embedded server
//
// All of it is readable by its owner only.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "cli/output.h"

namespace lavant::cli {

inline constexpr std::string_view kLocalContext = "local";  // the embedded server; not stored

struct StoredContext {
    std::string name;
    std::string url;
    std::string user;     // as the server said at login
    std::string ca_file;  // "": what the system trusts
    std::string token;    // "": logged out
};

bool is_context_name(std::string_view name);
// InvalidArgument for a name that is none, NotFound with the nearest for one that is not there.
[[nodiscard]] Outcome<StoredContext> load_context(const Context& context, const std::string& name);
[[nodiscard]] Outcome<std::vector<StoredContext>> list_contexts(const Context& context);
// `ca` is PEM text, "" for what the system trusts.
[[nodiscard]] Outcome<void> store_context(const Context& context, const StoredContext& stored,
                                          const std::string& ca);
std::string context_folder(const Context& context, const std::string& name);
// What `lavant context use` chose; "" for none.
std::string current_context(const Context& context);
[[nodiscard]] Outcome<void> make_current(const Context& context, const std::string& name);

[[nodiscard]] Outcome<Exit> show_contexts(Context& context, const Output& output);
[[nodiscard]] Outcome<Exit> show_context(Context& context, const std::string& name, const Output& output);
[[nodiscard]] Outcome<Exit> use_context(Context& context, const std::string& name);
[[nodiscard]] Outcome<Exit> delete_context(Context& context, const std::string& name);
// Forgets the key of a context (the current one for ""); its pinned authority stays.
[[nodiscard]] Outcome<Exit> log_out(Context& context, const std::string& name);

}  // namespace lavant::cli
