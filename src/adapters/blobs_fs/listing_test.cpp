#include "adapters/blobs_fs/listing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "tests/support/temporary_folder.h"

namespace lavant::adapters {
namespace {

class Listing : public testing::Test {
 protected:
    Listing() : store_(std::move(*FsBlobStore::open(folder_ / "blobs"))) {
        (void)store_->make_container("c");
    }

    void put(const std::string& name) { ASSERT_TRUE(store_->put_bytes("c", name, name)); }
    // Names of a page: blobs, then prefixes in brackets, then "..." if there is more.
    std::string page(ports::BlobListing listing) {
        listing.container = "c";
        const auto found = store_->list(listing);
        if (!found) return found.error().message;
        std::string text;
        for (const auto& blob : found->blobs) text += blob.name + " ";
        for (const auto& prefix : found->prefixes) text += "[" + prefix + "] ";
        return text + (found->next_marker.empty() ? "" : "...");
    }
    // Everything, by pages of `limit`, in the order in which it came.
    std::vector<std::string> all(ports::BlobListing listing) {
        listing.container = "c";
        std::vector<std::string> names;
        for (int pages = 0; pages < 1'000; ++pages) {
            const auto found = store_->list(listing);
            if (!found) break;
            std::vector<std::string> merged = found->prefixes;
            for (const auto& blob : found->blobs) merged.push_back(blob.name);
            EXPECT_LE(merged.size(), static_cast<std::size_t>(listing.limit));
            std::ranges::sort(merged);
            names.insert(names.end(), merged.begin(), merged.end());
            if (found->next_marker.empty()) break;
            listing.marker = found->next_marker;
        }
        return names;
    }

