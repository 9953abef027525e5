#include "core/model/site_size.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lavant {
namespace {

SiteSize card() { return {.name = "rtx4090", .family = "", .vcpus = 16, .memory_gib = 64, .gpus = 1}; }

std::string wrong_fields(const SiteSize& asked) {
    const auto size = check_site_size(asked);
    std::string fields;
    if (!size)
        for (const FieldProblem& one : size.error().fields) fields += one.path + " ";
    return fields;
}

TEST(SiteSize, BecomesASizeOfItsOwnFamilyThatIsEverywhere) {
    const auto size = check_site_size(card());
    ASSERT_TRUE(size.has_value());
    EXPECT_EQ(size->name, "rtx4090");
    EXPECT_EQ(size->family, "site");
    EXPECT_EQ(size->resources, (Resources{.cpu_millis = 16'000, .memory_bytes = 64LL << 30, .gpus = 1}));
    EXPECT_EQ(size->price, 0);
    EXPECT_TRUE(size->regions.is_all());
    EXPECT_FALSE(size->is_retired());
    EXPECT_EQ(size->origin, SizeOrigin::Site);
}

TEST(SiteSize, LowPriorityCostsAPartUnlessToldOtherwise) {
    SiteSize asked = card();
    asked.price = 0.75;
    EXPECT_EQ(check_site_size(asked)->price, 750'000);
    EXPECT_EQ(check_site_size(asked)->low_priority_price, 150'000);
    asked.low_priority_price = 0.5;
    EXPECT_EQ(check_site_size(asked)->low_priority_price, 500'000);
}

TEST(SiteSize, NamesAreShortPlainAndNobodyElses) {
    for (const char* name : {"a", "A-b_9", "localhost", "standard"}) {
        SiteSize asked = card();
        asked.name = name;
        EXPECT_EQ(wrong_fields(asked), "") << name;
    }
    for (const std::string& name :
         {std::string(), std::string("9x"), std::string("_x"), std::string("a b"), std::string("a/b"),
          std::string("a.b"), std::string("\xc3\xa4"), std::string("a\0b", 3), std::string(65, 'a'),
          std::string("local"), std::string("LOCAL"), std::string("standard_ds3_v2"),
          std::string("Standard_New"), std::string("Basic_A0")}) {
        SiteSize asked = card();
        asked.name = name;
        EXPECT_EQ(wrong_fields(asked), "name ") << name;
    }
    SiteSize longest = card();
    longest.name = std::string(64, 'a');
    EXPECT_EQ(wrong_fields(longest), "");
    longest.family = "team-a";
    EXPECT_EQ(check_site_size(longest)->family, "team-a");
    longest.family = "team a";
    EXPECT_EQ(wrong_fields(longest), "family ");
}

TEST(SiteSize, FiguresAreWithinTheirLimits) {
    const auto with = [](auto change) {
        SiteSize asked = card();
        change(asked);
        return wrong_fields(asked);
    };
    EXPECT_EQ(with([](SiteSize& s) { s.vcpus = 0; }), "vcpus ");
    EXPECT_EQ(with([](SiteSize& s) { s.vcpus = 1024; }), "");
    EXPECT_EQ(with([](SiteSize& s) { s.vcpus = 1025; }), "vcpus ");
    EXPECT_EQ(with([](SiteSize& s) { s.vcpus = std::numeric_limits<std::int64_t>::min(); }), "vcpus ");
    EXPECT_EQ(with([](SiteSize& s) { s.memory_gib = 0.25; }), "");
    EXPECT_EQ(with([](SiteSize& s) { s.memory_gib = 0.24; }), "memoryGib ");
    EXPECT_EQ(with([](SiteSize& s) { s.memory_gib = 65536; }), "");
    EXPECT_EQ(with([](SiteSize& s) { s.memory_gib = 65537; }), "memoryGib ");
    EXPECT_EQ(with([](SiteSize& s) { s.memory_gib = std::nan(""); }), "memoryGib ");
    EXPECT_EQ(with([](SiteSize& s) { s.gpus = 0; }), "");
    EXPECT_EQ(with([](SiteSize& s) { s.gpus = 64; }), "");
    EXPECT_EQ(with([](SiteSize& s) { s.gpus = 65; }), "gpus ");
    EXPECT_EQ(with([](SiteSize& s) { s.gpus = -1; }), "gpus ");
    EXPECT_EQ(with([](SiteSize& s) { s.disk_gib = -1; }), "diskGib ");
    EXPECT_EQ(with([](SiteSize& s) { s.disk_gib = 1'048'577; }), "diskGib ");
    EXPECT_EQ(with([](SiteSize& s) { s.price = -0.01; }), "price ");
    EXPECT_EQ(with([](SiteSize& s) { s.price = INFINITY; }), "price ");
    EXPECT_EQ(with([](SiteSize& s) { s.low_priority_price = -1; }), "lowPriorityPrice ");
}

TEST(SiteSize, AllThatIsWrongIsToldAtOnce) {
    EXPECT_EQ(wrong_fields({.name = "", .family = "", .vcpus = 0, .memory_gib = 0, .gpus = -1}),
              "name vcpus memoryGib gpus ");
}

}  // namespace
}  // namespace lavant
