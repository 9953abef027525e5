#include "cli/environment.h"

#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/files.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

const char* const kHostile[] = {
    "plain",    "it's",         "a\"b",      "$(touch /tmp/never) `id` $HOME", "back\\slash\\", "two\nlines",
    "-n",       "'; exit 1; '", "tab\there", "\xe2\x80\x99; exit 1",           "größe ✓",       "%s %d",
    "!history", "\\'"};

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "re"), &::pclose);
    std::string text(1U << 16, '\0');
    text.resize(::fread(text.data(), 1, text.size(), pipe.get()));
    return text;
}

class EnvironmentTest : public ::testing::Test {
 protected:
    EnvironmentTest() {
        std::string pattern = ::testing::TempDir() + "/env.XXXXXX";
        data_ = ::mkdtemp(pattern.data());
    }
    ~EnvironmentTest() override { (void)remove_tree(data_); }
    void write(const std::string& name, const std::string& text, int mode = 0644) {
        ASSERT_TRUE(make_directories(parent_of(data_ + "/" + name)));
        ASSERT_TRUE(write_file_atomically(data_ + "/" + name, text, mode));
    }
    // The value as a program of that shell sees it.
    std::string through(const std::string& shell, EnvFormat format, const std::string& value) {
        write("script", line_that_sets(format, "X", value).value() + "env -0 | grep -z '^X='\n");
        std::string seen = output_of(shell + " '" + data_ + "/script'");
        return seen.empty() ? "" : seen.substr(2, seen.size() - 3);
    }

