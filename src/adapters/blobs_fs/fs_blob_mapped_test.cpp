#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "tests/support/temporary_folder.h"

namespace lavant::adapters {
namespace {

using On = test::TemporaryFolder::On;

// A folder of the user's own as a container, also on another file system than the store's.
class MappedBlobs : public testing::TestWithParam<On> {
 protected:
    MappedBlobs() : team_(GetParam()) {
        EXPECT_TRUE(make_directories(team_ / "sub"));
        EXPECT_TRUE(write_file_atomically(team_ / "sub/before.csv", "a,b"));
        reopen();
    }
    void reopen() {
        store_.reset();
        store_ = std::move(*FsBlobStore::open(folder_ / "blobs"));
        ASSERT_TRUE(store_->map_container("team", team_.path()));
    }
    std::string upload(const std::string& bytes) {
        const std::string path = store_->temporary_folder() + "/upload-" + std::to_string(++uploads_);
        EXPECT_TRUE(write_file_atomically(path, bytes));
        return path;
    }
    std::string get(const std::string& name) { return read_file(team_ / name, 1U << 20).value_or("absent"); }
    std::vector<std::string> names() {
        const auto page = store_->list({.container = "team"});
        std::vector<std::string> all;
        for (const ports::BlobInfo& blob : page->blobs) all.push_back(blob.name);
        return all;
    }

