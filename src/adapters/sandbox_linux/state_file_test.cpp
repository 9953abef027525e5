#include "adapters/sandbox_linux/state_file.h"

#include <gtest/gtest.h>

namespace lavant::sandbox_linux {
namespace {

const TaskState kStarted{.supervisor = {.pid = 42, .start_ticks = 9'000'000'000},
                         .boot = "abcd1234",
                         .slot = 3,
                         .oom_kills = 5,
                         .cpu_micros = 77};

TEST(StateFile, WhatTheAgentWritesIsReadBack) {
    const auto state = parse_state(render_started(kStarted));
    ASSERT_TRUE(state);
    EXPECT_EQ(state->supervisor, kStarted.supervisor);
    EXPECT_EQ(state->boot, "abcd1234");
    EXPECT_EQ(state->slot, 3);
    EXPECT_EQ(state->oom_kills, 5);
    EXPECT_EQ(state->cpu_micros, 77);
    EXPECT_FALSE(state->end);
    EXPECT_EQ(state->failure, "");
}

TEST(StateFile, TheEndIsKnownOnlyWhenItsLineIsWhole) {
    const std::string started = render_started(kStarted);
    const auto ended = parse_state(started + "end 3 0 1000 2000 3000\n");
    ASSERT_TRUE(ended && ended->end);
    EXPECT_TRUE(ended->end->known);
    EXPECT_EQ(ended->end->exit_code, 3);
    EXPECT_EQ(ended->end->usage, (Usage{.cpu_micros = 1000, .memory_peak_bytes = 2000, .wall_micros = 3000}));
    for (const char* cut : {"end 3 0 1000 2000 3000", "end 3 0 1000\n", "en", "end a b c d e\n", "\n"})
        EXPECT_FALSE(parse_state(started + cut)->end) << cut;
}

TEST(StateFile, AFailureSaysWhatAndWhy) {
    const auto state = parse_state(render_started(kStarted) + "failed 2 open for mounting /no/such folder\n");
    EXPECT_EQ(state->failure, "cannot open for mounting /no/such folder: No such file or directory");
}

TEST(StateFile, WithoutAWholeFirstLineTheTaskNeverRan) {
    for (const char* text :
         {"", "task", "task b 1 2 3 4 5", "task b 1 2 3 4\n", "end 0 0 0 0 0\n", "task b x 2 3 4 5\n"})
        EXPECT_FALSE(parse_state(text)) << text;
}

}  // namespace
}  // namespace lavant::sandbox_linux
