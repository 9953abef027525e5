#include "adapters/nodes_local/program_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files.h"

namespace lavant::nodes_local {
namespace {

class ProgramFile : public ::testing::Test {
 protected:
    void SetUp() override {
        std::string name = "/tmp/lavant-program-XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        base_ = name;
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(base_)); }
    std::string path() const { return base_ + "/bin/program"; }
    std::string text() const { return read_file(path(), 1U << 20).value_or("(no file)"); }
    struct stat status() const {
        struct stat found {};
        EXPECT_EQ(::stat(path().c_str(), &found), 0);
        return found;
    }

    std::string base_;
};

constexpr std::string_view kEndsWith7 = "#!/bin/sh\nexit 7\n";

TEST_F(ProgramFile, IsPutWhereItCanBeExecuted) {
    ASSERT_TRUE(install_program(path(), kEndsWith7));
    EXPECT_EQ(text(), kEndsWith7);
    EXPECT_EQ(status().st_mode & 0777U, 0755U);
    EXPECT_EQ(WEXITSTATUS(::system(path().c_str())), 7);
    EXPECT_EQ(list_directory(base_ + "/bin")->size(), 1U);
}

TEST_F(ProgramFile, IsLeftAloneWhereItIsTheSame) {
    ASSERT_TRUE(install_program(path(), kEndsWith7));
    const ino_t before = status().st_ino;
    ASSERT_TRUE(install_program(path(), kEndsWith7));
    EXPECT_EQ(status().st_ino, before);
}

TEST_F(ProgramFile, ReplacesWhateverElseIsThere) {
    ASSERT_TRUE(make_directories(base_ + "/bin"));
    const std::string same_size(kEndsWith7.size(), 'x');
    for (const std::string& other :
         {std::string(), same_size, std::string(kEndsWith7) + "#", same_size.substr(1)}) {
        ASSERT_TRUE(write_file_atomically(path(), other, 0755));
        ASSERT_TRUE(install_program(path(), kEndsWith7));
        EXPECT_EQ(text(), kEndsWith7);
    }
    ASSERT_EQ(::chmod(path().c_str(), 0644), 0);
    ASSERT_TRUE(install_program(path(), kEndsWith7));
    EXPECT_EQ(status().st_mode & 0777U, 0755U);
}

TEST_F(ProgramFile, WhoRunsTheOldOneKeepsIt) {
    ASSERT_TRUE(install_program(path(), "old"));
    const auto old = open_file(path(), O_RDONLY);
    ASSERT_TRUE(old);
    ASSERT_TRUE(install_program(path(), kEndsWith7));
    std::string read(8, '\0');
    read.resize(static_cast<std::size_t>(::read(old->get(), read.data(), read.size())));
    EXPECT_EQ(read, "old");
}

TEST_F(ProgramFile, OnesThatWereNotFinishedAreNoHindrance) {
    ASSERT_TRUE(make_directories(base_ + "/bin"));
    ASSERT_TRUE(write_file_atomically(path() + ".new", "half"));
    ASSERT_TRUE(install_program(path(), kEndsWith7));
    EXPECT_EQ(text(), kEndsWith7);
    EXPECT_EQ(list_directory(base_ + "/bin")->size(), 1U);
}

TEST_F(ProgramFile, AFolderThatCannotBeMadeIsAnErrorThatNamesIt) {
    ASSERT_TRUE(write_file_atomically(base_ + "/bin", ""));
    const auto installed = install_program(path(), kEndsWith7);
    ASSERT_FALSE(installed);
    EXPECT_NE(installed.error().message.find(base_ + "/bin"), std::string::npos) << installed.error().message;
}

}  // namespace
}  // namespace lavant::nodes_local