    std::string data_;
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(EnvironmentTest, AShellReadsBackWhatWasMeant) {
    for (const char* value : kHostile) EXPECT_EQ(through("sh", EnvFormat::Sh, value), value);
}

TEST_F(EnvironmentTest, FishReadsBackWhatWasMeant) {
    if (::access("/usr/bin/fish", X_OK) != 0) GTEST_SKIP() << "no fish here";
    for (const char* value : kHostile) EXPECT_EQ(through("fish", EnvFormat::Fish, value), value);
}

// By the rules of each language, for machines without it.
TEST(EnvironmentLines, AreQuotedByEachLanguagesRules) {
    EXPECT_EQ(line_that_sets(EnvFormat::Fish, "X", "it's \\ $y").value(), "set -gx X 'it\\'s \\\\ $y'\n");
    EXPECT_EQ(line_that_sets(EnvFormat::Powershell, "X", "it's $y").value(), "$env:X = 'it''s $y'\n");
    EXPECT_EQ(line_that_sets(EnvFormat::Powershell, "X", "\xe2\x80\x99").value(),
              "$env:X = '\xe2\x80\x99\xe2\x80\x99'\n");
    EXPECT_EQ(line_that_sets(EnvFormat::Powershell, "X", "\xe2\x80\x9c").value(),
              "$env:X = '\xe2\x80\x9c'\n");
    EXPECT_EQ(line_that_sets(EnvFormat::Dotenv, "X", "https://h:1/a?b=c").value(), "X=https://h:1/a?b=c\n");
    EXPECT_EQ(line_that_sets(EnvFormat::Dotenv, "X", "a b#c").value(), "X='a b#c'\n");
    EXPECT_EQ(line_that_sets(EnvFormat::Dotenv, "X", "it's $y").value(), "X=\"it's \\$y\"\n");
    EXPECT_FALSE(line_that_sets(EnvFormat::Dotenv, "X", "a\nY=b").has_value());
    EXPECT_EQ(line_that_unsets(EnvFormat::Sh, "X"), "unset X\n");
    EXPECT_EQ(line_that_unsets(EnvFormat::Fish, "X"), "set -e X\n");
}

TEST_F(EnvironmentTest, KeepsTheBundleInForce) {
    write("tls/ca.pem", "-----BEGIN CERTIFICATE-----\nOURS\n-----END CERTIFICATE-----\n");
    write("theirs.pem", "-----BEGIN CERTIFICATE-----\nTHEIRS\n-----END CERTIFICATE-----");
    write("endpoint", R"({"url":"https://server","pid":7,"ca":")" + data_ + R"(/tls/ca.pem"})");
    write("owner.key", "it's secret", 0600);
    server_.on("GET /health", 200, "{}");
    Context context = terminal_.context(server_);
    terminal_.variables["REQUESTS_CA_BUNDLE"] = data_ + "/theirs.pem";
    ASSERT_TRUE(print_environment(context, {data_}, EnvFormat::Sh).has_value());
    const std::string lines = terminal_.out.str();
    EXPECT_NE(lines.find(R"(export LAVANT_TOKEN='it'\''s secret')"), std::string::npos) << lines;
    EXPECT_NE(lines.find("export LAVANT_DATA='" + data_ + "'"), std::string::npos) << lines;
    EXPECT_NE(lines.find("export LAVANT_CA_BUNDLE_BEFORE='" + data_ + "/theirs.pem'"), std::string::npos)
        << lines;
    const std::string bundle = read_file(data_ + "/lavant-ca-bundle.pem", 10'000).value();
    EXPECT_LT(bundle.find("THEIRS"), bundle.find("OURS"));

    terminal_.variables["REQUESTS_CA_BUNDLE"] = data_ + "/lavant-ca-bundle.pem";
    ASSERT_TRUE(print_environment(context, {data_}, EnvFormat::Sh).has_value());
    EXPECT_EQ(read_file(data_ + "/lavant-ca-bundle.pem", 10'000).value(), bundle);

    terminal_.out.str("");
    terminal_.variables["LAVANT_CA_BUNDLE_BEFORE"] = data_ + "/theirs.pem";
    ASSERT_TRUE(print_environment_undone(context, EnvFormat::Sh).has_value());
    EXPECT_NE(terminal_.out.str().find("export REQUESTS_CA_BUNDLE='" + data_ + "/theirs.pem'"),
              std::string::npos);
    EXPECT_NE(terminal_.out.str().find("unset LAVANT_TOKEN\n"), std::string::npos);
}

TEST_F(EnvironmentTest, TheBundleHasWhatPipTrusts) {
    write("tls/ca.pem", "-----BEGIN CERTIFICATE-----\nOURS\n-----END CERTIFICATE-----\n");
    write("theirs.pem", "-----BEGIN CERTIFICATE-----\nTHEIRS\n-----END CERTIFICATE-----");
    write("pips.pem", "-----BEGIN CERTIFICATE-----\nPIPS\n-----END CERTIFICATE-----");
    write("endpoint", R"({"url":"https://server","pid":7,"ca":")" + data_ + R"(/tls/ca.pem"})");
    write("owner.key", "secret", 0600);
    server_.on("GET /health", 200, "{}");
    Context context = terminal_.context(server_);
    const std::string path = data_ + "/lavant-ca-bundle.pem";
    terminal_.variables["REQUESTS_CA_BUNDLE"] = data_ + "/theirs.pem";
    ASSERT_TRUE(print_environment(context, {data_}, EnvFormat::Sh).has_value());
    // Named only after the first call, in the same shell: what was there before is still there.
    terminal_.variables["REQUESTS_CA_BUNDLE"] = path;
    terminal_.variables["LAVANT_CA_BUNDLE_BEFORE"] = data_ + "/theirs.pem";
    terminal_.variables["PIP_CERT"] = data_ + "/pips.pem";
    for (int repeated = 0; repeated < 2; ++repeated) {
        ASSERT_TRUE(print_environment(context, {data_}, EnvFormat::Sh).has_value());
        EXPECT_EQ(read_file(path, 10'000).value(),
                  "-----BEGIN CERTIFICATE-----\nTHEIRS\n-----END CERTIFICATE-----\n"
                  "-----BEGIN CERTIFICATE-----\nPIPS\n-----END CERTIFICATE-----\n"
                  "-----BEGIN CERTIFICATE-----\nOURS\n-----END CERTIFICATE-----\n");
    }
}

TEST_F(EnvironmentTest, UnsettingLeavesABundleThatIsNotOurs) {
    terminal_.variables["REQUESTS_CA_BUNDLE"] = "/mine.pem";
    Context context = terminal_.context(server_);
    ASSERT_TRUE(print_environment_undone(context, EnvFormat::Sh).has_value());
    EXPECT_EQ(terminal_.out.str().find("REQUESTS_CA_BUNDLE"), std::string::npos);
    EXPECT_FALSE(print_environment_undone(context, EnvFormat::Dotenv).has_value());
}

TEST_F(EnvironmentTest, AServerWithoutAnAuthorityTakesAnOldOneAway) {
    terminal_.variables = {{"LAVANT_ENDPOINT", "https://far"}, {"LAVANT_TOKEN", "t"}, {"HOME", data_}};
    Context context = terminal_.context(server_);
    ASSERT_TRUE(print_environment(context, {}, EnvFormat::Sh).has_value());
    const std::string lines = terminal_.out.str();
    EXPECT_NE(lines.find("unset LAVANT_CA\n"), std::string::npos) << lines;
    EXPECT_EQ(lines.find("REQUESTS_CA_BUNDLE"), std::string::npos) << lines;
    EXPECT_EQ(lines.find("LAVANT_DATA"), std::string::npos) << lines;
}

}  // namespace
}  // namespace lavant::cli