    test::TemporaryFolder folder_;
    std::unique_ptr<FsBlobStore> store_;
};

TEST_F(Listing, ComesInTheOrderOfWholeNames) {
    for (const char* name : {"a/b", "a.txt", "a-x", "a/c/d", "b", "a0"}) put(name);
    EXPECT_EQ(page({}), "a-x a.txt a/b a/c/d a0 b ");
    EXPECT_EQ(page({.limit = 2}), "a-x a.txt ...");
    EXPECT_EQ(page({.marker = "a.txt", .limit = 2}), "a/b a/c/d ...");
    EXPECT_EQ(page({.marker = "a/c/d"}), "a0 b ");
    EXPECT_EQ(page({.marker = "b"}), "");
}

TEST_F(Listing, PrefixNeedNotEndAtAFolder) {
    for (const char* name : {"run/one/x", "run/one/y", "run/onerous", "run/two", "rune"}) put(name);
    EXPECT_EQ(page({.prefix = "run/one"}), "run/one/x run/one/y run/onerous ");
    EXPECT_EQ(page({.prefix = "run/one/"}), "run/one/x run/one/y ");
    EXPECT_EQ(page({.prefix = "run"}), "run/one/x run/one/y run/onerous run/two rune ");
    EXPECT_EQ(page({.prefix = "none/"}), "");
    EXPECT_EQ(page({.prefix = "run/two"}), "run/two ");
}

TEST_F(Listing, DelimiterFoldsFolders) {
    for (const char* name : {"run/one/x", "run/one/y/z", "run/onerous", "run/two/a", "top"}) put(name);
    EXPECT_EQ(page({.delimiter = "/"}), "top [run/] ");
    EXPECT_EQ(page({.prefix = "run/", .delimiter = "/"}), "run/onerous [run/one/] [run/two/] ");
    EXPECT_EQ(page({.prefix = "run/one", .delimiter = "/"}), "run/onerous [run/one/] ");
    EXPECT_EQ(page({.prefix = "run/one/", .delimiter = "/"}), "run/one/x [run/one/y/] ");
    EXPECT_EQ(page({.prefix = "run/", .delimiter = "/", .limit = 1}), "[run/one/] ...");
    EXPECT_EQ(page({.prefix = "run/", .delimiter = "/", .marker = "run/one/", .limit = 1}),
              "run/onerous ...");
    EXPECT_EQ(page({.delimiter = "|"}), "cannot list blobs: the delimiter must be '/' or absent");
}

TEST_F(Listing, HidesStagedFilesEmptyFoldersAndLinks) {
    put(".lavant-staging/7-1/out/x");
    put("real");
    ASSERT_TRUE(make_directories(folder_ / "blobs/c/empty/inner"));
    ASSERT_EQ(::symlink("/etc", (folder_ / "blobs/c/link").c_str()), 0);
    ASSERT_EQ(::symlink("/etc/passwd", (folder_ / "blobs/c/passwd").c_str()), 0);
    ASSERT_EQ(::mkfifo((folder_ / "blobs/c/fifo").c_str(), 0600), 0);
    EXPECT_EQ(page({}), "real ");
    EXPECT_EQ(page({.delimiter = "/"}), "real ");
    EXPECT_EQ(page({.prefix = ".lavant-staging/"}), "");
    EXPECT_EQ(page({.prefix = ".lavant-staging/7-1/out/"}), "");
    EXPECT_EQ(page({.prefix = "link/"}), "");
}

TEST_F(Listing, HostilePrefixesAndMarkersFindNothingAndDoNoHarm) {
    put("real");
    for (const std::string& hostile :
         {std::string("../"), std::string("/"), std::string("a/../../"), std::string("//"),
          std::string("a\0/", 3), std::string(5'000, 'a') + "/"})
        EXPECT_EQ(page({.prefix = hostile}), "") << hostile;
    EXPECT_EQ(page({.marker = "../../x"}), "real ");
    EXPECT_EQ(page({.marker = std::string(5'000, 'z')}), "");
    EXPECT_EQ(page({.limit = -3}), "real ");
    EXPECT_EQ(store_->list({.container = "none"}).error().code, ErrorCode::NotFound);
    EXPECT_EQ(store_->list({.container = "../c"}).error().code, ErrorCode::InvalidArgument);
}

TEST_F(Listing, WhatComesToNothingTakesNoPlaceOnAPage) {
    for (const char* folder : {"a", "b", "c", "d/e", "f", "g"})
        ASSERT_TRUE(make_directories(folder_ / "blobs/c/" + folder));
    for (const char* name : {"h/x", "i", "j/y", "k"}) put(name);
    EXPECT_EQ(page({.limit = 1}), "h/x ...");
    EXPECT_EQ(page({.limit = 2}), "h/x i ...");
    EXPECT_EQ(page({.delimiter = "/", .limit = 1}), "[h/] ...");
    EXPECT_EQ(page({.limit = 4}), "h/x i j/y k ");
    EXPECT_EQ(all({.limit = 1}), (std::vector<std::string>{"h/x", "i", "j/y", "k"}));
}

TEST_F(Listing, PagesOfAnySizeTogetherAreTheWhole) {
    std::mt19937 random(7);
    std::vector<std::string> names;
    for (int i = 0; i < 60; ++i) {
        std::string name;
        for (int part = static_cast<int>(random() % 3); part >= 0; --part)
            name += std::string(1, "ab.-0"[random() % 5]) +
                    (part > 0 ? "/" : "z" + std::to_string(random() % 40));
        if (name.find("./") != std::string::npos || name.starts_with(".z")) continue;
        if (store_->put_bytes("c", name, "")) names.push_back(name);
    }
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    for (const int limit : {1, 2, 3, 7, 100}) {
        EXPECT_EQ(all({.limit = limit}), names) << limit;
        std::vector<std::string> folded;
        for (const std::string& name : names) {
            const std::string shown =
                name.substr(0, name.find('/') == std::string::npos ? name.size() : name.find('/') + 1);
            if (folded.empty() || folded.back() != shown) folded.push_back(shown);
        }
        EXPECT_EQ(all({.delimiter = "/", .limit = limit}), folded) << limit;
    }
}

}  // namespace
}  // namespace lavant::adapters
