#include "cli/access_commands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "cli/fake_server_test.h"
#include "wire/json.h"

namespace lavant::cli {
namespace {

using wire::Json;

class AccessCommands : public testing::Test {
 protected:
    Json sent() const { return wire::parse_json(server_.requests.back().body).value_or(Json()); }
    FakeServer server_;
    std::ostringstream out_;
    std::ostringstream err_;
    Console console_{.out = out_, .err = err_};
};

TEST_F(AccessCommands, AKeysSecretStandsAloneOnStandardOutput) {
    server_.on("POST /lavant/v1/keys", 201, R"({"id":"key-1","key":"lvk_x","user":"ann","role":"reader"})");
    Session session = server_.session();
    const auto done = create_key(
        session, console_, {.user = "ann", .role = "reader", .label = "ci", .expires = "30d", .body_mib = 5});
    ASSERT_TRUE(done);
    EXPECT_EQ(out_.str(), "lvk_x\n");
    EXPECT_EQ(sent()["role"].text(), "reader");
    EXPECT_TRUE(sent()["expiresAt"].is_string());
    EXPECT_EQ(sent()["bodyMib"].integer(), 5);
    EXPECT_FALSE(sent().has("requestsPerSecond"));
}

TEST_F(AccessCommands, AnEndMustBeToCome) {
    for (const char* when : {"2001-01-01", "soon", "", "30", "0d", "-3d"}) {
        KeyWords words;
        words.expires = when;
        const bool empty = std::string(when).empty();
        EXPECT_EQ(key_request(words).has_value(), empty) << when;
    }
    KeyWords never;
    never.expires = "never";
    EXPECT_TRUE((*key_request(never))["expiresAt"].is_null());
    EXPECT_TRUE(key_request(never)->has("expiresAt"));
}

TEST_F(AccessCommands, ARoleGoesWhereItIsSaidToGo) {
    const std::string answer =
        R"({"id":"ra-1","scope":"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/)"
        R"(providers/Microsoft.MachineLearningServices/workspaces/default/computes/gpu"})";
    server_.on("POST /lavant/v1/role-assignments", 201, answer);
    server_.on("POST /lavant/v1/server/role-assignments", 201, R"({"id":"ra-2","scope":"/"})");
    server_.on("GET " + kWorkspacePath + "/computes/gpu", 200, "{}");
    server_.on("GET " + kWorkspacePath + "/datastores/team", 200, "{}");
    Session session = server_.session();
    ASSERT_TRUE(assign_role(session, console_, {.role = "owner", .who = "ann", .compute = "gpu"}));
    EXPECT_EQ(sent().dump(), R"({"principal":"ann","role":"owner","resource":"computes/gpu"})");
    EXPECT_EQ(out_.str(), "ann is owner on computes/gpu\n");
    ASSERT_TRUE(assign_role(session, console_, {.role = "reader", .who = "group:x", .server = true}));
    EXPECT_EQ(server_.asked().back(), "POST /lavant/v1/server/role-assignments");
    ASSERT_TRUE(assign_role(session, console_, {.role = "write", .who = "ci", .datastore = "team"}));
    EXPECT_EQ(sent().dump(), R"({"principal":"ci","data":"write","resource":"datastores/team"})");
    EXPECT_TRUE(out_.str().ends_with("ci may read and write the files of computes/gpu\n")) << out_.str();
    ASSERT_TRUE(assign_role(session, console_, {.role = "none", .who = "everyone", .datastore = "team"}));
    EXPECT_NE(out_.str().find("everyone has no access to the files of "), std::string::npos);
    EXPECT_FALSE(assign_role(session, console_, {.role = "write", .who = "ci"}));
    EXPECT_FALSE(
        assign_role(session, console_, {.role = "owner", .who = "a", .server = true, .compute = "c"}));
}

