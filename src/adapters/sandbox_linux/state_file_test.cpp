#include "adapters/sandbox_linux/state_file.h"

#include <gtest/gtest.h>

namespace lavant::sandbox_linux {
namespace {

const TaskState kStarted{
    .start = "7.1.0:9.2", .supervisor = 42, .boot = "abcd1234", .slot = 3, .oom_kills = 5, .cpu_micros = 77};

TEST(StateFile, WhatTheAgentWritesIsReadBack) {
    const auto state = parse_state(render_started(kStarted));
    ASSERT_TRUE(state);
    EXPECT_EQ(state->supervisor, kStarted.supervisor);
    EXPECT_EQ(state->start, "7.1.0:9.2");
    EXPECT_EQ(state->boot, "abcd1234");
    EXPECT_EQ(state->slot, 3);
    EXPECT_EQ(state->oom_kills, 5);
    EXPECT_EQ(state->cpu_micros, 77);
    EXPECT_FALSE(state->end);
    EXPECT_EQ(state->failure, "");
}

// The supervisor writes its record over the empty one.
std::string with_end(std::string_view record) {
    return render_started(kStarted).substr(0, kStartRecordBytes) + std::string(record);
}

TEST(StateFile, TheEndIsKnownOnlyWhenItsLineIsWhole) {
    const auto ended = parse_state(with_end("end 3 0 1000 2000 3000\n"));
    ASSERT_TRUE(ended && ended->end);
    EXPECT_TRUE(ended->end->known);
    EXPECT_EQ(ended->end->exit_code, 3);
    EXPECT_EQ(ended->end->usage, (Usage{.cpu_micros = 1000, .memory_peak_bytes = 2000, .wall_micros = 3000}));
    for (const char* cut : {"end 3 0 1000 2000 3000", "end 3 0 1000\n", "en", "end a b c d e\n", "\n"})
        EXPECT_FALSE(parse_state(with_end(cut))->end) << cut;
}

TEST(StateFile, AFailureSaysWhatAndWhy) {
    const auto state = parse_state(with_end("failed 2 open for mounting /no/such folder\n"));
    EXPECT_EQ(state->failure, "cannot open for mounting /no/such folder: No such file or directory");
}

TEST(StateFile, WithoutAWholeFirstRecordTheTaskNeverRan) {
    EXPECT_FALSE(parse_state(""));
    EXPECT_FALSE(parse_state(render_started(kStarted).substr(0, kStartRecordBytes)));
    for (std::string text : {"task", "task s b 1 2 3\n", "end 0 0 0 0 0\n", "task s b x 2 3 4\n"}) {
        text.resize(kStartRecordBytes, ' ');
        EXPECT_FALSE(parse_state(text + "\n")) << text;
    }
}

TEST(StateFile, AStartNamesItsTask) {
    const TaskRef task{{42}, 1, 0};
    EXPECT_TRUE(is_start_of(name_start(task, 1), task));
    EXPECT_NE(name_start(task, 1), name_start(task, 2));
    EXPECT_FALSE(is_start_of(name_start({{42}, 11, 0}, 1), task));
    EXPECT_FALSE(is_start_of(name_start({{4}, 1, 0}, 1), task));
    EXPECT_FALSE(is_start_of("42.1.0", task));
}

}  // namespace
}  // namespace lavant::sandbox_linux
