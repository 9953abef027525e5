// Assets: written where they are as expected, found by hash, listed.

#include "tests/contract/store_contract.h"
#include "tests/support/builders.h"

namespace lavant::test {
namespace {

class StoreAssets : public StoreContract {};

TEST_P(StoreAssets, AssetsAreWrittenOnlyWhereTheExpectationHolds) {
    const Asset asset = an_asset("codes", "c");
    EXPECT_EQ(write({{asset, 1}}), std::vector<bool>{false});
    EXPECT_EQ(write({{asset, 0}}), std::vector<bool>{true});
    EXPECT_EQ(write({{asset, 0}}), std::vector<bool>{false});
    Asset next = asset;
    next.body = "{}";
    next.row_version = 55;  // the store counts, not the caller
    EXPECT_EQ(write({{next, 2}}), std::vector<bool>{false});
    EXPECT_EQ((*reader().find_asset(asset.key))->body, asset.body);
    EXPECT_EQ(write({{next, 1}}), std::vector<bool>{true});
    next.row_version = 2;
    EXPECT_EQ(*reader().find_asset(asset.key), next);
    EXPECT_EQ(write({{next, std::nullopt}}), std::vector<bool>{true});
    EXPECT_EQ((*reader().find_asset(asset.key))->row_version, 3);
    EXPECT_EQ(write({{an_asset("codes", "d"), std::nullopt}}), std::vector<bool>{true});
}

TEST_P(StoreAssets, AssetThatIsNotAsExpectedLeavesTheRestOfTheBatch) {
    write({{an_asset("codes", "taken"), 0}});
    WriteBatch batch = with_jobs({a_job(1)});
    batch.assets = {
        {an_asset("codes", "taken"), 0}, {an_asset("codes", "free"), 0}, {an_asset("codes", "free"), 0}};
    EXPECT_EQ(*store().commit(batch), (std::vector<bool>{false, true, false}));
    EXPECT_TRUE(store().find_job(kWorkspace, "job-1")->has_value());
    EXPECT_TRUE(reader().find_asset(an_asset("codes", "free").key)->has_value());
}

TEST_P(StoreAssets, ConflictElsewhereLeavesOutTheAssetsToo) {
    WriteBatch batch;
    batch.metas_changed = {{JobId{9}, {}}};
    batch.assets = {{an_asset("codes", "c"), 0}};
    expect_conflict(batch);
    EXPECT_EQ(*reader().find_asset(an_asset("codes", "c").key), std::nullopt);
}

TEST_P(StoreAssets, AssetsAreRemovedOnlyWhereTheExpectationHolds) {
    const Asset asset = an_asset("codes", "c");
    EXPECT_EQ(write({{asset, 0, true}, {asset, 1, true}, {asset, std::nullopt, true}}),
              (std::vector<bool>{true, false, true}));
    write({{asset, 0}, {asset, 1}});
    EXPECT_EQ(write({{asset, 0, true}, {asset, 1, true}}), (std::vector<bool>{false, false}));
    EXPECT_TRUE(reader().find_asset(asset.key)->has_value());
    EXPECT_EQ(write({{asset, 2, true}}), std::vector<bool>{true});
    EXPECT_EQ(*reader().find_asset(asset.key), std::nullopt);
    EXPECT_EQ(write({{asset, 0}}), std::vector<bool>{true});
    EXPECT_EQ((*reader().find_asset(asset.key))->row_version, 1);
}

TEST_P(StoreAssets, NewestAssetOfAHashIsFound) {
    Asset older = an_asset("codes", "a");
    older.hash = "abc";
    Asset newer = an_asset("codes", "b");
    newer.hash = "abc";
    newer.created_at = older.created_at + Duration{1};
    write({{newer, 0}, {older, 0}, {an_asset("codes", "unhashed"), 0}});
    EXPECT_EQ((*reader().find_asset_by_hash(kWorkspace, "codes", "abc"))->key, newer.key);
    EXPECT_EQ(*reader().find_asset_by_hash(kWorkspace, "data", "abc"), std::nullopt);
    EXPECT_EQ(*reader().find_asset_by_hash("other", "codes", "abc"), std::nullopt);
    EXPECT_EQ(*reader().find_asset_by_hash(kWorkspace, "codes", ""), std::nullopt);
}

TEST_P(StoreAssets, AssetsAreListedNewestFirstAndFiltered) {
    const auto made = [](const std::string& name, const std::string& version, int at) {
        Asset asset = an_asset("environments", name, version);
        asset.created_at = from_micros(at);
        return asset;
    };
    Asset hidden = made("a", "3", 3);
    hidden.archived = true;
    write({{made("a", "", 9), 0},
           {made("a", "2", 2), 0},
           {made("a", "1", 1), 0},
           {hidden, 0},
           {made("b", "1", 1), 0},
           {an_asset("codes", "a"), 0}});
    const auto list = [this](const ports::AssetQuery& query) {
        std::string found;
        const Result<std::vector<Asset>> listed = reader().list_assets(query);
        for (const Asset& asset : *listed) found += asset.key.name + ":" + asset.key.version + " ";
        return found;
    };
    ports::AssetQuery query{.workspace = kWorkspace, .kind = "environments"};
    EXPECT_EQ(list(query),
              "a:2 b:1 a:1 ");  // of two made at the same instant, the one stored later comes first
    query.archived = std::nullopt;
    EXPECT_EQ(list(query), "a:3 a:2 b:1 a:1 ");
    query.offset = 1;
    query.limit = 2;
    EXPECT_EQ(list(query), "a:2 b:1 ");
    query.offset = 4;
    EXPECT_EQ(list(query), "");
    query = {.workspace = kWorkspace, .kind = "environments", .name = "a"};
    EXPECT_EQ(list(query), "a:2 a:1 ");
    query.archived = true;
    EXPECT_EQ(list(query), "a:3 ");
    EXPECT_EQ(list({.workspace = kWorkspace, .kind = "environments", .containers = true}), "a: ");
    EXPECT_EQ(list({.workspace = kWorkspace, .kind = "environments", .unversioned = true}), "a: ");
    EXPECT_EQ(list({.workspace = "", .kind = "environments"}), "");
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreAssets, testing::ValuesIn(backends()),
                         [](const auto& chosen) { return chosen.param.name; });

}  // namespace
}  // namespace lavant::test
