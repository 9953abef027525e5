#include "cli/connect.h"

#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/contexts.h"
#include "cli/fingerprint.h"
#include "cli/local_server.h"

namespace lavant::cli {
namespace {

constexpr int kDiagnoseTimeoutS = 10;

std::string without_slash(std::string url) {
    while (url.ends_with('/') && !url.ends_with("://")) url.pop_back();
    return url;
}

// What an embedded server of that folder listened on last: it takes the same port again if it can.
std::string last_url(const std::string& data) {
    const auto text = read_file(data + "/port", 64);
    const auto port = text ? parse_integer(trim(*text)) : std::nullopt;
    return port ? fmt::format("https://127.0.0.1:{}", *port) : "";
}

Outcome<Session> connect_locally(Context& context, const std::string& data, const WorkspaceName& workspace) {
    LAVANT_TRY(Started found, find_or_start_local_server(context, {data}));
    if (found.started) {
        context.console.note("started a local server, data in " + data +
                             "; it leaves when idle, or with: lavant down");
    }
    found.server.address.workspace = workspace;
    found.server.address.data = data;
    return Session(std::move(found.server.client), std::move(found.server.address));
}

// A shell that has the variables of an embedded server (`lavant env`) goes on working when that server has
// left: the key and the authority are still the same.
Outcome<Session> connect_again(Context& context, const std::string& data, const std::string& url,
                               const WorkspaceName& workspace) {
    LAVANT_TRY(Session session, connect_locally(context, data, workspace));
    if (session.address().url != url) {
        context.console.err << fmt::format(
            "the local server is at {} now, not at LAVANT_ENDPOINT; for other programs run again: eval "
            "\"$(lavant "
            "env)\"\n",
            session.address().url);
    }
    if (std::string token = context.variable("LAVANT_TOKEN"); !token.empty())
        session.use_token(std::move(token));
    return session;
}

Outcome<Session> connect_to_endpoint(Context& context, const std::string& url,
                                     const WorkspaceName& workspace) {
    if (const std::string data = embedded_behind(context, url); !data.empty())
        return connect_again(context, data, url, workspace);
    if (!url.starts_with("https://") || url.size() <= std::string_view("https://").size())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot use LAVANT_ENDPOINT '{}': a server has an address like "
                                "https://host:8443; over anything else the key would be readable on the way",
                                printable(url)));
    ServerAddress address;
    address.url = url;
    address.ca_file = context.variable("LAVANT_CA");
    address.token = context.variable("LAVANT_TOKEN");
    address.workspace = workspace;
    auto client = context.make_client(address.ca_file);
    Session session(std::move(client), std::move(address));
    if (is_loopback_url(url)) {
        session.explain_with([](const Error& error) {
            return Failure(Exit::Unreachable,
                           {error.code,
                            error.message + "; LAVANT_ENDPOINT names it: start it (lavant up --data DIR), or "
                                            "forget it: eval \"$(lavant "
                                            "env --unset)\"",
                            {}});
        });
    }
    return session;
}

// After a connection failed: whether the server has another authority now than the one that is pinned.
std::optional<Failure> other_authority(Context& context, const StoredContext& stored) {
    if (!context.make_unverified_client) return std::nullopt;
    ports::ClientRequest request;
    request.url = stored.url + "/lavant/v1/ca";
    request.timeout_s = kDiagnoseTimeoutS;
    const auto answer = context.make_unverified_client()->send(request);
    if (!answer || answer->status != 200) return std::nullopt;
    const std::string now = fingerprint_of(answer->body, context.crypto);
    const std::string pinned = fingerprint_of_file(stored.ca_file, context.crypto);
    if (now.empty() || now == pinned) return std::nullopt;
    return Failure(
        Exit::Unreachable,
        {ErrorCode::Unavailable,
         fmt::format(
             "{} does not have the certificate authority that is pinned for context '{}' (pinned {}, "
             "now {}); if the server was set up anew, run: lavant login {} --name {}; if not, somebody "
             "stands between you and it",
             stored.url, stored.name, pinned, now, stored.url, stored.name),
         {}});
}

