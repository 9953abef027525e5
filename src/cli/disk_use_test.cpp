#include "cli/disk_use.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files.h"
#include "tests/support/temporary_folder.h"

namespace lavant::cli {
namespace {

TEST(DiskUse, CountsWhatLiesThereAndFollowsNoLink) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(make_directories(folder / "a/b"));
    ASSERT_TRUE(write_file_atomically(folder / "a/b/file", std::string(100'000, 'x')));
    ASSERT_EQ(::symlink("/usr", (folder / "a/link").c_str()), 0);
    const DiskUse use = measure_disk_use(folder / "a");
    EXPECT_TRUE(use.is_whole);
    EXPECT_GE(use.bytes, 100'000U);
    EXPECT_LT(use.bytes, 1'000'000U);
    EXPECT_FALSE(measure_disk_use(folder / "a", 2).is_whole);
    EXPECT_EQ(measure_disk_use(folder / "none").bytes, 0U);
}

TEST(DiskUse, SaysBytesInWords) {
    EXPECT_EQ(describe_bytes(0), "0 bytes");
    EXPECT_EQ(describe_bytes(1023), "1023 bytes");
    EXPECT_EQ(describe_bytes(1536), "1.5 KiB");
    EXPECT_EQ(describe_bytes(5ULL << 40), "5.0 TiB");
}

}  // namespace
}  // namespace lavant::cli
