#include "cli/config.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>

#include "base/files.h"
#include "base/text.h"

namespace lavant::cli {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
    ConfigTest() {
        std::string pattern = ::testing::TempDir() + "config.XXXXXX";
        root_ = ::mkdtemp(pattern.data());
        variables_["HOME"] = root_ + "/people/ann";
        world_ = {.variable = [this](const std::string& name) { return variables_[name]; },
                  .folder = root_ + "/people/ann/project/src",
                  .user = ::geteuid(),
                  .system_file = root_ + "/etc/config.yml"};
        EXPECT_TRUE(make_directories(world_.folder));
    }
    ~ConfigTest() override { (void)remove_tree(root_); }

    std::string write(const std::string& name, const std::string& text, int mode = 0644) {
        const std::string path = root_ + "/" + name;
        EXPECT_TRUE(make_directories(parent_of(path)));
        EXPECT_TRUE(write_file_atomically(path, text, mode));
        EXPECT_EQ(::chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
        return path;
    }
    std::string problem(const std::string& text, Source source = Source::User) {
        const auto parsed = parse_config(text, "f.yml", source);
        return parsed ? "" : parsed.error().message;
    }

    std::string root_;
    std::map<std::string, std::string> variables_;
    ConfigWorld world_;
};

TEST_F(ConfigTest, WithoutAnythingThereAreDefaults) {
    const auto config = load_config(world_);
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->workspace(), default_workspace());
    EXPECT_EQ((*config)["output"], "table");
    EXPECT_EQ(config->setting("output").origin.text(), "default");
    EXPECT_EQ(config->files.user, root_ + "/people/ann/.config/lavant/config.yml");
    EXPECT_EQ(config->files.project, "");
}

TEST_F(ConfigTest, EachSourceWinsOverTheNext) {
    const std::string system =
        write("etc/config.yml", "workspace: s\nresource_group: s\ncolor: never\noutput: tsv\n");
    const std::string user = write("people/ann/.config/lavant/config.yml",
                                   "# mine\nworkspace: u\nresource_group: u\ncolor: always\n");
    const std::string project =
        write("people/ann/project/.lavant.yml", "\nworkspace: p\nresource_group: p\n");
    variables_["LAVANT_WS"] = "v";
    const auto config = load_config(world_);
    ASSERT_TRUE(config.has_value()) << config.error().error.message;
    EXPECT_EQ((*config)["workspace"], "v");
    EXPECT_EQ(config->setting("workspace").origin.text(), "LAVANT_WS");
    EXPECT_EQ((*config)["resource_group"], "p");
    EXPECT_EQ(config->setting("resource_group").origin.text(), project + ":3");
    EXPECT_EQ((*config)["color"], "always");
    EXPECT_EQ(config->setting("color").origin.text(), user + ":4");
    EXPECT_EQ((*config)["output"], "tsv");
    EXPECT_EQ(config->setting("output").origin.text(), system + ":4");
}

TEST_F(ConfigTest, TheUsersFileLiesWhereXdgSays) {
    write("xdg/lavant/config.yml", "workspace: x\n");
    variables_["XDG_CONFIG_HOME"] = root_ + "/xdg";
    EXPECT_EQ(load_config(world_).value()["workspace"], "x");
    variables_["XDG_CONFIG_HOME"] = "relative";
    EXPECT_EQ(load_config(world_).value()["workspace"], "default");
}

TEST_F(ConfigTest, TheProjectsFileIsTheNearestUpToTheHome) {
    write("people/.lavant.yml", "workspace: above-home\n");
    EXPECT_EQ(load_config(world_)->files.project, "");
    const std::string home = write("people/ann/.lavant.yml", "workspace: a\n");
    EXPECT_EQ(load_config(world_)->files.project, home);
    const std::string near = write("people/ann/project/.lavant.yml", "workspace: b\n");
    EXPECT_EQ(load_config(world_)->files.project, near);
    world_.folder = root_ + "/elsewhere/deep";
    const std::string other = write("elsewhere/.lavant.yml", "workspace: c\n");
    EXPECT_EQ(load_config(world_)->files.project, other);
}

TEST_F(ConfigTest, AProjectsFileThatOthersMayWriteIsNotRead) {
    write("people/ann/project/.lavant.yml", "workspace: w\n", 0666);
    const auto open = load_config(world_);
    ASSERT_TRUE(open.has_value());
    EXPECT_EQ((*open)["workspace"], "default");
    ASSERT_EQ(open->warnings.size(), 1U);
    EXPECT_NE(open->warnings[0].find("chmod o-w"), std::string::npos) << open->warnings[0];

    write("people/ann/project/.lavant.yml", "workspace: w\n");
    world_.user = ::geteuid() + 1;
    const auto others = load_config(world_);
    ASSERT_TRUE(others.has_value());
    if (::geteuid() == 0) {
        EXPECT_EQ((*others)["workspace"], "w") << "root's files count for everybody";
        ASSERT_EQ(::chown((root_ + "/people/ann/project/.lavant.yml").c_str(), 4711, 4711), 0);
    }
    const auto foreign = load_config(world_);
    EXPECT_EQ((*foreign)["workspace"], "default");
    ASSERT_EQ(foreign->warnings.size(), 1U);
    EXPECT_NE(foreign->warnings[0].find("another user"), std::string::npos) << foreign->warnings[0];
}

TEST_F(ConfigTest, AFolderOrPipeInItsPlaceHoldsNothingUp) {
    ASSERT_EQ(::mkfifo((root_ + "/people/ann/project/.lavant.yml").c_str(), 0600), 0);
    const auto config = load_config(world_);
    ASSERT_TRUE(config.has_value());
    EXPECT_EQ(config->warnings.size(), 1U);
}