Outcome<Session> connect_to_context(Context& context, const ServerInUse& choice,
                                    const WorkspaceName& workspace) {
    auto stored = load_context(context, choice.name);
    if (!stored) {
        Failure failure = std::move(stored).error();
        if (choice.by != "--context") failure.error.message += " (chosen by " + choice.by + ")";
        return tl::make_unexpected(std::move(failure));
    }
    if (stored->token.empty())
        return stop(Exit::Usage, ErrorCode::Unauthenticated,
                    fmt::format("there is no key for context '{}'; run: lavant login {} --name {}",
                                stored->name, stored->url, stored->name));
    ServerAddress address{stored->url, stored->ca_file, stored->token, workspace};
    address.context = stored->name;
    Session session(context.make_client(stored->ca_file), std::move(address));
    if (!stored->ca_file.empty()) {
        session.explain_with([&context, stored = *stored](const Error& error) {
            if (auto other = other_authority(context, stored)) return *std::move(other);
            return Failure(error);
        });
    }
    return session;
}

}  // namespace

Config with_flags(Config config, const ServerChoice& flags) {
    const auto take = [&](const char* key, const std::string& value, const char* flag) {
        if (!value.empty()) config.set(key, {value, {Source::Flag, flag}});
    };
    take("context", flags.context, "--context");
    take("data", flags.data, "--data");
    take("subscription", flags.workspace.subscription, "--subscription");
    take("resource_group", flags.workspace.resource_group, "--resource-group");
    take("workspace", flags.workspace.name, "--workspace-name");
    return config;
}

std::string embedded_behind(const Context& context, const std::string& url) {
    const auto data = data_folder(context, "");
    // The port alone proves little: another server may have it now.
    const bool ours =
        data && context.variable("LAVANT_CA").starts_with(*data + "/") && last_url(*data) == url;
    return ours ? *data : "";
}

ServerInUse server_in_use(const Context& context, const ServerChoice& flags) {
    const auto named = [](const std::string& name, std::string by) {
        const auto kind = name == kLocalContext ? ServerInUse::Kind::Local : ServerInUse::Kind::Context;
        return ServerInUse{kind, name, std::move(by)};
    };
    if (!flags.data.empty()) return named(std::string(kLocalContext), "--data");
    if (!flags.context.empty()) return named(flags.context, "--context");
    if (const std::string url = context.variable("LAVANT_ENDPOINT"); !url.empty())
        return {ServerInUse::Kind::Endpoint, without_slash(url), "LAVANT_ENDPOINT"};
    const Setting& set = context.config.setting("context");
    if (!set.value.empty()) return named(set.value, set.origin.text());
    if (const std::string current = current_context(context); !current.empty())
        return named(current, "lavant context use");
    return {};
}

namespace {

Outcome<Session> connect_to_chosen(Context& context, const ServerChoice& flags) {
    const WorkspaceName workspace = with_flags(context.config, flags).workspace();
    const ServerInUse chosen = server_in_use(context, flags);
    switch (chosen.kind) {
        case ServerInUse::Kind::Endpoint:
            return connect_to_endpoint(context, chosen.name, workspace);
        case ServerInUse::Kind::Context:
            return connect_to_context(context, chosen, workspace);
        case ServerInUse::Kind::Local:
            break;
    }
    LAVANT_TRY(const std::string data, data_folder(context, flags.data));
    return connect_locally(context, data, workspace);
}

}  // namespace

Outcome<Session> connect(Context& context, const ServerChoice& flags) {
    LAVANT_TRY(Session session, connect_to_chosen(context, flags));
    session.use_timeout(static_cast<int>(parse_integer(context.config["timeout_s"]).value_or(0)));
    return session;
}

std::optional<Session> connect_if_running(Context& context, const ServerChoice& flags) {
    const ServerInUse chosen = server_in_use(context, flags);
    const std::string behind =
        chosen.kind == ServerInUse::Kind::Endpoint ? embedded_behind(context, chosen.name) : "";
    if (chosen.kind != ServerInUse::Kind::Local && behind.empty()) {
        auto session = connect(context, flags);
        return session ? std::optional<Session>(std::move(*session)) : std::nullopt;
    }
    const Outcome<std::string> data =
        behind.empty() ? data_folder(context, flags.data) : Outcome<std::string>(behind);
    auto server = data ? find_local_server(context, *data) : std::nullopt;
    if (!server) return std::nullopt;
    server->address.workspace = with_flags(context.config, flags).workspace();
    return Session(std::move(server->client), std::move(server->address));
}

}  // namespace lavant::cli
