#include "core/model/size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace lavant {
namespace {

TEST(SizeCatalogue, IsLargeAndItsNamesAreUnique) {
    std::set<std::string> names;
    for (const Size& size : size_catalogue())
        EXPECT_TRUE(names.insert(to_lower(size.name)).second) << size.name;
    EXPECT_GE(names.size(), 120U);
    EXPECT_TRUE(find_size(kDefaultSize).has_value());
}

TEST(SizeCatalogue, EverySizeHasFiguresThatMakeSense) {
    for (const Size& size : size_catalogue()) {
        SCOPED_TRACE(size.name);
        EXPECT_TRUE(is_azure_size_name(size.name));
        EXPECT_TRUE(size.family.starts_with("standard") && size.family.ends_with("Family")) << size.family;
        EXPECT_GE(size.resources.cpu_millis, 1000);
        EXPECT_EQ(size.resources.cpu_millis % 1000, 0);
        EXPECT_GE(size.resources.memory_bytes, 1LL << 29);
        EXPECT_GE(size.resources.gpus, 0);
        EXPECT_GE(size.disk_gib, 0);
        EXPECT_GT(size.price, 0);
        EXPECT_GT(size.low_priority_price, 0);
        EXPECT_LT(size.low_priority_price, size.price);
        EXPECT_TRUE(size.regions.has("local"));
        EXPECT_TRUE(size.regions.has("eastus")) << "its prices are those of East US";
        EXPECT_EQ(size.origin, SizeOrigin::Catalogue);
    }
}

TEST(SizeCatalogue, EveryRetiredSizeHasASuccessorOfAsManyGpusThatIsNoSmaller) {
    for (const Size& size : size_catalogue()) {
        SCOPED_TRACE(size.name);
        EXPECT_EQ(size.is_retired(), !size.successor.empty());
        if (!size.is_retired()) continue;
        const auto successor = find_size(size.successor);
        ASSERT_TRUE(successor.has_value()) << size.successor;
        EXPECT_FALSE(successor->is_retired());
        EXPECT_EQ(successor->resources.gpus, size.resources.gpus);
        EXPECT_GE(successor->resources.cpu_millis, size.resources.cpu_millis);
        EXPECT_GE(successor->resources.memory_bytes, size.resources.memory_bytes);
    }
}

TEST(SizeCatalogue, TheRetiredSeriesAreThoseThatAzureRetired) {
    const auto date_of = [](const char* name) { return find_size(name)->retired_on; };
    for (const char* name : {"Standard_NC6", "Standard_NC24r", "Standard_NC12s_v2", "Standard_ND24rs",
                             "Standard_NV6", "Standard_NV24_Promo", "Standard_NC6_Promo"})
        EXPECT_EQ(date_of(name), "2023-08-31") << name;
    for (const char* name : {"Standard_A0", "Standard_A7", "Standard_HB60rs", "Standard_HB60-15rs"})
        EXPECT_EQ(date_of(name), "2024-08-31") << name;
    for (const char* name :
         {"Standard_NC6s_v3", "Standard_A1_v2", "Standard_HB120rs_v2", "Standard_NV12s_v3"})
        EXPECT_EQ(date_of(name), "") << name;
    EXPECT_EQ(find_size("Standard_NC24r")->successor, "Standard_NC24rs_v3");
}

TEST(SizeCatalogue, HasTheFiguresOfAzure) {
    const Size a100 = *find_size("standard_nc96ADS_a100_v4");
    EXPECT_EQ(a100.name, "Standard_NC96ads_A100_v4");
    EXPECT_EQ(a100.resources, (Resources{.cpu_millis = 96'000, .memory_bytes = 880LL << 30, .gpus = 4}));
    EXPECT_EQ(a100.price, 14'692'000);
    EXPECT_EQ(a100.low_priority_price, 2'938'400);
    EXPECT_FALSE(a100.regions.is_all());
    const Size small = *find_size("Standard_DS1_v2");
    EXPECT_EQ(small.resources.memory_bytes, 7LL << 29);
    EXPECT_EQ(small.disk_gib, 7);
    EXPECT_TRUE(small.regions.is_all());
    EXPECT_EQ(find_size(""), std::nullopt);
    EXPECT_EQ(find_size("Standard_DS1_v2 "), std::nullopt);
}

TEST(SizeProblem, NamesTheNearest) {
    EXPECT_EQ(size_problem("Standard_DS3v2"),
              "there is no size 'Standard_DS3v2'; did you mean 'Standard_DS3_v2'?");
    EXPECT_EQ(size_problem("standard_nc24ADS_a100v4"),
              "there is no size 'standard_nc24ADS_a100v4'; did you mean 'Standard_NC24ads_A100_v4'?");
    EXPECT_EQ(size_problem("ds3_V2"), "there is no size 'ds3_V2'; did you mean 'Standard_DS3_v2'?");
    EXPECT_EQ(size_problem("rtx409", {"rtx4090"}), "there is no size 'rtx409'; did you mean 'rtx4090'?");
    EXPECT_EQ(
        size_problem("zzz"),
        "there is no size 'zzz'; `lavant size list` shows what there is, and Standard_DS3_v2 is the default");
    EXPECT_LT(size_problem(std::string(1U << 20, 'x')).size(), 300U);
}

TEST(AzureSizeName, IsKnownByItsBeginning) {
    EXPECT_TRUE(is_azure_size_name("STANDARD_Anything"));
    EXPECT_TRUE(is_azure_size_name("basic_A1"));
    EXPECT_FALSE(is_azure_size_name("standard"));
    EXPECT_FALSE(is_azure_size_name("rtx4090"));
    EXPECT_FALSE(is_azure_size_name(""));
}

TEST(LocalSize, IsTheWholeMachineAndCostsNothing) {
    const Size size = local_size({.cpu_millis = 1'500, .memory_bytes = (4LL << 30) + 12'345, .gpus = 2});
    EXPECT_EQ(size.name, "local");
    EXPECT_EQ(size.family, "local");
    EXPECT_EQ(size.resources, (Resources{.cpu_millis = 1'500, .memory_bytes = 4LL << 30, .gpus = 2}));
    EXPECT_EQ(size.vcpus(), 2);
    EXPECT_EQ(size.price, 0);
    EXPECT_EQ(size.low_priority_price, 0);
    EXPECT_TRUE(size.regions.is_all());
    EXPECT_EQ(size.origin, SizeOrigin::Machine);
}

TEST(RetiredSizes, AreKnownByName) {
    EXPECT_EQ(parse_retired_sizes("substitute"), RetiredSizes::Substitute);
    EXPECT_EQ(parse_retired_sizes("refuse"), RetiredSizes::Refuse);
    EXPECT_EQ(parse_retired_sizes(""), std::nullopt);
    EXPECT_EQ(parse_retired_sizes("Refuse"), std::nullopt);
}

TEST(ResolveSize, ARetiredSizeBecomesItsSuccessorWithAWarning) {
    const auto resolved = resolve_size(*find_size("Standard_NC24"), RetiredSizes::Substitute);
    ASSERT_TRUE(resolved.has_value());
    EXPECT_EQ(resolved->size, *find_size("Standard_NC24s_v3"));
    EXPECT_EQ(resolved->warning,
              "Standard_NC24 was retired on 2023-08-31; its successor Standard_NC24s_v3 is used");
}

TEST(ResolveSize, ARetiredSizeIsRefusedWithItsSuccessorWhereTheSettingSaysSo) {
    const auto resolved = resolve_size(*find_size("Standard_HB60rs"), RetiredSizes::Refuse);
    ASSERT_FALSE(resolved.has_value());
    EXPECT_EQ(resolved.error().message,
              "Standard_HB60rs was retired on 2024-08-31; use its successor Standard_HB120-64rs_v3");
}

TEST(ResolveSize, AnyOtherSizeIsWhatItIs) {
    for (const RetiredSizes setting : {RetiredSizes::Substitute, RetiredSizes::Refuse}) {
        const auto resolved = resolve_size(*find_size(kDefaultSize), setting);
        ASSERT_TRUE(resolved.has_value());
        EXPECT_EQ(resolved->size, *find_size(kDefaultSize));
        EXPECT_EQ(resolved->warning, "");
    }
}

}  // namespace
}  // namespace lavant
