#include "adapters/sandbox_linux/direct_command.h"

#include <gtest/gtest.h>

namespace lavant::sandbox_linux {
namespace {

const std::vector<std::string> kEnvironment = {"A=1", "PATH=/usr/local/bin:/bin"};

std::string check(std::string_view script, const std::vector<std::string>& environment = kEnvironment) {
    const auto command = find_direct_command(script, environment);
    if (!command) return "shell";
    std::string text;
    for (const auto& candidate : command->candidates) text += candidate + "|";
    for (const auto& word : command->words) text += " " + word;
    return text;
}

TEST(DirectCommand, PlainWordsNeedNoShell) {
    EXPECT_EQ(check("python train.py --lr 0.1 --out=./outputs"),
              "/usr/local/bin/python|/bin/python| python train.py --lr 0.1 --out=./outputs");
    EXPECT_EQ(check(" /bin/true\n"), "/bin/true| /bin/true");
    EXPECT_EQ(check("./run.sh\ta"), "./run.sh| ./run.sh a");
    EXPECT_EQ(check("echo hello"), "/usr/local/bin/echo|/bin/echo| echo hello");
}

TEST(DirectCommand, WhateverTheShellWouldReadDifferentlyGoesToTheShell) {
    for (const char* script :
         {"",        "  ",  "a; b",  "a && b",    "a | b",   "a > f",  "a $HOME",   "a `b`",  "a 'b'",
          "a \"b\"", "a *", "a ?",   "a [b]",     "a {b,c}", "a ~",    "a #b",      "a\nb",   "a \\b",
          "! a",     "(a)", "A=1 b", "a &",       "cd x",    "exit 3", "test -e x", "time a", "if a",
          "wait",    ".",   ": x",   "echo -n x", "kill 1",  "a \x80", "while a"})
        EXPECT_EQ(check(script), "shell") << script;
}

TEST(DirectCommand, AnEnvironmentThatChangesTheShellGoesToTheShell) {
    for (const char* entry :
         {"BASH_ENV=/x", "BASH_FUNC_a%%=() { :; }", "SHELLOPTS=xtrace", "POSIXLY_CORRECT=1"})
        EXPECT_EQ(check("a", {entry, "PATH=/bin"}), "shell") << entry;
    EXPECT_EQ(check("a", {}), "shell");
    EXPECT_EQ(check("a", {"PATH=bin:/bin"}), "shell");
    EXPECT_EQ(check("a", {"PATH=/bin:"}), "shell");
}

}  // namespace
}  // namespace lavant::sandbox_linux
