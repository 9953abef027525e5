#include "cli/key_commands.h"

#include <chrono>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/ask.h"
#include "cli/usage_commands.h"

namespace lavant::cli {
namespace {

using wire::Json;

Outcome<Json> moment_to_come(const std::string& text) {
    if (text == "never") return Json();
    const Instant now{
        std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())};
    auto at = parse_moment(text, now);
    const bool relative = !text.empty() && text.back() >= 'a' && text.back() <= 'z';
    if (at && relative) at = now + (now - *at);
    if (!at || *at <= now)
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            fmt::format("cannot use --expires {}: write 30d, 12h, a day to come (2030-01-31), a time or "
                        "never",
                        printable(text)));
    return Json(to_rfc3339(*at));
}

std::string key_path(const Session& session, const std::string& id) {
    return session.own_path("/keys/" + percent_encode(id));
}

void print_secret(const Console& console, const Json& key) {
    console.out << key["key"].text() << "\n";
    console.out.flush();
    const std::string end = key["expiresAt"].is_string()
                                ? fmt::format(" until {}", printable(key["expiresAt"].text().substr(0, 19)))
                                : "";
    console.err << fmt::format("key {} of {} ({}{}); it is shown only this once\n",
                               printable(key["id"].scalar_text()), printable(key["user"].text()),
                               printable(key["role"].text()), end);
}

}  // namespace

Outcome<Json> key_request(const KeyWords& words) {
    Json body = Json::object();
    if (!words.user.empty()) body.set("user", words.user);
    if (!words.role.empty()) body.set("role", words.role);
    if (!words.label.empty()) body.set("label", words.label);
    if (!words.expires.empty()) {
        LAVANT_TRY(Json at, moment_to_come(words.expires));
        body.set("expiresAt", std::move(at));
    }
    if (words.requests_per_s >= 0) body.set("requestsPerSecond", words.requests_per_s);
    if (words.upload_mib_per_s >= 0) body.set("uploadMibPerSecond", words.upload_mib_per_s);
    if (words.body_mib >= 0) body.set("bodyMib", words.body_mib);
    return body;
}

Outcome<Exit> create_key(Session& session, const Console& console, const KeyWords& words) {
    LAVANT_TRY(const Json body, key_request(words));
    LAVANT_TRY(const Json made, session.post(session.own_path("/keys"), body));
    print_secret(console, made);
    return Exit::Completed;
}

Outcome<Exit> list_keys(Session& session, const Console& console, const std::string& user,
                        const Output& output) {
    const std::string query = user.empty() ? "" : "?user=" + percent_encode(user);
    LAVANT_TRY(const Json answer, session.get(session.own_path("/keys" + query)));
    const Json& keys = answer["value"];
    if (keys.size() == 0 && output.format == Format::Table) {
        console.note(user.empty()
                         ? "no keys"
                         : fmt::format("no key of '{0}'; make one: lavant key create {0}", printable(user)));
        return Exit::Completed;
    }
    LAVANT_TRY_VOID(print(keys, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& key : keys.items()) {
            const std::string end =
                key["expiresAt"].is_string() ? key["expiresAt"].string().substr(0, 10) : "-";
            rows.push_back({printable(key["id"].scalar_text()), printable(key["user"].text()),
                            printable(key["role"].text()), printable(key["createdAt"].text().substr(0, 19)),
                            printable(end), printable(key["label"].text())});
        }
        return render_table(
            {{"ID"}, {"USER", Cut::First}, {"ROLE"}, {"CREATED (UTC)"}, {"UNTIL"}, {"FOR", Cut::First}}, rows,
            console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> update_key(Session& session, const Console& console, const std::string& id,
                         const KeyWords& words) {
    LAVANT_TRY(const Json body, key_request(words));
    if (body.size() == 0)
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "say what to change: --role, --label, --expires or one of the limits");
    LAVANT_TRY_VOID(session.patch(key_path(session, id), body));
    console.out << "changed " << printable(id) << "\n";
    console.out.flush();
    return Exit::Completed;
}

Outcome<Exit> rotate_key(Session& session, const Console& console, const std::string& id) {
    LAVANT_TRY(const Json made, session.post(key_path(session, id) + "/rotate", Json::object()));
    print_secret(console, made);
    return Exit::Completed;
}

Outcome<Exit> revoke_key(Session& session, const Console& console, const std::string& id) {
    LAVANT_TRY_VOID(session.remove(key_path(session, id)));
    console.out << "revoked " << printable(id) << "\n";
    console.out.flush();
    return Exit::Completed;
}

Outcome<Exit> answer_device_login(Session& session, Context& context, const std::string& code, bool approve,
                                  bool yes) {
    const Json body = Json::object({{"code", code}});
    const std::string base = session.own_path("/device-logins");
    if (!approve) {
        LAVANT_TRY_VOID(session.attempt("decline the login", "POST", base + "/deny", body));
        context.console.out << "declined\n";
        context.console.out.flush();
        return Exit::Completed;
    }
    LAVANT_TRY(const Json asked, session.attempt("look at the login", "POST", base + "/show", body));
    context.console.err << fmt::format("'{}' at {} asks to work in your name.\n",
                                       printable(asked["client"].text()), printable(asked["address"].text()));
    context.console.err.flush();
    if (!yes) {
        LAVANT_TRY(const bool sure, ask(context, "Did you start it?"));
        if (!sure) return stop(Exit::Usage, ErrorCode::InvalidArgument, "not approved; nothing was done");
    }
    LAVANT_TRY(const Json made, session.attempt("approve the login", "POST", base + "/approve", body));
    context.console.out << fmt::format("approved, with key {}; end it with: lavant key revoke {}\n",
                                       printable(made["key"].text()), printable(made["key"].text()));
    context.console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant::cli
