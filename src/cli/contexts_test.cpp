#include "cli/contexts.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/files.h"
#include "base/text.h"
#include "cli/connect.h"
#include "cli/fake_server_test.h"
#include "cli/fingerprint.h"

namespace lavant::cli {
namespace {

class ContextsTest : public ::testing::Test {
 protected:
    ContextsTest() {
        std::string pattern = ::testing::TempDir() + "/contexts.XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        terminal_.variables["HOME"] = root_;
    }
    ~ContextsTest() override { (void)remove_tree(root_); }
    unsigned mode_of(const std::string& path) {
        struct ::stat about {};
        return ::stat(path.c_str(), &about) == 0 ? about.st_mode & 0777U : 0;
    }

    std::string root_;
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(ContextsTest, AreKeptForTheirOwnerOnly) {
    Context context = terminal_.context(server_);
    ASSERT_TRUE(store_context(context, {"team", "https://t:1", "it's ann", "", "secret"}, "PEM").has_value());
    const std::string folder = root_ + "/.config/lavant/contexts/team";
    EXPECT_EQ(mode_of(folder), 0700U);
    for (const char* name : {"/context.yml", "/ca.pem", "/token"})
        EXPECT_EQ(mode_of(folder + name), 0600U) << name;
    const auto stored = load_context(context, "team");
    ASSERT_TRUE(stored.has_value());
    EXPECT_EQ(stored->url, "https://t:1");
    EXPECT_EQ(stored->user, "it's ann");
    EXPECT_EQ(stored->token, "secret");
    EXPECT_EQ(stored->ca_file, folder + "/ca.pem");
    ASSERT_TRUE(store_context(context, {"team", "https://t:1", "ann", "", "secret"}, "").has_value());
    EXPECT_EQ(load_context(context, "team")->ca_file, "") << "the pin of an earlier login went";
}

TEST_F(ContextsTest, APinThatIsGoneIsNotReplacedByTheSystemsTrust) {
    Context context = terminal_.context(server_);
    ASSERT_TRUE(store_context(context, {"team", "https://t:1", "ann", "", "secret"}, "PEM").has_value());
    ASSERT_EQ(::unlink((root_ + "/.config/lavant/contexts/team/ca.pem").c_str()), 0);
    const auto stored = load_context(context, "team");
    ASSERT_FALSE(stored.has_value());
    EXPECT_NE(stored.error().error.message.find("lavant login https://t:1"), std::string::npos);
}

TEST_F(ContextsTest, NamesStayInTheirFolder) {
    for (const char* name : {"", "..", "../x", "a/b", ".hidden", "local", "current", "-x", "a b"})
        EXPECT_FALSE(is_context_name(name)) << name;
    for (const char* name : {"a", "gpu-1.example.org", "127.0.0.1", "A_b"})
        EXPECT_TRUE(is_context_name(name)) << name;
    Context context = terminal_.context(server_);
    EXPECT_FALSE(delete_context(context, "..").has_value());
    EXPECT_FALSE(delete_context(context, "local").has_value());
    EXPECT_FALSE(log_out(context, "../x").has_value());
}

TEST_F(ContextsTest, UseLogoutAndDelete) {
    Context context = terminal_.context(server_);
    ASSERT_TRUE(store_context(context, {"team", "https://t:1", "ann", "", "secret"}, "").has_value());
    EXPECT_FALSE(use_context(context, "taem").has_value());
    ASSERT_TRUE(use_context(context, "team").has_value());
    EXPECT_EQ(current_context(context), "team");
    ASSERT_TRUE(log_out(context, "").has_value());
    EXPECT_EQ(load_context(context, "team")->token, "");
    EXPECT_EQ(connect(context, {}).error().error.message,
              "there is no key for context 'team'; run: lavant login https://t:1 --name team");
    ASSERT_TRUE(use_context(context, "local").has_value());
    EXPECT_EQ(current_context(context), "");
    ASSERT_TRUE(use_context(context, "team").has_value());
    ASSERT_TRUE(delete_context(context, "team").has_value());
    EXPECT_EQ(current_context(context), "");
    EXPECT_FALSE(exists(root_ + "/.config/lavant/contexts/team"));
}

TEST_F(ContextsTest, ListShowsNoSecret) {
    Context context = terminal_.context(server_);
    ASSERT_TRUE(store_context(context, {"team", "https://t:1", "ann", "", "secret"}, "").has_value());
    ASSERT_TRUE(use_context(context, "team").has_value());
    for (const Format format : {Format::Table, Format::Json}) {
        terminal_.out.str("");
        ASSERT_TRUE(show_contexts(context, {format}).has_value());
        ASSERT_TRUE(show_context(context, "", {format}).has_value());
        EXPECT_NE(terminal_.out.str().find("https://t:1"), std::string::npos);
        EXPECT_EQ(terminal_.out.str().find("secret"), std::string::npos);
    }
    EXPECT_NE(terminal_.out.str().find("lavant context use"), std::string::npos);
}

TEST(Fingerprint, IsOfTheFirstCertificatesBytes) {
    FakeTerminal terminal;
    const std::string pem =
        "text before\r\n-----BEGIN CERTIFICATE-----\r\nYWJj\r\n-----END CERTIFICATE-----\n"
        "-----BEGIN CERTIFICATE-----\nZGVm\n-----END CERTIFICATE-----\n";
    // sha256("abc")
    const std::string wanted =
        "BA:78:16:BF:8F:01:CF:EA:41:41:40:DE:5D:AE:22:23:B0:03:61:A3:96:17:7A:9C:B4:10:FF:61:F2:00:15:AD";
    EXPECT_EQ(fingerprint_of(pem, *terminal.crypto), wanted);
    EXPECT_EQ(first_certificate(pem), "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n");
    for (const char* broken : {"", "-----BEGIN CERTIFICATE-----\nYWJj\n",
                               "-----BEGIN CERTIFICATE-----\n"
                               "!\n-----END CERTIFICATE-----\n"})
        EXPECT_EQ(fingerprint_of(broken, *terminal.crypto), "") << broken;

    std::string bare = wanted;
    std::erase(bare, ':');
    EXPECT_EQ(normal_fingerprint(bare), wanted);
    EXPECT_EQ(normal_fingerprint(" sha256:" + to_lower(bare) + "\n"), wanted);
    EXPECT_EQ(normal_fingerprint("SHA256 Fingerprint=" + wanted), wanted);
    for (const std::string& wrong : {std::string(), bare.substr(1), bare + "0", "g" + bare.substr(1)})
        EXPECT_EQ(normal_fingerprint(wrong), "") << wrong;
}

}  // namespace
}  // namespace lavant::cli
