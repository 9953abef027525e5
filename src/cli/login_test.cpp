#include "cli/login.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <string>

#include "base/files.h"
#include "cli/connect.h"
#include "cli/contexts.h"
#include "cli/fake_server_test.h"
#include "cli/fingerprint.h"

namespace lavant::cli {
namespace {

std::string pem_of(const std::string& base64) {
    return "-----BEGIN CERTIFICATE-----\n" + base64 + "\n-----END CERTIFICATE-----\n";
}

// A server with an authority, as clients with different trust see it.
class LoginTest : public ::testing::Test {
 protected:
    LoginTest() {
        std::string pattern = ::testing::TempDir() + "/login.XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        terminal_.variables["HOME"] = root_;
        server_.on("GET /health", 200, "{}");
        server_.on("GET /lavant/v1/ca", [this](const ports::ClientRequest&) -> Result<ports::HttpResponse> {
            ports::HttpResponse response;
            response.body = authority_;
            return response;
        });
        server_.on("GET /lavant/v1/status",
                   [](const ports::ClientRequest& request) -> Result<ports::HttpResponse> {
                       ports::HttpResponse response;
                       response.status = 401;
                       for (const auto& [name, value] : request.headers)
                           if (name == "Authorization" && value == "Bearer good") response.status = 200;
                       response.body = R"({"user":"ann","role":"owner"})";
                       return response;
                   });
        EXPECT_TRUE(write_file_atomically(root_ + "/key", "good\n"));
    }
    ~LoginTest() override { (void)remove_tree(root_); }

    class Refusing final : public ports::HttpClient {
     public:
        Result<ports::HttpResponse> send(const ports::ClientRequest&) override {
            return fail(ErrorCode::Unavailable, "the certificate does not fit");
        }
    };
    Context context() {
        Context made = terminal_.context(server_);
        made.make_client = [this](const std::string& ca) -> std::unique_ptr<ports::HttpClient> {
            const bool fits = ca.empty() ? system_trusts_ : read_file(ca, 10'000).value() == authority_;
            if (!fits) return std::make_unique<Refusing>();
            return server_.client();
        };
        made.make_unverified_client = [this]() { return server_.client(); };
        made.person.is_there = [this] { return there_; };
        made.person.ask = [this](const std::string& question) {
            asked_ += question;
            return std::optional(answer_);
        };
        made.person.ask_secret = made.person.ask;
        made.person.read_input = [](std::size_t) -> Result<std::string> { return "good\n"; };
        return made;
    }
    LoginOptions options() { return {"https://host:1/", "", root_ + "/key", "", "", false}; }
    std::string shown() { return fingerprint_of(authority_, *terminal_.crypto); }
    bool kept(const std::string& name = "host") {
        return exists(root_ + "/.config/lavant/contexts/" + name + "/token");
    }

    std::string root_;
    std::string authority_ = pem_of("YWJj");
    bool system_trusts_ = false;
    bool there_ = false;
    std::string answer_ = "yes";
    std::string asked_;
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(LoginTest, PinsWhatAPersonFoundToBeTheSame) {
    there_ = true;
    Context one = context();
    const auto outcome = log_in(one, options());
    ASSERT_TRUE(outcome.has_value()) << outcome.error().error.message;
    EXPECT_EQ(terminal_.out.str(), "you are ann (owner) on https://host:1, as context 'host'\n");
    EXPECT_NE(terminal_.err.str().find(shown()), std::string::npos);
    EXPECT_NE(terminal_.err.str().find("lavant status"), std::string::npos);
    EXPECT_EQ(current_context(one), "host");
    EXPECT_EQ(read_file(load_context(one, "host")->ca_file, 1000).value(), authority_);
    EXPECT_EQ(load_context(one, "host")->token, "good");
    for (const auto& request : server_.requests) {
        const bool secret =
            std::ranges::any_of(request.headers, [](const auto& h) { return h.first == "Authorization"; });
        EXPECT_EQ(secret, request.url.ends_with("/status")) << request.url;
    }

    asked_.clear();
    ASSERT_TRUE(log_in(one, options()).has_value()) << "again";
    EXPECT_EQ(asked_, "") << "the authority is pinned already";
}

TEST_F(LoginTest, NoMeansThatNothingIsSentOrKept) {
    there_ = true;
    answer_ = "n";
    Context one = context();
    EXPECT_EQ(log_in(one, options()).error().exit, Exit::Usage);
    EXPECT_FALSE(kept());
    EXPECT_EQ(server_.asked(), std::vector<std::string>{"GET /lavant/v1/ca"});
}

TEST_F(LoginTest, WithoutATerminalTheFingerprintDecides) {
    Context one = context();
    LoginOptions how = options();
    EXPECT_EQ(log_in(one, how).error().exit, Exit::Usage);
    how.fingerprint = std::string(64, 'a');
    const auto wrong = log_in(one, how);
    ASSERT_FALSE(wrong.has_value());
    EXPECT_EQ(wrong.error().exit, Exit::Unreachable);
    EXPECT_NE(wrong.error().error.message.find(shown()), std::string::npos);
    how.fingerprint = "short";
    EXPECT_EQ(log_in(one, how).error().exit, Exit::Usage);
    EXPECT_FALSE(kept());
    how.fingerprint = shown();
    EXPECT_TRUE(log_in(one, how).has_value());
    EXPECT_TRUE(kept());
}

TEST_F(LoginTest, YesTrustsAndSaysWhom) {
    Context one = context();
    LoginOptions how = options();
    how.yes = true;
    ASSERT_TRUE(log_in(one, how).has_value());
    EXPECT_NE(terminal_.err.str().find(shown()), std::string::npos);
}

TEST_F(LoginTest, ASystemThatTrustsTheServerPinsNothing) {
    system_trusts_ = true;
    Context one = context();
    ASSERT_TRUE(log_in(one, options()).has_value());
    EXPECT_EQ(load_context(one, "host")->ca_file, "");
}

TEST_F(LoginTest, AnAuthorityFromAFileIsNotAskedAbout) {
    EXPECT_TRUE(write_file_atomically(root_ + "/ca.pem", authority_));
    Context one = context();
    LoginOptions how = options();
    how.ca_file = root_ + "/ca.pem";
    ASSERT_TRUE(log_in(one, how).has_value());
    EXPECT_EQ(read_file(load_context(one, "host")->ca_file, 1000).value(), authority_);
    how.ca_file = root_ + "/key";
    EXPECT_EQ(log_in(one, how).error().exit, Exit::Usage);
}

TEST_F(LoginTest, AWrongKeyIsNotKept) {
    EXPECT_TRUE(write_file_atomically(root_ + "/key", "bad\n"));
    Context one = context();
    LoginOptions how = options();
    how.yes = true;
    const auto outcome = log_in(one, how);
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Refused);
    EXPECT_EQ(outcome.error().error.message.find("bad"), std::string::npos);
    EXPECT_FALSE(kept());
    for (const char* text : {"", "two words", "a\nb"}) {
        EXPECT_TRUE(write_file_atomically(root_ + "/key", text));
        EXPECT_EQ(log_in(one, how).error().exit, Exit::Usage) << text;
    }
}

TEST_F(LoginTest, TheKeyComesFromInputOrFromThePerson) {
    Context one = context();
    LoginOptions how = options();
    how.yes = true;
    how.key_file = "-";
    EXPECT_TRUE(log_in(one, how).has_value());
    how.key_file = "";
    EXPECT_EQ(log_in(one, how).error().exit, Exit::Usage);
    there_ = true;
    answer_ = "good";
    EXPECT_TRUE(log_in(one, how).has_value());
    EXPECT_NE(asked_.find("Key for https://host:1"), std::string::npos);
}

TEST_F(LoginTest, AnotherAuthorityLaterIsOneSentence) {
    Context one = context();
    LoginOptions how = options();
    how.yes = true;
    ASSERT_TRUE(log_in(one, how).has_value());
    const std::string before = shown();
    authority_ = pem_of("ZGVm");
    auto session = connect(one, {});
    ASSERT_TRUE(session.has_value());
    const auto answer = session->get("/lavant/v1/status");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().exit, Exit::Unreachable);
    const std::string& said = answer.error().error.message;
    EXPECT_NE(said.find(before), std::string::npos) << said;
    EXPECT_NE(said.find(shown()), std::string::npos) << said;
    EXPECT_NE(said.find("lavant login https://host:1 --name host"), std::string::npos) << said;

