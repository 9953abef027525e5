#include "base/spare_room.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lavant {
namespace {

constexpr std::uint64_t kBytes = 1U << 20;

class SpareRooms : public testing::Test {
 protected:
    void SetUp() override {
        std::string pattern = testing::TempDir() + "lavant-spare-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
        room_.emplace(folder_ + "/spare", kBytes);
        room_->refill();
        if (room_->bytes() == 0) GTEST_SKIP() << "this file system cannot set room aside, or is full";
    }
    void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }
    std::uint64_t bytes_on_disk() const {
        struct stat about {};
        return ::stat((folder_ + "/spare").c_str(), &about) == 0
                   ? 512 * static_cast<std::uint64_t>(about.st_blocks)
                   : 0;
    }
    std::string folder_;
    std::optional<SpareRoom> room_;
};

TEST_F(SpareRooms, TakesRealRoomAndGivesItBackInPieces) {
    EXPECT_EQ(room_->bytes(), kBytes);
    EXPECT_GE(bytes_on_disk(), kBytes);
    EXPECT_TRUE(room_->give_way(kBytes / 4));
    EXPECT_LE(bytes_on_disk(), kBytes * 3 / 4 + 4096);
    EXPECT_TRUE(room_->give_way(10 * kBytes));
    EXPECT_FALSE(room_->give_way(1));
    room_->refill();
    EXPECT_EQ(room_->bytes(), kBytes);
}

TEST_F(SpareRooms, ASuccessorFindsWhatIsLeft) {
    EXPECT_TRUE(room_->give_way(kBytes / 2));
    SpareRoom next(folder_ + "/spare", kBytes);
    EXPECT_EQ(next.bytes(), kBytes / 2);
    EXPECT_TRUE(next.give_way(kBytes));
    EXPECT_FALSE(next.give_way(1));
}

TEST_F(SpareRooms, WritesAgainWhileThereIsRoomToGiveAndNoLonger) {
    int tries = 0;
    const auto full = [&]() -> Result<int> {
        ++tries;
        return fail(ErrorCode::ResourceExhausted, "full");
    };
    EXPECT_FALSE(room_->with_room(kBytes / 4, full));
    EXPECT_EQ(tries, 5);
    room_->refill();
    tries = 0;
    const auto third_time = [&]() -> Result<int> { return tries == 2 ? Result<int>(7) : full(); };
    EXPECT_EQ(room_->with_room(kBytes / 4, third_time), 7);
    EXPECT_EQ(room_->bytes(), kBytes / 2);
}

TEST_F(SpareRooms, GivesNothingWhereEnoughIsFree) {
    room_->free_up(1);
    EXPECT_EQ(room_->bytes(), kBytes);
    room_->free_up(~0ULL);
    EXPECT_EQ(room_->bytes(), 0U);
}

TEST_F(SpareRooms, OtherProblemsAreNoReasonToGiveWay) {
    EXPECT_FALSE(room_->with_room(1, []() -> Result<int> { return fail(ErrorCode::Unavailable, "no"); }));
    EXPECT_EQ(room_->bytes(), kBytes);
}

}  // namespace
}  // namespace lavant
