#include "cli/az.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/time.h"
#include "cli/config_commands.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr const char* kTenant = "00000000-0000-0000-0000-000000000000";

// What az calls a default, and what we do.
constexpr std::pair<std::string_view, const char*> kDefaults[] = {
    {"group", "resource_group"}, {"workspace", "workspace"}, {"subscription", "subscription"}};

const char* key_of(std::string_view default_name) {
    if (default_name.starts_with("defaults.")) default_name.remove_prefix(9);
    for (const auto& [name, key] : kDefaults)
        if (name == default_name) return key;
    return nullptr;
}

}  // namespace

Outcome<Exit> show_account(Session& session, const Console& console, bool as_list, const Output& output) {
    LAVANT_TRY(const Json me, session.get(session.own_path("/status")));
    const Json account = Json::object({{"environmentName", "Lavant"},
                                       {"cloudName", "Lavant"},
                                       {"homeTenantId", kTenant},
                                       {"id", session.address().workspace.subscription},
                                       {"isDefault", true},
                                       {"name", "Lavant"},
                                       {"state", "Enabled"},
                                       {"tenantId", kTenant},
                                       {"user", Json::object({{"name", me["user"]}, {"type", "user"}})}});
    const Json shown = as_list ? Json::array({account}) : account;
    LAVANT_TRY_VOID(print(shown, output, console, {}));
    return Exit::Completed;
}

Outcome<Exit> print_access_token(Session& session, const Console& console, const std::string& resource,
                                 const Output& output) {
    ports::ClientRequest request;
    request.url = "/msi/token?api-version=2019-08-01&resource=" + percent_encode(resource);
    request.headers.emplace_back("X-IDENTITY-HEADER", session.address().token);
    LAVANT_TRY(const ports::HttpResponse answer, session.send(std::move(request)));
    if (answer.status != 200) return tl::make_unexpected(Session::refusal(answer, "get an access token"));
    LAVANT_TRY(const Json token, wire::parse_json(answer.body));
    const std::int64_t expires = token["expires_on"].is_string()
                                     ? parse_integer(token["expires_on"].text()).value_or(0)
                                     : token["expires_on"].integer();
    const Json shown = Json::object({{"accessToken", token["access_token"]},
                                     {"expiresOn", to_rfc3339(Instant(std::chrono::seconds(expires)))},
                                     {"expires_on", expires},
                                     {"subscription", session.address().workspace.subscription},
                                     {"tenant", kTenant},
                                     {"tokenType", "Bearer"}});
    LAVANT_TRY_VOID(print(shown, output, console, {}));
    return Exit::Completed;
}

Outcome<Exit> set_az_defaults(Context& context, const std::vector<std::string>& pairs) {
    for (const std::string& pair : pairs) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("cannot use '{}': write it as group=NAME or workspace=NAME", pair));
        const char* key = key_of(std::string_view(pair).substr(0, equals));
        if (key == nullptr) {
            context.console.err << fmt::format("'{}' has no meaning here; it is left out\n",
                                               printable(pair.substr(0, equals)));
            continue;
        }
        const std::string value = pair.substr(equals + 1);
        const auto done = value.empty() ? unset_config(context, key, ConfigScope::User)
                                        : set_config(context, key, value, ConfigScope::User);
        const bool was_unset = value.empty() && !done && done.error().error.code == ErrorCode::NotFound;
        if (!done && !was_unset) return done;
    }
    return Exit::Completed;
}

Outcome<Exit> list_az_defaults(Context& context, const Output& output) {
    Json list = Json::array();
    for (const auto& [name, key] : kDefaults) {
        const Setting& setting = context.config.setting(key);
        if (setting.origin.source == Source::Default) continue;
        list.append(
            Json::object({{"name", name}, {"source", setting.origin.text()}, {"value", setting.value}}));
    }
    LAVANT_TRY_VOID(print(list, output, context.console, {}));
    return Exit::Completed;
}

Outcome<Exit> answer_extension(Context& context, const std::string& name, const Output& output,
                               bool print_it) {
    if (!name.empty() && name != "ml" && name != "azure-cli-ml")
        return stop(
            Exit::Usage, ErrorCode::NotFound,
            fmt::format("there is no extension '{}' here; Azure ML ('ml') is built in", printable(name)));
    if (!print_it) {
        context.console.err << "Azure ML is built in; there is nothing to install\n";
        return Exit::Completed;
    }
    const Json ml = Json::object({{"name", "ml"}, {"extensionType", "built-in"}, {"preview", false}});
    const Json shown = name.empty() ? Json::array({ml}) : ml;
    LAVANT_TRY_VOID(print(shown, output, context.console, {}));
    return Exit::Completed;
}

}  // namespace lavant::cli