    there_ = true;
    answer_ = "y";
    how.yes = false;
    ASSERT_TRUE(log_in(one, how).has_value());
    EXPECT_NE(terminal_.err.str().find("NOT the one that was pinned"), std::string::npos);
    EXPECT_NE(asked_, "");
}

TEST_F(LoginTest, ANameIsForOneServer) {
    Context one = context();
    LoginOptions how = options();
    how.yes = true;
    ASSERT_TRUE(log_in(one, how).has_value());
    how.url = "https://host:2";
    const auto other = log_in(one, how);
    ASSERT_FALSE(other.has_value());
    EXPECT_NE(other.error().error.message.find("--name"), std::string::npos);
    how.name = "second";
    EXPECT_TRUE(log_in(one, how).has_value());
    how.name = "local";
    EXPECT_FALSE(log_in(one, how).has_value());
}

TEST(ServerUrl, IsAHostAndAPort) {
    EXPECT_EQ(server_url("https://Host:8443///").value(), "https://host:8443");
    EXPECT_EQ(server_url("host:8443").value(), "https://host:8443");
    EXPECT_EQ(server_url("https://[::1]:8443").value(), "https://[::1]:8443");
    for (const char* wrong : {"", "https://", "http://host", "ftp://host", "https://a@host",
                              "https://host/path", "https://host?x=1", "https://ho st", "https://host\n"})
        EXPECT_FALSE(server_url(wrong).has_value()) << wrong;
    EXPECT_EQ(name_from_url("https://gpu-1.example.org:8443"), "gpu-1.example.org");
    EXPECT_EQ(name_from_url("https://[fe80::1]:8443"), "fe80--1");
    EXPECT_TRUE(is_context_name(name_from_url("https://[::1]:8443")));
}

}  // namespace
}  // namespace lavant::cli
