#include "agent/log_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <random>

namespace lavant::agent {
namespace {

std::string collapse(std::string_view text, std::size_t step = 1'000'000) {
    Collapser collapser;
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += step) collapser.take(text.substr(at, step), out);
    collapser.finish(out);
    return out;
}

TEST(Collapser, LeavesOrdinaryLinesAlone) { EXPECT_EQ(collapse("a\nbb\n\nc"), "a\nbb\n\nc"); }

TEST(Collapser, KeepsTheLastStateOfAProgressBar) {
    EXPECT_EQ(collapse("start\n\r 10%\r 50%\r100%\ndone\n"), "start\n100%\ndone\n");
    EXPECT_EQ(collapse("10%\r20%\r"), "20%");
}

TEST(Collapser, TakesTheReturnsOfDosLinesAway) { EXPECT_EQ(collapse("a\r\nb\r\r\nc"), "a\nb\nc"); }

TEST(Collapser, GivesTheSameWhereverTheBytesAreCut) {
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        std::string text;
        for (int i = 0; i < 200; ++i) text += "ab\r\nc\r"[random() % 6];
        const std::string whole = collapse(text);
        for (std::size_t step = 1; step < 7; ++step) EXPECT_EQ(collapse(text, step), whole);
    }
}

TEST(Collapser, ShipsAnEndlessLineInPieces) {
    Collapser collapser;
    std::string out;
    const std::string text(3 * Collapser::kLinePieceBytes + 5, 'x');
    collapser.take(text, out);
    EXPECT_EQ(out.size(), 3 * Collapser::kLinePieceBytes);
    collapser.finish(out);
    EXPECT_EQ(out, text);
}

class LogStreamTest : public ::testing::Test {
 protected:
    void SetUp() override {
        char folder[] = "/tmp/lavant-log-XXXXXX";
        ASSERT_NE(::mkdtemp(folder), nullptr);
        folder_ = folder;
        path_ = folder_ + "/log";
        write("");
    }
    void TearDown() override { (void)remove_tree(folder_); }
    void write(std::string_view text) { ASSERT_TRUE(write_file_atomically(path_, text)); }
    void append(std::string_view text) {
        const Result<Fd> file = open_file(path_, O_WRONLY | O_APPEND);
        ASSERT_TRUE(file && write_all(file->get(), text));
    }
    std::string folder_, path_;
};

TEST_F(LogStreamTest, HoldsAnUnfinishedLineBackUntilItEnds) {
    LogStream stream = *LogStream::open(path_, 1000);
    append("one\ntw");
    EXPECT_EQ(*stream.pull(), 4U);
    append("o\nthree");
    EXPECT_EQ(*stream.pull(), 8U);
    EXPECT_EQ(stream.bytes(0, 8), "one\ntwo\n");
    EXPECT_EQ(*stream.close(), 13U);
    EXPECT_EQ(stream.bytes(8, 13), "three");
}

TEST_F(LogStreamTest, HoldsNoMoreThanItsWindowAndLosesNothing) {
    std::string text;
    for (int i = 0; i < 200'000; ++i) text += "line " + std::to_string(i) + "\n";
    append(text + "end");
    LogStream stream = *LogStream::open(path_, 100'000);
    EXPECT_LT(*stream.pull(), 300'000U);
    const std::uint64_t length = *stream.close();
    EXPECT_EQ(length, text.size() + 3);
    std::string got;
    while (got.size() < length) {
        const std::string_view piece = stream.bytes(got.size(), got.size() + 50'000);
        ASSERT_FALSE(piece.empty());
        got += piece;
        ASSERT_TRUE(stream.keep(got.size()));
    }
    EXPECT_EQ(got, text + "end");
}

TEST_F(LogStreamTest, SkipsWhatAnEarlierAgentShipped) {
    append("aaa\n\r1\r2\nbbb\nccc");
    LogStream first = *LogStream::open(path_, 1000);
    const std::uint64_t length = *first.pull();
    const std::string all(first.bytes(0, length));
    LogStream second = *LogStream::open(path_, 2);
    EXPECT_EQ(*second.measure(), length);
    ASSERT_TRUE(second.keep(6));
    EXPECT_EQ(second.bytes(6, length), all.substr(6));
}

TEST_F(LogStreamTest, ReadsTheEndOfTheFile) {
    append("0123456789");
    EXPECT_EQ(*LogStream::open(path_, 10)->tail(4), "6789");
    EXPECT_EQ(*LogStream::open(path_, 10)->tail(400), "0123456789");
}

}  // namespace
}  // namespace lavant::agent