    test::TemporaryFolder folder_;
    test::TemporaryFolder team_;
    std::unique_ptr<FsBlobStore> store_;
    int uploads_ = 0;
};

INSTANTIATE_TEST_SUITE_P(OnDisks, MappedBlobs, testing::Values(On::Disk, On::Memory));

TEST_P(MappedBlobs, FilesOfTheUsersAreBlobsAtOnce) {
    EXPECT_TRUE(store_->has_container("team"));
    EXPECT_EQ(names(), std::vector<std::string>{"sub/before.csv"});
    const auto found = store_->open("team", "sub/before.csv");
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->info.bytes, 3U);
    EXPECT_EQ(*read_all((*found)->file->get(), 100), "a,b");
    ASSERT_TRUE(write_file_atomically(team_ / "sub/before.csv", "changed by hand"));
    EXPECT_NE((*store_->find("team", "sub/before.csv"))->etag, (*found)->info.etag);
}

TEST_P(MappedBlobs, WhatIsWrittenIsAPlainFileForWhomTheUmaskAllows) {
    const mode_t mask = ::umask(022);
    reopen();
    ::umask(mask);
    ASSERT_TRUE(store_->put({"team", "new/deep/f.txt", upload("hello"), {{{"k", "v"}}, {}}}));
    EXPECT_EQ(get("new/deep/f.txt"), "hello");
    struct stat status {};
    ASSERT_EQ(::stat((team_ / "new/deep/f.txt").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0644U);
    ASSERT_EQ(::stat((team_ / "new").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0755U);
    EXPECT_EQ((*store_->find("team", "new/deep/f.txt"))->metadata.at("k"), "v");
    EXPECT_EQ(names(), (std::vector<std::string>{"new/deep/f.txt", "sub/before.csv"})) << "and nothing else";
    reopen();
    EXPECT_EQ((*store_->find("team", "new/deep/f.txt"))->metadata.at("k"), "v");
}

TEST_P(MappedBlobs, FoldersOfTheUsersStayWhenTheirLastBlobGoes) {
    ASSERT_TRUE(store_->remove("team", "sub/before.csv"));
    EXPECT_TRUE(exists(team_ / "sub"));
    EXPECT_TRUE(names().empty());
    EXPECT_EQ(store_->put_bytes("team", "sub", "x").error().code, ErrorCode::Conflict);
    EXPECT_TRUE(exists(team_ / "sub"));
}

TEST_P(MappedBlobs, BlocksStagingAndFoldersWorkAsElsewhere) {
    ASSERT_TRUE(store_->put_block("team", "big", "1", upload("one,")));
    ASSERT_TRUE(store_->put_block("team", "big", "2", upload("two")));
    ASSERT_TRUE(store_->put_block_list({"team", "big", "", {}}, {{"1"}, {"2"}}));
    EXPECT_EQ(get("big"), "one,two");
    ASSERT_TRUE(store_->put_block("team", "small", "1", upload("alone")));
    ASSERT_TRUE(store_->put_block_list({"team", "small", "", {}}, {{"1"}}));
    EXPECT_EQ(get("small"), "alone");
    ASSERT_TRUE(store_->put("team", ".lavant-staging/7-1/out/a", upload("staged"), {}, false));
    EXPECT_EQ(*store_->list_staged("team"), std::vector<std::string>{"7-1"});
    ASSERT_TRUE(store_->publish("team", ".lavant-staging/7-1", ""));
    EXPECT_EQ(get("out/a"), "staged");
    ASSERT_TRUE(store_->remove_folder("team", "out"));
    EXPECT_FALSE(exists(team_ / "out"));
    ASSERT_TRUE(store_->put("team", ".lavant-staging/8-1/out/a", upload("staged"), {}, false));
    ASSERT_TRUE(store_->drop_staged("team", "8-1"));
    EXPECT_TRUE(store_->list_staged("team")->empty());
    EXPECT_EQ(names(), (std::vector<std::string>{"big", "small", "sub/before.csv"}));
}

TEST_P(MappedBlobs, NoLinkLeadsOutOfTheFolder) {
    ASSERT_TRUE(write_file_atomically(folder_ / "secret", "secret"));
    ASSERT_EQ(::symlink((folder_ / "secret").c_str(), (team_ / "link").c_str()), 0);
    ASSERT_EQ(::symlink(folder_.path().c_str(), (team_ / "away").c_str()), 0);
    ASSERT_EQ(::mkfifo((team_ / "pipe").c_str(), 0600), 0);
    EXPECT_EQ(names(), std::vector<std::string>{"sub/before.csv"});
    for (const char* name : {"link", "away/secret", "pipe"})
        EXPECT_EQ(*store_->find("team", name), std::nullopt);
    EXPECT_FALSE(store_->put_bytes("team", "away/new", "x"));
    EXPECT_FALSE(exists(folder_ / "new"));
    ASSERT_TRUE(store_->put_bytes("team", "link", "a blob now"));
    EXPECT_EQ(*read_file(folder_ / "secret", 100), "secret");
    ASSERT_TRUE(remove_tree(team_ / ".lavant-staging"));
    ASSERT_EQ(::symlink(folder_.path().c_str(), (team_ / ".lavant-staging").c_str()), 0);
    EXPECT_EQ(store_->put_bytes("team", "x", "y").has_value(), GetParam() == On::Disk);
    EXPECT_FALSE(store_->remove_folder("team", "sub"));
    EXPECT_TRUE(exists(folder_ / "secret"));
}

TEST_P(MappedBlobs, ComesAndGoes) {
    ASSERT_TRUE(store_->make_container("ours"));
    EXPECT_EQ(store_->map_container("ours", team_.path()).error().code, ErrorCode::AlreadyExists);
    EXPECT_FALSE(store_->map_container("other", "relative"));
    EXPECT_FALSE(store_->map_container("../x", team_.path()));
    ASSERT_TRUE(remove_tree(team_.path()));
    EXPECT_FALSE(store_->has_container("team"));
    EXPECT_EQ(store_->put_bytes("team", "x", "y").error().code, ErrorCode::NotFound);
    ASSERT_TRUE(make_directories(team_.path()));
    EXPECT_TRUE(store_->put_bytes("team", "x", "y"));
    store_->unmap_container("team");
    EXPECT_FALSE(store_->has_container("team"));
    ASSERT_TRUE(store_->map_container("team", team_.path()));
    ASSERT_TRUE(store_->remove_container("team"));
    EXPECT_FALSE(store_->has_container("team"));
    EXPECT_EQ(get("x"), "y");
}

}  // namespace
}  // namespace lavant::adapters
