#include "cli/contexts.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/connect.h"
#include "cli/fingerprint.h"
#include "core/spec/document.h"
#include "core/spec/fields.h"
#include "core/spec/problems.h"
#include "wire/yaml.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr std::size_t kNameCharsMax = 64;
constexpr std::size_t kFileBytesMax = 16U << 10;
constexpr std::size_t kContextsMost = 1'000;
constexpr int kWhole = 10'000;

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Outcome<std::string> contexts_folder(const Context& context) {
    const std::string home = config_home(context.variable);
    if (home.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "cannot tell where contexts lie: set HOME or XDG_CONFIG_HOME");
    return home + "/contexts";
}

Outcome<std::vector<std::string>> names_in(const std::string& folder) {
    std::vector<std::string> names;
    if (!exists(folder)) return names;
    LAVANT_TRY(const auto entries, list_directory(folder));
    for (const DirectoryEntry& entry : entries) {
        if (entry.is_directory && is_context_name(entry.name) && names.size() < kContextsMost)
            names.push_back(entry.name);
    }
    return names;
}

Outcome<StoredContext> read_context(const std::string& folder, const std::string& name) {
    const std::string file = folder + "/context.yml";
    LAVANT_TRY(const std::string text, read_file(file, kFileBytesMax));
    LAVANT_TRY(const spec::Document root, wire::parse_yaml(text, file));
    spec::Problems problems;
    spec::Fields fields(root, "", problems);
    StoredContext stored{name, fields.string("url"), fields.text("user"), "", ""};
    const bool pinned = fields.boolean("pinned").value_or(false);
    fields.finish();
    if (!stored.url.starts_with("https://")) fields.problem("url", "must begin with https://");
    if (!problems.empty()) return tl::make_unexpected(Failure(Exit::Usage, problems.to_error(file)));
    if (exists(folder + "/ca.pem")) stored.ca_file = folder + "/ca.pem";
    if (pinned &&
        stored.ca_file.empty())  // Without it anybody's certificate would do that the system trusts.
        return stop(
            Exit::Usage, ErrorCode::NotFound,
            fmt::format("the certificate authority that is pinned for context '{}' is gone ({}/ca.pem); run: "
                        "lavant login {} --name {}",
                        name, folder, stored.url, name));
    if (const auto token = read_file(folder + "/token", kFileBytesMax))
        stored.token = std::string(trim(*token));
    return stored;
}

std::string trust_of(const StoredContext& stored, ports::Crypto& crypto) {
    return stored.ca_file.empty() ? "" : fingerprint_of_file(stored.ca_file, crypto);
}

Outcome<void> remove_file(const std::string& path) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT)
        return tl::make_unexpected(Failure(system_error("remove '" + path + "'", errno)));
    return {};
}

std::string context_fields(const Json& shown) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const auto& [key, value] : shown.members()) {
        const std::string title = key == "caFingerprint" ? "ca fingerprint"
                                  : key == "loggedIn"    ? "logged in"
                                  : key == "chosenBy"    ? "chosen by"
                                                         : key;
        const std::string text = value.is_null()      ? "none pinned; the system's certificates count"
                                 : value.is_boolean() ? (value.boolean() ? "yes" : "no")
                                                      : value.scalar_text();
        fields.emplace_back(title, text);
    }
    return render_fields(fields, kWhole);
}

}  // namespace

bool is_context_name(std::string_view name) {
    return !name.empty() && name.size() <= kNameCharsMax && is_letter_or_digit(name.front()) &&
           name != kLocalContext && name != "current" && std::ranges::all_of(name, [](char c) {
               return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
           });
}

std::string context_folder(const Context& context, const std::string& name) {
    return config_home(context.variable) + "/contexts/" + name;
}

Outcome<StoredContext> load_context(const Context& context, const std::string& name) {
    LAVANT_TRY(const std::string folder, contexts_folder(context));
    if (is_context_name(name) && exists(folder + "/" + name + "/context.yml"))
        return read_context(folder + "/" + name, name);
    LAVANT_TRY(const std::vector<std::string> names, names_in(folder));
    const auto near = nearest(name, names);
    return stop(
        Exit::Usage, ErrorCode::NotFound,
        fmt::format("there is no context '{}'{}", printable(name.substr(0, 80)),
                    near ? "; did you mean '" + *near + "'?"
                         : "; `lavant context list` shows those there are, `lavant login URL` makes one"));
}

Outcome<std::vector<StoredContext>> list_contexts(const Context& context) {
    LAVANT_TRY(const std::string folder, contexts_folder(context));
    LAVANT_TRY(const std::vector<std::string> names, names_in(folder));
    std::vector<StoredContext> all;
    for (const std::string& name : names) {
        if (!exists(folder + "/" + name + "/context.yml")) continue;
        LAVANT_TRY(StoredContext stored, read_context(folder + "/" + name, name));
        all.push_back(std::move(stored));
    }
    return all;
}

Outcome<void> store_context(const Context& context, const StoredContext& stored, const std::string& ca) {
    LAVANT_TRY(const std::string above, contexts_folder(context));
    const std::string folder = above + "/" + stored.name;
    LAVANT_TRY_VOID(make_directories(folder));
    // The key last: before it stands, nothing goes to the server.
    LAVANT_TRY_VOID(remove_file(folder + "/token"));
    if (ca.empty()) {
        LAVANT_TRY_VOID(remove_file(folder + "/ca.pem"));
    } else {
        LAVANT_TRY_VOID(write_file_atomically(folder + "/ca.pem", ca, 0600));
    }
    LAVANT_TRY_VOID(
        write_file_atomically(folder + "/context.yml",
                              fmt::format("url: {}\nuser: {}\npinned: {}\n", json_quote(stored.url),
                                          json_quote(stored.user), !ca.empty()),
                              0600));
    LAVANT_TRY_VOID(write_file_atomically(folder + "/token", stored.token + "\n", 0600));
    return {};
}

