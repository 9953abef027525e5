#include "cli/config_edit.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/files.h"
#include "cli/config_commands.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

std::string set(const std::string& text, const std::string& key, const std::string& value) {
    const auto changed = with_key(text, "f.yml", *find_config_key(key), value);
    return changed ? *changed : "! " + changed.error().message;
}
std::string unset(const std::string& text, const std::string& key) {
    const auto changed = without_key(text, "f.yml", key);
    return changed ? *changed : "! " + changed.error().message;
}

TEST(ConfigEdit, ChangesOneValueAndNothingElse) {
    const std::string text = "# mine\nworkspace:   a   # the first\n\ncontext: \"x # y\"  # of the team\n";
    EXPECT_EQ(set(text, "workspace", "b"),
              "# mine\nworkspace: b   # the first\n\ncontext: \"x # y\"  # of the team\n");
    EXPECT_EQ(set(text, "context", "team"),
              "# mine\nworkspace:   a   # the first\n\ncontext: team  # of the team\n");
    EXPECT_EQ(set(text, "output", "json"), text + "output: json\n");
}

TEST(ConfigEdit, BeginsAFileAndEndsALastLine) {
    EXPECT_EQ(set("", "workspace", "w"), "workspace: w\n");
    EXPECT_EQ(set("# only this", "workspace", "w"), "# only this\nworkspace: w\n");
    EXPECT_EQ(set("color: auto", "workspace", "w"), "color: auto\nworkspace: w\n");
    EXPECT_EQ(set("workspace:\n", "workspace", "w"), "workspace: w\n");
}

TEST(ConfigEdit, QuotesWhatYamlWouldReadAsSomethingElse) {
    for (const char* value :
         {"on", "123", "null", "a: b", "it's", "a #b", "-x", "~", "größe", "a\"b\\c", "1e5", ""}) {
        const std::string text = set("", "workspace", value);
        const auto read = parse_config(text, "f.yml", Source::User);
        if (std::string(value).empty()) continue;
        ASSERT_TRUE(read.has_value()) << text;
        EXPECT_EQ(read->front().value, value) << text;
    }
    EXPECT_EQ(set("", "idle_exit_s", "60"), "idle_exit_s: 60\n");
}

TEST(ConfigEdit, RefusesWhatOneLineCannotDo) {
    EXPECT_NE(set("{workspace: a, color: auto}\n", "output", "json").find("by hand"), std::string::npos);
    EXPECT_NE(set("workspace: a\n  b\n", "workspace", "c").find("edit line 1 by hand"), std::string::npos);
    EXPECT_NE(set("workspace: >\n  a\n", "workspace", "c").find("by hand"), std::string::npos);
    EXPECT_NE(unset("workspace: >\n  a\n", "workspace").find("by hand"), std::string::npos);
    EXPECT_NE(set("- a\n", "workspace", "c").find("not a mapping"), std::string::npos);
    EXPECT_EQ(set("{workspace: a, color: auto}\n", "color", "never"),
              "! cannot change 'color' in f.yml and leave "
              "the rest as it is; edit line 1 by hand");
}

TEST(ConfigEdit, RemovesAKeyEvenOneThatIsNone) {
    EXPECT_EQ(unset("# a\nworkspace: w # x\ncolor: auto\n", "workspace"), "# a\ncolor: auto\n");
    EXPECT_EQ(unset("workspce: w\n", "workspce"), "");
    EXPECT_EQ(unset("color: auto\n", "workspace"), "! f.yml does not set 'workspace'");
}

class ConfigSetTest : public ::testing::Test {
 protected:
    ConfigSetTest() {
        std::string pattern = ::testing::TempDir() + "/set.XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        terminal_.variables["HOME"] = root_;
    }
    ~ConfigSetTest() override { (void)remove_tree(root_); }
    Context context() {
        Context made = terminal_.context(server_);
        made.folder = root_;
        return made;
    }

    std::string root_;
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(ConfigSetTest, WritesTheUsersFileForItsOwnerOnly) {
    Context one = context();
    ASSERT_TRUE(set_config(one, "workspace", "w", ConfigScope::User).has_value());
    const std::string path = root_ + "/.config/lavant/config.yml";
    EXPECT_EQ(read_file(path, 1000).value(), "workspace: w\n");
    struct ::stat about {};
    ASSERT_EQ(::stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    ASSERT_TRUE(unset_config(one, "workspace", ConfigScope::User).has_value());
    EXPECT_EQ(read_file(path, 1000).value(), "");
}

TEST_F(ConfigSetTest, FollowsALinkToTheFileItself) {
    ASSERT_TRUE(make_directories(root_ + "/.config/lavant"));
    ASSERT_TRUE(write_file_atomically(root_ + "/dotfile", "color: auto\n"));
    const std::string link = root_ + "/.config/lavant/config.yml";
    ASSERT_EQ(::symlink((root_ + "/dotfile").c_str(), link.c_str()), 0);
    Context one = context();
    ASSERT_TRUE(set_config(one, "color", "never", ConfigScope::User).has_value());
    EXPECT_EQ(read_file(root_ + "/dotfile", 1000).value(), "color: never\n");
}

TEST_F(ConfigSetTest, AProjectsFileGetsOnlyWhatItMayHave) {
    Context one = context();
    ASSERT_TRUE(set_config(one, "workspace", "w", ConfigScope::Project).has_value());
    EXPECT_EQ(read_file(root_ + "/.lavant.yml", 1000).value(), "workspace: w\n");
    const auto refused = set_config(one, "data", "/x", ConfigScope::Project);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().exit, Exit::Usage);
    EXPECT_EQ(read_file(root_ + "/.lavant.yml", 1000).value(), "workspace: w\n");
    const auto token = set_config(one, "token", "secret", ConfigScope::User);
    ASSERT_FALSE(token.has_value());
    EXPECT_NE(token.error().error.message.find("lavant login URL"), std::string::npos);
}

TEST_F(ConfigSetTest, ShowsValuesAndOrigins) {
    terminal_.variables["LAVANT_WS"] = "w";
    Context one = context();
    ASSERT_TRUE(show_config(one, {.data = "", .workspace = {"", "g", ""}}, true, {Format::Json}).has_value());
    const auto shown = wire::parse_json(terminal_.out.str()).value();
    EXPECT_EQ(shown.get("workspace.origin").text(), "LAVANT_WS");
    EXPECT_EQ(shown.get("resource_group.value").text(), "g");
    EXPECT_EQ(shown.get("resource_group.origin").text(), "--resource-group");
    EXPECT_EQ(shown.get("idle_exit_s.value").integer(), 900);
    EXPECT_TRUE(shown.get("context.value").is_null());
    EXPECT_EQ(shown.size(), config_keys().size());
    terminal_.out.str("");
    ASSERT_TRUE(get_config(one, "workspace").has_value());
    EXPECT_EQ(terminal_.out.str(), "w\n");
    EXPECT_FALSE(get_config(one, "worksapce").has_value());
}

}  // namespace
}  // namespace lavant::cli