TEST_F(AccessCommands, ARoleOnWhatIsNotThereIsRefused) {
    server_.on("POST /lavant/v1/role-assignments", 201, R"({"id":"ra-1","scope":"/x"})");
    Session session = server_.session();
    const auto refused = assign_role(session, console_, {.role = "owner", .who = "ann", .compute = "gpo"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().exit, Exit::Refused);
    EXPECT_NE(refused.error().error.message.find("cannot assign the role on computes/gpo"),
              std::string::npos);
    EXPECT_EQ(server_.asked().size(), 1U);
}

TEST_F(AccessCommands, ALoginIsApprovedOnlyByWhoWasAsked) {
    server_.on("POST /lavant/v1/device-logins/show", 200, R"({"client":"x","address":"127.0.0.1:1"})");
    server_.on("POST /lavant/v1/device-logins/approve", 200, R"({"key":"key-1"})");
    FakeTerminal terminal;
    Context context = terminal.context(server_);
    Session session = server_.session();
    const auto approved = [this] {
        const auto asked = server_.asked();
        return std::ranges::count(asked, "POST /lavant/v1/device-logins/approve");
    };
    const auto nobody = answer_device_login(session, context, "BCDF-GHJK", true, false);
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().exit, Exit::Usage);
    EXPECT_NE(nobody.error().error.message.find("--yes"), std::string::npos);
    context.person.is_there = [] { return true; };
    context.person.ask = [](const std::string&) { return std::optional<std::string>("n"); };
    EXPECT_FALSE(answer_device_login(session, context, "BCDF-GHJK", true, false));
    EXPECT_EQ(approved(), 0);
    context.person.ask = [](const std::string&) { return std::optional<std::string>("y"); };
    EXPECT_TRUE(answer_device_login(session, context, "BCDF-GHJK", true, false));
    context.person.is_there = [] { return false; };
    EXPECT_TRUE(answer_device_login(session, context, "BCDF-GHJK", true, true));
    EXPECT_EQ(approved(), 2);
}

TEST_F(AccessCommands, KeysOfNobodyAreSaidToBeNone) {
    server_.on("GET /lavant/v1/keys", 200, R"({"value":[]})");
    Session session = server_.session();
    ASSERT_TRUE(list_keys(session, console_, "nosuch", {}));
    EXPECT_EQ(out_.str(), "");
    EXPECT_NE(err_.str().find("no key of 'nosuch'"), std::string::npos);
}

TEST_F(AccessCommands, AuditSaysWhatWasChangedAt80Columns) {
    server_.on("GET /lavant/v1/audit", 200,
               R"({"value":[{"time":"2026-01-02T03:04:05Z","user":"ann","method":"DELETE","status":204,)"
               R"("address":"192.168.100.200:54321","path":")" +
                   kWorkspacePath + R"(/datastores/team"},{"time":"2026-01-02T03:04:05Z","user":"ann",)" +
                   R"("method":"POST","status":403,"address":"[::1]:5","path":"/lavant/v1/keys"}]})");
    Session session = server_.session();
    Console narrow{.out = out_, .err = err_, .width = 80};
    ASSERT_TRUE(show_audit(session, narrow, {}, {}));
    EXPECT_EQ(out_.str(),
              "TIME (UTC)           USER  METHOD  STATUS  ON               FROM\n"
              "2026-01-02T03:04:05  ann   DELETE  204     datastores/team  192.168.100.200\n"
              "2026-01-02T03:04:05  ann   POST    403     /lavant/v1/keys  [::1]\n");
}

TEST_F(AccessCommands, ARoleIsRevokedInTheWordsItWasGivenWith) {
    server_.on("GET /lavant/v1/server/role-assignments", 200,
               R"({"value":[{"id":"ra-1","principal":"ann","role":"reader","scope":"/"},)"
               R"({"id":"ra-2","principal":"ann","role":"owner","scope":"/"}]})");
    server_.on("DELETE /lavant/v1/server/role-assignments/ra-2", 204, "");
    Session session = server_.session();
    ASSERT_TRUE(revoke_role(session, console_, {.role = "owner", .who = "ann", .server = true}));
    EXPECT_EQ(server_.asked().back(), "DELETE /lavant/v1/server/role-assignments/ra-2");
    EXPECT_FALSE(revoke_role(session, console_, {.role = "contributor", .who = "ann", .server = true}));
}

TEST_F(AccessCommands, AuditGoesOnUntilItHasEnough) {
    int pages = 0;
    server_.on("GET /lavant/v1/audit", [&](const ports::ClientRequest&) -> Result<ports::HttpResponse> {
        ports::HttpResponse response;
        response.body = ++pages < 3 ? R"({"value":[{"time":"t","user":"a","path":"/\u001b[31m"}],)"
                                      R"("nextLink":"https://server/lavant/v1/audit?position=1"})"
                                    : R"({"value":[]})";
        return response;
    });
    Session session = server_.session();
    ASSERT_TRUE(show_audit(session, console_, {.user = "a b", .since = "7d"}, {}));
    EXPECT_EQ(pages, 3);
    EXPECT_EQ(out_.str().find('\x1b'), std::string::npos);
    EXPECT_NE(server_.requests.front().url.find("user=a%20b"), std::string::npos);
    EXPECT_FALSE(show_audit(session, console_, {.since = "yesterday"}, {}));
}

}  // namespace
}  // namespace lavant::cli