std::string current_context(const Context& context) {
    const auto text = read_file(context_folder(context, "current"), kFileBytesMax);
    return text ? std::string(trim(*text)) : "";
}

Outcome<void> make_current(const Context& context, const std::string& name) {
    LAVANT_TRY(const std::string folder, contexts_folder(context));
    if (name == kLocalContext) return remove_file(folder + "/current");
    LAVANT_TRY_VOID(make_directories(folder));
    LAVANT_TRY_VOID(write_file_atomically(folder + "/current", name + "\n", 0600));
    return {};
}

Outcome<Exit> show_contexts(Context& context, const Output& output) {
    LAVANT_TRY(const auto all, list_contexts(context));
    const ServerInUse chosen = server_in_use(context, {});
    Json document = Json::array();
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const std::string& name, const std::string& url, const std::string& user,
                         const std::string& fingerprint, bool has_key) {
        const bool used = chosen.kind != ServerInUse::Kind::Endpoint && chosen.name == name;
        const bool local = name == kLocalContext;
        rows.push_back({used ? "*" : "", name, printable(url), printable(user),
                        local                 ? "-"
                        : fingerprint.empty() ? "system"
                                              : "pinned " + fingerprint.substr(0, 11) + "…",
                        local || has_key ? "" : "logged out"});
        Json one = Json::object({{"name", name}, {"inUse", used}});
        if (!local)
            one.set("url", url)
                .set("user", user)
                .set("loggedIn", has_key)
                .set("caFingerprint", fingerprint.empty() ? Json() : Json(fingerprint));
        document.append(std::move(one));
    };
    add(std::string(kLocalContext), "-", "-", "", true);
    for (const StoredContext& one : all)
        add(one.name, one.url, one.user, trust_of(one, context.crypto), !one.token.empty());
    LAVANT_TRY_VOID(print(document, output, context.console, [&] {
        return render_table({{""}, {"NAME"}, {"URL", Cut::First}, {"USER", Cut::First}, {"TRUST"}, {""}},
                            rows, context.console.width);
    }));
    if (chosen.kind == ServerInUse::Kind::Endpoint)
        context.console.err << "none of them is in use: LAVANT_ENDPOINT names the server\n";
    return Exit::Completed;
}

Outcome<Exit> show_context(Context& context, const std::string& name, const Output& output) {
    const ServerInUse chosen = server_in_use(context, {});
    const std::string wanted = name.empty() ? chosen.name : name;
    Json shown = Json::object();
    if (name.empty() && chosen.kind == ServerInUse::Kind::Endpoint) {
        shown.set("url", chosen.name).set("chosenBy", chosen.by);
    } else if (wanted == kLocalContext) {
        shown.set("name", wanted);
    } else {
        LAVANT_TRY(const StoredContext stored, load_context(context, wanted));
        shown.set("name", stored.name).set("url", stored.url).set("user", stored.user);
        shown.set("loggedIn", !stored.token.empty());
        const std::string fingerprint = trust_of(stored, context.crypto);
        shown.set("caFingerprint", fingerprint.empty() ? Json() : Json(fingerprint));
    }
    if (name.empty() && !shown.has("chosenBy")) shown.set("chosenBy", chosen.by);
    LAVANT_TRY_VOID(print(shown, output, context.console, [&] { return context_fields(shown); }));
    return Exit::Completed;
}

Outcome<Exit> use_context(Context& context, const std::string& name) {
    std::string where = "the embedded server of this machine";
    if (name != kLocalContext) {
        LAVANT_TRY(const StoredContext stored, load_context(context, name));
        where = stored.url;
    }
    LAVANT_TRY_VOID(make_current(context, name));
    context.console.out << fmt::format("using {} ({})\n", name, printable(where));
    context.console.out.flush();
    const ServerInUse chosen = server_in_use(context, {});
    if (chosen.name != name) context.console.err << fmt::format("{} is set and wins over it\n", chosen.by);
    return Exit::Completed;
}

Outcome<Exit> delete_context(Context& context, const std::string& name) {
    if (name == kLocalContext)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "'local' is the embedded server: it is always there; stop it with: lavant down");
    if (!is_context_name(name) || !exists(context_folder(context, name))) {
        LAVANT_TRY([[maybe_unused]] const StoredContext missing, load_context(context, name));
    }
    LAVANT_TRY_VOID(remove_tree(context_folder(context, name)));
    context.console.out << "deleted " << name << "\n";
    context.console.out.flush();
    if (current_context(context) == name) {
        LAVANT_TRY_VOID(make_current(context, std::string(kLocalContext)));
        context.console.err << "it was the current one: the embedded server is used from now on\n";
    }
    return Exit::Completed;
}

Outcome<Exit> log_out(Context& context, const std::string& name) {
    std::string wanted = name;
    if (wanted.empty()) {
        const ServerInUse chosen = server_in_use(context, {});
        if (chosen.kind != ServerInUse::Kind::Context)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        "no context is in use; say which: lavant logout NAME");
        wanted = chosen.name;
    }
    LAVANT_TRY(const StoredContext stored, load_context(context, wanted));
    LAVANT_TRY_VOID(remove_file(context_folder(context, wanted) + "/token"));
    context.console.out << fmt::format("forgot the key for {} ({})\n", wanted, printable(stored.url));
    context.console.out.flush();
    context.console.err << "it stays valid on the server; make it useless there with: lavant key revoke ID\n";
    return Exit::Completed;
}

}  // namespace lavant::cli
