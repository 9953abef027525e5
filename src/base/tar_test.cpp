#include "base/tar.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <random>

#include "base/files.h"

namespace lavant {
namespace {

// A file without a name that holds an archive.
class Tape {
 public:
    Tape() : file_(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {}
    int fd() const { return file_.get(); }
    void rewind() const { ::lseek(fd(), 0, SEEK_SET); }
    std::uint64_t bytes() const { return static_cast<std::uint64_t>(::lseek(fd(), 0, SEEK_END)); }
    void set(std::size_t at, std::string_view text) const {
        EXPECT_EQ(::pwrite(fd(), text.data(), text.size(), static_cast<off_t>(at)),
                  static_cast<ssize_t>(text.size()));
    }
    // The header's sum made right again after a change.
    void sum_up() const {
        std::string header(512, '\0');
        ASSERT_EQ(::pread(fd(), header.data(), 512, 0), 512);
        header.replace(148, 8, 8, ' ');
        unsigned sum = 0;
        for (const char c : header) sum += static_cast<unsigned char>(c);
        char text[8];
        std::snprintf(text, sizeof text, "%06o", sum);
        set(148, std::string_view(text, 7));
    }
    void add(TarWriter& writer, const std::string& path, const std::string& content) const {
        ASSERT_TRUE(writer.begin({path, content.size()}));
        ASSERT_TRUE(writer.write(content));
    }
    Result<std::vector<std::pair<std::string, std::string>>> read(std::uint64_t budget = 1U << 30) const {
        rewind();
        TarReader reader(fd(), budget);
        std::vector<std::pair<std::string, std::string>> all;
        while (true) {
            LAVANT_TRY(const auto entry, reader.next());
            if (!entry) return all;
            std::string content;
            while (true) {
                LAVANT_TRY(const std::string_view piece, reader.read());
                if (piece.empty()) break;
                content += piece;
            }
            all.emplace_back(entry->path, std::move(content));
        }
    }

 private:
    Fd file_;
};

TEST(Tar, GivesBackWhatWasWritten) {
    const Tape tape;
    TarWriter writer(tape.fd());
    std::vector<std::pair<std::string, std::string>> written;
    std::mt19937 random(7);
    for (const std::size_t bytes : {0U, 1U, 511U, 512U, 513U, 700'000U}) {
        std::string content(bytes, '\0');
        for (char& c : content) c = static_cast<char>(random());
        written.emplace_back("some/folder/file" + std::to_string(bytes), content);
    }
    written.emplace_back(std::string(100, 'p'), "just fits");
    written.emplace_back(std::string(101, 'p'), "needs more");
    written.emplace_back(std::string(3'000, 'x') + "/ümlaut and blank", "long");
    for (const auto& [path, content] : written) tape.add(writer, path, content);
    ASSERT_TRUE(writer.finish());
    EXPECT_EQ(writer.bytes_written(), tape.bytes());
    const auto read = tape.read();
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, written);
}

TEST(Tar, IsReadByTar) {
    const Tape tape;
    TarWriter writer(tape.fd());
    tape.add(writer, "a", "one");
    tape.add(writer, std::string(150, 'b') + "/c", "two");
    ASSERT_TRUE(writer.finish());
    const std::string command =
        "tar -tf /proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(tape.fd());
    std::FILE* listing = ::popen(command.c_str(), "r");
    ASSERT_NE(listing, nullptr);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), listing));
    EXPECT_EQ(::pclose(listing), 0);
    EXPECT_EQ(text, "a\n" + std::string(150, 'b') + "/c\n");
}

TEST(Tar, RefusesPathsThatLeaveTheFolder) {
    for (const std::string path : {"../up", "/etc/passwd", "a/../../b", "a//b", "./a", "a/.", "..", "a/"}) {
        const Tape tape;
        TarWriter writer(tape.fd());
        tape.add(writer, path, "x");
        ASSERT_TRUE(writer.finish());
        EXPECT_FALSE(tape.read()) << path;
        const Tape extended;
        TarWriter second(extended.fd());
        extended.add(second, std::string(200, 'a') + "/../" + path, "x");
        ASSERT_TRUE(second.finish());
        EXPECT_FALSE(extended.read()) << path;
    }
}

TEST(Tar, RefusesAllButPlainFiles) {
    for (const char* type : {"1", "2", "3", "4", "5", "6", "g", "L"}) {
        const Tape tape;
        TarWriter writer(tape.fd());
        tape.add(writer, "file", "x");
        ASSERT_TRUE(writer.finish());
        tape.set(156, type);
        tape.sum_up();
        EXPECT_FALSE(tape.read()) << type;
    }
}

TEST(Tar, RefusesWhatIsSpoiltCutOrTooLarge) {
    const Tape tape;
    TarWriter writer(tape.fd());
    tape.add(writer, "file", std::string(2'000, 'x'));
    ASSERT_TRUE(writer.finish());
    EXPECT_TRUE(tape.read(2'000));
    EXPECT_FALSE(tape.read(1'999));
    ASSERT_EQ(::ftruncate(tape.fd(), 1'500), 0);
    EXPECT_FALSE(tape.read());
    tape.set(10, "y");
    EXPECT_FALSE(tape.read()) << "its sum is wrong";
    ASSERT_EQ(::ftruncate(tape.fd(), 0), 0);
    EXPECT_FALSE(tape.read()) << "empty";
}

TEST(Tar, TakesAnyBytes) {
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        const Tape tape;
        TarWriter writer(tape.fd());
        tape.add(writer, std::string(90 + random() % 40, 'a'), std::string(random() % 2'000, 'b'));
        ASSERT_TRUE(writer.finish());
        for (int change = 0; change < 4; ++change)
            tape.set(random() % 1'600, std::string(1, static_cast<char>(random())));
        (void)tape.read(1U << 20);
    }
}

}  // namespace
}  // namespace lavant
