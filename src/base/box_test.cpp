#include "base/box.h"

#include <gtest/gtest.h>

#include <string>

namespace lavant {
namespace {

TEST(Box, IsEmptyOrHoldsAValueOfItsOwn) {
    Box<std::string> box;
    EXPECT_FALSE(box);
    EXPECT_EQ(sizeof(box), sizeof(void*));
    box = std::string("a");
    Box<std::string> copy = box;
    *copy += "b";
    EXPECT_EQ(*box, "a");
    EXPECT_EQ(copy->size(), 2U);
    EXPECT_FALSE(box == copy);
    box = copy;
    EXPECT_TRUE(box == copy);
    copy.reset();
    EXPECT_FALSE(copy.has_value());
    EXPECT_FALSE(box == copy);
    box = copy;
    EXPECT_TRUE(box == copy);
    copy = copy;
    EXPECT_FALSE(copy);
}

}  // namespace
}  // namespace lavant