TEST_F(ConfigTest, AProjectMayNotChooseWhereThingsAreSent) {
    for (const char* key : {"token", "ca", "endpoint", "url", "key", "server"}) {
        EXPECT_NE(problem(std::string(key) + ": x\n", Source::Project).find("may not set"), std::string::npos)
            << key;
        EXPECT_NE(problem(std::string(key) + ": x\n").find("lavant login URL"), std::string::npos) << key;
    }
    EXPECT_NE(problem("data: /x\n", Source::Project).find("may not set 'data'"), std::string::npos);
    EXPECT_NE(problem("idle_exit_s: 0\n", Source::Project).find("may not set"), std::string::npos);
    EXPECT_EQ(problem("data: /x\nidle_exit_s: 0\n"), "");
    EXPECT_EQ(problem("context: team\nworkspace: w\noutput: json\ncolor: auto\nexperiment_name: e\n"
                      "subscription: s\nresource_group: g\n",
                      Source::Project),
              "");
}

TEST_F(ConfigTest, ProblemsComeAllAtOnceWithTheirPlaces) {
    const auto parsed =
        parse_config("workspce: a\noutput:   jsn\nidle_exit_s: -1\ncolor:\n", "f.yml", Source::User);
    ASSERT_FALSE(parsed.has_value());
    ASSERT_EQ(parsed.error().fields.size(), 4U);
    EXPECT_EQ(parsed.error().fields[0].message, "unknown key; did you mean 'workspace'?");
    EXPECT_EQ(parsed.error().fields[1].message, "cannot be 'jsn'; did you mean 'json'?");
    EXPECT_EQ(parsed.error().fields[1].line, 2);
    EXPECT_EQ(parsed.error().fields[1].column, 11);
    EXPECT_NE(parsed.error().message.find("f.yml has 4 problems"), std::string::npos);
}

TEST_F(ConfigTest, ValuesHaveTypesAndLimits) {
    EXPECT_EQ(problem("workspace: 123\n"), "");
    EXPECT_NE(problem("workspace: on\n").find("quotes"), std::string::npos);
    EXPECT_EQ(problem("workspace: \"on\"\n"), "");
    EXPECT_NE(problem("workspace: [a]\n").find("must be one value"), std::string::npos);
    EXPECT_NE(problem("workspace: a/b\n").find("'/'"), std::string::npos);
    EXPECT_NE(problem("workspace: \"a\\nb\"\n").find("control character"), std::string::npos);
    EXPECT_NE(problem("workspace: " + std::string(300, 'x') + "\n").find("longer"), std::string::npos);
    EXPECT_NE(problem("data: here\n").find("must begin with /"), std::string::npos);
    EXPECT_EQ(problem("data: ~/here\n"), "");
    EXPECT_NE(problem("- a\n").find("must be a mapping"), std::string::npos);
    EXPECT_NE(problem("{").size(), 0U);
    EXPECT_EQ(problem("# nothing\n\n"), "");
    EXPECT_EQ(problem(""), "");
}

TEST_F(ConfigTest, GpusAreNamesOrAWord) {
    const ConfigKey& key = *find_config_key("gpus");
    EXPECT_EQ(check_value(key, "0, 1").value(), "0,1");
    EXPECT_EQ(check_value(key, "AUTO").value(), "auto");
    EXPECT_EQ(check_value(key, "none").value(), "none");
    EXPECT_FALSE(check_value(key, "a b").has_value());
    EXPECT_FALSE(check_value(key, "").has_value());
    EXPECT_EQ(problem("gpus: 0\n"), "");
    EXPECT_EQ(problem("gpus: GPU-1,GPU-2\n"), "");
    EXPECT_NE(problem("gpus: 0,0\n").find("names '0' twice"), std::string::npos);
    EXPECT_NE(problem("gpus: [0, 1]\n"), "");
    EXPECT_NE(problem("gpus: 0\n", Source::Project).find("may not set"), std::string::npos);
    EXPECT_NE(problem("retired_sizes: replace\n").find("substitute or refuse"), std::string::npos);
}

TEST_F(ConfigTest, AWrongVariableIsNamed) {
    variables_["LAVANT_OUTPUT"] = "tabel";
    const auto config = load_config(world_);
    ASSERT_FALSE(config.has_value());
    EXPECT_EQ(config.error().exit, Exit::Usage);
    EXPECT_EQ(config.error().error.message,
              "the variable LAVANT_OUTPUT cannot be 'tabel'; did you mean 'table'?");
}

TEST(ConfigKeys, EveryKeyHasAVariableAndADefaultThatIsValid) {
    for (const ConfigKey& key : config_keys()) {
        EXPECT_TRUE(key.variable.starts_with("LAVANT_")) << key.name;
        EXPECT_FALSE(key.description.empty()) << key.name;
        if (key.fallback.empty()) continue;
        EXPECT_TRUE(check_value(key, key.fallback).has_value()) << key.name;
    }
}

TEST(ConfigKeys, AreAllInTheManual) {
    const std::string manual = read_file(LAVANT_SOURCE_DIR "/docs/configuration.md", 1U << 20).value();
    for (const ConfigKey& key : config_keys()) {
        const std::size_t row =
            manual.find("| `" + std::string(key.name) + "` | `" + std::string(key.variable) + "` |");
        ASSERT_NE(row, std::string::npos) << key.name;
        const std::string line = manual.substr(row, manual.find('\n', row) - row);
        EXPECT_NE(line.find(key.in_project ? "| yes |" : "| no |"), std::string::npos) << line;
        if (key.choices.empty()) continue;
        for (const std::string_view choice : split(key.choices, '|'))
            EXPECT_NE(line.find("`" + std::string(choice) + "`"), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace lavant::cli
