#include "adapters/blobs_fs/fs_blob_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "adapters/blobs_fs/facts.h"
#include "tests/support/temporary_folder.h"
#include "wire/codec.h"

namespace lavant::adapters {
namespace {

class FsBlobs : public testing::Test {
 protected:
    FsBlobs() { reopen(); }
    void reopen() {
        store_ = std::move(*FsBlobStore::open(folder_ / "blobs"));
        ASSERT_TRUE(store_->make_container("c"));
    }
    std::string upload(const std::string& bytes) {
        const std::string path = store_->temporary_folder() + "/upload-" + std::to_string(++uploads_);
        EXPECT_TRUE(write_file_atomically(path, bytes));
        return path;
    }
    std::string get(const std::string& name) {
        return read_file(store_->path_of("c", name), 1U << 20).value_or("absent");
    }
    Result<ports::BlobInfo> commit(const std::string& name, const std::vector<ports::BlockRef>& blocks) {
        return store_->put_block_list({"c", name, "", {}}, blocks);
    }
    ErrorCode code_of_put(const std::string& container, const std::string& name) {
        const auto stored = store_->put_bytes(container, name, "x");
        return stored ? ErrorCode::Internal : stored.error().code;
    }

    test::TemporaryFolder folder_;
    std::unique_ptr<FsBlobStore> store_;
    int uploads_ = 0;
};

TEST_F(FsBlobs, BlobIsAPlainFileForItsOwnerOnly) {
    ASSERT_TRUE(store_->put_bytes("c", "a/b.txt", "hello"));
    EXPECT_EQ(*read_file(folder_ / "blobs/c/a/b.txt", 100), "hello");
    struct stat status {};
    ASSERT_EQ(::stat((folder_ / "blobs/c/a/b.txt").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
    ASSERT_EQ(::stat((folder_ / "blobs/c/a").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700U);
    const auto found = store_->find("c", "a/b.txt");
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->bytes, 5U);
    EXPECT_EQ((*found)->name, "a/b.txt");
    EXPECT_GT((*found)->modified_at, from_micros(0));
}

TEST_F(FsBlobs, AbsentThingsAreAbsent) {
    EXPECT_EQ(*store_->find("c", "none"), std::nullopt);
    EXPECT_EQ(*store_->find("none", "none"), std::nullopt);
    ASSERT_TRUE(store_->put_bytes("c", "a/b", "x"));
    EXPECT_EQ(*store_->find("c", "a"), std::nullopt);
    EXPECT_EQ(*store_->find("c", "a/b/c"), std::nullopt);
    EXPECT_EQ(store_->remove("c", "none").error().code, ErrorCode::NotFound);
    EXPECT_EQ(code_of_put("none", "a"), ErrorCode::NotFound);
    EXPECT_TRUE(store_->has_container("c"));
    EXPECT_FALSE(store_->has_container("none"));
    EXPECT_FALSE(store_->has_container(".tmp"));
}

TEST_F(FsBlobs, PutReplacesAndChangesTheTag) {
    const auto first = store_->put("c", "a", upload("one"), {}, false);
    ASSERT_TRUE(first);
    const auto second = store_->put("c", "a", upload("two"), {}, false);
    ASSERT_TRUE(second);
    EXPECT_NE(first->etag, second->etag);
    EXPECT_EQ(second->etag, (*store_->find("c", "a"))->etag);
    EXPECT_EQ(get("a"), "two");
    EXPECT_TRUE(list_directory(store_->temporary_folder())->empty());
}

TEST_F(FsBlobs, OnlyIfAbsentLeavesWhatIsThereAlone) {
    ASSERT_TRUE(store_->put("c", "a", upload("one"), {{"k", "1"}}, true));
    const auto second = store_->put("c", "a", upload("two"), {{"k", "2"}}, true);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::AlreadyExists);
    EXPECT_EQ(get("a"), "one");
    EXPECT_EQ((*store_->find("c", "a"))->metadata.at("k"), "1");
}

TEST_F(FsBlobs, ManyThreadsPutOneBlobOnlyOnce) {
    std::atomic<int> stored{0};
    std::vector<std::thread> threads;
    std::vector<std::string> sources;
    for (int i = 0; i < 8; ++i) sources.push_back(upload(std::to_string(i)));
    for (const std::string& source : sources)
        threads.emplace_back([&, source] { stored += store_->put("c", "x/y/z", source, {}, true) ? 1 : 0; });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(stored, 1);
}

TEST_F(FsBlobs, MetadataAndContentTypeAreKeptReplacedAndDropped) {
    const ports::BlobFacts facts{{{"name", "code"}, {"content-type", "a name like any other"}},
                                 {{"content-type", "text/x-python"}}};
    const auto stored = store_->put({"c", "a/b", upload("x"), facts});
    ASSERT_TRUE(stored);
    EXPECT_EQ(stored->properties, facts.properties);
    reopen();
    auto found = *store_->find("c", "a/b");
    EXPECT_EQ(found->properties, facts.properties);
    EXPECT_EQ(found->metadata, facts.metadata);
    EXPECT_EQ(found->etag, stored->etag);
    EXPECT_EQ(store_->list({.container = "c"})->blobs.at(0).metadata.at("name"), "code");
    ASSERT_TRUE(store_->set_metadata("c", "a/b", {{"version", "2"}}));
    found = *store_->find("c", "a/b");
    EXPECT_EQ(found->metadata, (std::map<std::string, std::string>{{"version", "2"}}));
    EXPECT_EQ(found->properties, facts.properties);
    EXPECT_NE(found->etag, stored->etag) << "a change of the metadata is one of the blob";
    EXPECT_GE(found->modified_at, stored->modified_at);
    ASSERT_TRUE(store_->set_properties("c", "a/b", {{"cache-control", "no-store"}}));
    EXPECT_EQ((*store_->find("c", "a/b"))->properties,
              (std::map<std::string, std::string>{{"cache-control", "no-store"}}));
    EXPECT_EQ((*store_->find("c", "a/b"))->metadata.at("version"), "2");
    ASSERT_TRUE(store_->put("c", "a/b", upload("y"), {}, false));
    found = *store_->find("c", "a/b");
    EXPECT_TRUE(found->metadata.empty());
    EXPECT_TRUE(found->properties.empty());
    EXPECT_EQ(store_->set_metadata("c", "none", {}).error().code, ErrorCode::NotFound);
    EXPECT_EQ(store_->set_metadata("c", "a/b", {{"k", std::string(20'000, 'x')}}).error().code,
              ErrorCode::InvalidArgument);
}

TEST_F(FsBlobs, MetadataOfBlobsWithAwkwardNamesDoesNotMix) {
    ASSERT_TRUE(store_->put("c", "a", upload("x"), {{"k", "a"}}, false));
    ASSERT_TRUE(store_->put("c", "a.meta/b", upload("x"), {{"k", "b"}}, false));
    ASSERT_TRUE(store_->put("c", "a.d", upload("x"), {{"k", "d"}}, false));
    EXPECT_EQ((*store_->find("c", "a"))->metadata.at("k"), "a");
    EXPECT_EQ((*store_->find("c", "a.meta/b"))->metadata.at("k"), "b");
    EXPECT_EQ((*store_->find("c", "a.d"))->metadata.at("k"), "d");
}

TEST_F(FsBlobs, HostileNamesAreRefusedByEveryCall) {
    for (const std::string& name : {std::string("../x"), std::string("/etc/x"), std::string("a/../../x"),
                                    std::string(), std::string("a\0b", 3), std::string(300, 'x')}) {
        EXPECT_EQ(code_of_put("c", name), ErrorCode::InvalidArgument);
        EXPECT_EQ(store_->find("c", name).error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(store_->remove("c", name).error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(store_->append("c", name, 0, "x").error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(store_->put_block("c", name, "id", "none").error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(commit(name, {}).error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(store_->set_metadata("c", name, {}).error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(store_->path_of("c", name), "");
    }
    EXPECT_EQ(code_of_put("../c", "x"), ErrorCode::InvalidArgument);
    EXPECT_EQ(code_of_put(".tmp", "x"), ErrorCode::InvalidArgument);
    EXPECT_EQ(store_->make_container(".meta").error().code, ErrorCode::InvalidArgument);
}

TEST_F(FsBlobs, LinksInTheTreeAreNeverFollowed) {
    test::TemporaryFolder outside;
    ASSERT_TRUE(write_file_atomically(outside / "secret", "secret"));
    ASSERT_EQ(::symlink(outside.path().c_str(), (folder_ / "blobs/c/link").c_str()), 0);
    ASSERT_EQ(::symlink((outside / "secret").c_str(), (folder_ / "blobs/c/file").c_str()), 0);
    EXPECT_EQ(*store_->find("c", "link/secret"), std::nullopt);
    EXPECT_EQ(*store_->find("c", "file"), std::nullopt);
    EXPECT_EQ(code_of_put("c", "link/new"), ErrorCode::Conflict);
    EXPECT_FALSE(store_->append("c", "file", 0, "x"));
    EXPECT_FALSE(store_->append("c", "link/secret", 0, "x"));
    EXPECT_FALSE(store_->remove("c", "link/secret"));
    ASSERT_TRUE(store_->put_bytes("c", "file", "replaced"));
    EXPECT_EQ(*read_file(outside / "secret", 100), "secret");
    EXPECT_EQ(list_directory(outside.path())->size(), 1U);
    EXPECT_FALSE(store_->put("c", "x", folder_ / "blobs/c/link", {}, false));
}

TEST_F(FsBlobs, BlobInTheWayOfAFolderIsNamedInTheError) {
    ASSERT_TRUE(store_->put_bytes("c", "a/b", "x"));
    for (const auto& refused : {store_->put_bytes("c", "a/b/c", "x").map([](auto) {}),
                                store_->put_bytes("c", "a", "x").map([](auto) {}),
                                store_->append("c", "a/b/c", 0, "x"), store_->append("c", "a", 0, "x")}) {
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::Conflict) << refused.error().message;
        EXPECT_NE(refused.error().message.find("'a"), std::string::npos);
    }
    EXPECT_EQ(get("a/b"), "x");
}

TEST_F(FsBlobs, RemoveTakesEmptyFoldersAndSideFilesWithIt) {
    ASSERT_TRUE(store_->put("c", "a/b/c", upload("x"), {{"k", "v"}}, false));
    ASSERT_TRUE(store_->put_bytes("c", "a/other", "x"));
    ASSERT_TRUE(store_->remove("c", "a/b/c"));
    EXPECT_FALSE(exists(folder_ / "blobs/c/a/b"));
    EXPECT_TRUE(exists(folder_ / "blobs/c/a/other"));
    ASSERT_TRUE(store_->put_bytes("c", "a/b", "now a blob"));
    ASSERT_TRUE(store_->remove("c", "a/b"));
    ASSERT_TRUE(store_->put_bytes("c", "a/b/c", "x"));
    EXPECT_TRUE((*store_->find("c", "a/b/c"))->metadata.empty());
}

TEST_F(FsBlobs, RemoveFolderLeavesNothingThatALaterBlobWouldInherit) {
    ASSERT_TRUE(store_->put("c", "run/a/log", upload("x"), {{"attempt", "3"}}, false));
    ASSERT_TRUE(store_->put("c", "run/ab/log", upload("y"), {{"k", "v"}}, false));
    ASSERT_TRUE(store_->remove_folder("c", "run/a"));
    EXPECT_FALSE(exists(folder_ / "blobs/c/run/a"));
    ASSERT_TRUE(store_->put_bytes("c", "run/a/log", "new"));
    EXPECT_TRUE((*store_->find("c", "run/a/log"))->metadata.empty());
    EXPECT_EQ((*store_->find("c", "run/ab/log"))->metadata.size(), 1U);  // not its neighbour's
    ASSERT_TRUE(store_->put_bytes("c", "blob", "a blob in the way"));
    EXPECT_TRUE(store_->remove_folder("c", "blob/below"));
    EXPECT_TRUE(store_->remove_folder("c", "none/there"));
}

TEST_F(FsBlobs, BlocksBecomeTheBlobInTheOrderOfTheList) {
    ASSERT_TRUE(store_->put_block("c", "big", "AAA=", upload("one,")));
    ASSERT_TRUE(store_->put_block("c", "big", "../../x", upload("two,")));
    ASSERT_TRUE(store_->put_block("c", "big", "AAA=", upload("ONE,")));
    EXPECT_EQ(*store_->find("c", "big"), std::nullopt);
    EXPECT_EQ(commit("big", {{"AAA="}, {"gone"}}).error().code, ErrorCode::InvalidArgument);
    const auto stored = commit("big", {{"../../x"}, {"AAA="}, {"AAA="}});
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ(get("big"), "two,ONE,ONE,");
    EXPECT_EQ(stored->bytes, 12U);
    EXPECT_FALSE(commit("big", {{"AAA=", ports::BlockRef::From::Uncommitted}}));
    EXPECT_FALSE(store_->put_block("c", "big", "", upload("x")));
    EXPECT_FALSE(store_->put_block("c", "big", std::string(200, 'x'), upload("x")));
    ASSERT_TRUE(commit("empty", {}));
    EXPECT_EQ(get("empty"), "");
}

TEST_F(FsBlobs, CommittedBlocksMakeANewBlobTogetherWithNewOnes) {
    using From = ports::BlockRef::From;
    ASSERT_TRUE(store_->put_block("c", "big", "1", upload("one,")));
    ASSERT_TRUE(store_->put_block("c", "big", "2", upload("two,")));
    ASSERT_TRUE(commit("big", {{"1"}, {"2"}}));
    ASSERT_TRUE(store_->put_block("c", "big", "2", upload("TWO,")));
    auto blocks = *store_->list_blocks("c", "big");
    EXPECT_EQ(blocks.committed, (std::vector<ports::BlockInfo>{{"1", 4}, {"2", 4}}));
    EXPECT_EQ(blocks.uncommitted, (std::vector<ports::BlockInfo>{{"2", 4}}));
    ASSERT_TRUE(commit("big", {{"2", From::Committed}, {"2", From::Uncommitted}, {"1"}}));
    EXPECT_EQ(get("big"), "two,TWO,one,");
    EXPECT_TRUE(store_->list_blocks("c", "big")->uncommitted.empty());
    ASSERT_TRUE(store_->put("c", "big", upload("whole"), {}, false));
    EXPECT_TRUE(store_->list_blocks("c", "big")->committed.empty()) << "of another blob";
    EXPECT_FALSE(commit("big", {{"1", From::Committed}}));
    ASSERT_TRUE(store_->put_block("c", "big", "1", upload("alone")));
    ASSERT_TRUE(commit("big", {{"1"}}));
    EXPECT_EQ(get("big"), "alone");
    EXPECT_TRUE(store_->list_blocks("c", "none")->committed.empty());
}

TEST_F(FsBlobs, AListThatNamesMoreThanThereIsRoomForIsRefusedBeforeAByteIsCopied) {
    const std::string source = upload("");
    ASSERT_EQ(::truncate(source.c_str(), 1LL << 40), 0);  // a hole: it takes no room
    ASSERT_TRUE(store_->put_block("c", "big", "1", source));
    const std::vector<ports::BlockRef> six(6, ports::BlockRef{"1"});
    const auto refused = commit("big", six);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument) << refused.error().message;
    ASSERT_TRUE(store_->put_block("c", "big", "1", upload(std::string(1U << 20, 'x'))));
    ports::BlobPut put{"c", "big", "", {}};
    put.free_bytes_min = ~0ULL;
    const auto too_much = store_->put_block_list(put, six);
    ASSERT_FALSE(too_much);
    EXPECT_EQ(too_much.error().code, ErrorCode::ResourceExhausted) << too_much.error().message;
    EXPECT_TRUE(list_directory(store_->temporary_folder())->empty());
    ASSERT_TRUE(commit("big", six));
    EXPECT_EQ((*store_->find("c", "big"))->bytes, 6U << 20);
}

TEST_F(FsBlobs, BlocksFromBeforeTheMachineStartedAreGone) {
    ASSERT_TRUE(store_->put_block("c", "big", "1", upload("one")));
    reopen();
    EXPECT_EQ(store_->list_blocks("c", "big")->uncommitted.size(), 1U);
    ASSERT_TRUE(write_file_atomically(folder_ / "blobs/.blocks-boot", "another start"));
    reopen();
    EXPECT_TRUE(store_->list_blocks("c", "big")->uncommitted.empty());
}

TEST_F(FsBlobs, FactsOfAnyLengthAreKeptAndTheOldOnesGo) {
    const std::map<std::string, std::string> little{{"k", "v"}};
    const std::map<std::string, std::string> much{{"k", std::string(8000, 'x')}};
    ASSERT_TRUE(store_->put({"c", "a", upload("x"), {little, {}}}));
    for (const auto& metadata : {much, little, much}) {
        ASSERT_TRUE(store_->set_metadata("c", "a", metadata));
        reopen();
        EXPECT_EQ((*store_->find("c", "a"))->metadata, metadata);
    }
    for (const auto& metadata : {little, much, little}) {
        ASSERT_TRUE(store_->put({"c", "a", upload("y"), {metadata, {}}}));
        EXPECT_EQ((*store_->find("c", "a"))->metadata, metadata);
        EXPECT_EQ(store_->list({.container = "c"})->blobs.at(0).metadata, metadata);
    }
}

TEST_F(FsBlobs, AttributesThatSomebodyElseWroteEndUpInNoHead) {
    ASSERT_TRUE(store_->put_bytes("c", "a", "x"));
    const std::string path = store_->path_of("c", "a");
    const std::string evil = wire::encode(blobs::Metadata{{":content-type", "text/html\r\nSet-Cookie: a=b"}});
    const std::string cookie = wire::encode(blobs::Metadata{{":set-cookie", "a=b"}});
    for (const std::string& bytes : {evil, cookie, std::string("no map at all"), std::string(4000, 'x')}) {
        if (::setxattr(path.c_str(), "user.lavant.facts", bytes.data(), bytes.size(), 0) != 0) continue;
        const auto found = *store_->find("c", "a");
        EXPECT_TRUE(found->properties.empty());
        EXPECT_TRUE(found->metadata.empty());
    }
}

TEST_F(FsBlobs, ContentInMemoryIsPutAndLeavesNothingBehind) {
    ports::BlobPut put{"c", "folder/a", "", {}};
    put.bytes = "abc";
    ASSERT_TRUE(store_->put(put));
    EXPECT_EQ(get("folder/a"), "abc");
    put.only_if_absent = true;
    EXPECT_FALSE(store_->put(put));
    put.name = "folder/a/below a blob";
    EXPECT_FALSE(store_->put(put));
    EXPECT_TRUE(list_directory(store_->temporary_folder())->empty());
}

TEST_F(FsBlobs, TheChecksumBelongsToTheBytes) {
    const ports::BlobFacts facts{{}, {{ports::kMd5Property, "bWQ1"}}};
    ASSERT_TRUE(store_->put({"c", "a", upload("x"), facts}));
    EXPECT_EQ((*store_->find("c", "a"))->properties.at(ports::kMd5Property), "bWQ1");
    EXPECT_EQ(store_->list({.container = "c"})->blobs.at(0).properties.at(ports::kMd5Property), "bWQ1");
    ASSERT_TRUE(store_->set_metadata("c", "a", {{"k", "v"}}));
    EXPECT_EQ((*store_->find("c", "a"))->properties.at(ports::kMd5Property), "bWQ1");
    ASSERT_TRUE(store_->append("c", "a", 1, "y"));
    EXPECT_FALSE((*store_->find("c", "a"))->properties.contains(ports::kMd5Property)) << "other bytes";
}

TEST_F(FsBlobs, AWriteIsRefusedByWhatItsCheckSees) {
    const auto refuse_all = [](const ports::BlobInfo* there) -> Result<void> {
        return fail(ErrorCode::Conflict, there == nullptr ? "nothing" : there->name);
    };
    EXPECT_EQ(store_->put({"c", "a", upload("x"), {}, false, refuse_all}).error().message, "nothing");
    EXPECT_EQ(*store_->find("c", "a"), std::nullopt);
    ASSERT_TRUE(store_->put_bytes("c", "a", "x"));
    EXPECT_EQ(store_->put({"c", "a", upload("y"), {}, false, refuse_all}).error().message, "a");
    EXPECT_FALSE(store_->set_metadata("c", "a", {{"k", "v"}}, refuse_all));
    EXPECT_FALSE(store_->remove("c", "a", refuse_all));
    EXPECT_EQ(get("a"), "x");
}

TEST_F(FsBlobs, GatheredPutsAreAllAnsweredEachWithItsOwn) {
    store_->gather_puts();
    std::mutex mutex;
    std::map<std::string, std::string> answers;
    constexpr int kPuts = 400;
    for (int i = 0; i < kPuts; ++i) {
        const std::string name =
            i % 10 == 9 ? "taken" : "folder" + std::to_string(i % 3) + "/" + std::to_string(i);
        store_->put_later({"c", name, upload(std::to_string(i)), {}, true},
                          [&, i](const Result<ports::BlobInfo>& stored) {
                              const std::lock_guard lock(mutex);
                              answers[std::to_string(i)] = stored ? stored->name : "";
                          });
    }
    store_->put_later({"none", "x", "/nowhere", {}}, [&](const Result<ports::BlobInfo>& stored) {
        const std::lock_guard lock(mutex);
        answers["none"] = stored ? "" : "refused";
    });
    store_.reset();  // waits for them
    EXPECT_EQ(answers.size(), kPuts + 1U);
    EXPECT_EQ(answers["none"], "refused");
    EXPECT_EQ(std::ranges::count_if(answers, [](const auto& one) { return one.second == "taken"; }), 1);
    reopen();
    EXPECT_EQ(get("folder1/1"), "1");
    EXPECT_EQ(store_->list({.container = "c"})->blobs.size(), kPuts * 9 / 10 + 1U);
}

TEST_F(FsBlobs, AppendGrowsABlobAndTakesBytesAgain) {
    ASSERT_TRUE(store_->append("c", "logs/log.txt", 0, "hello "));
    ASSERT_TRUE(store_->append("c", "logs/log.txt", 6, "world"));
    ASSERT_TRUE(store_->append("c", "logs/log.txt", 3, "lo world"));
    ASSERT_TRUE(store_->append("c", "logs/log.txt", 0, ""));
    EXPECT_EQ(get("logs/log.txt"), "hello world");
    EXPECT_EQ(store_->append("c", "logs/log.txt", 12, "x").error().code, ErrorCode::Conflict);
    EXPECT_EQ(store_->append("c", "logs/new.txt", 1, "x").error().code, ErrorCode::Conflict);
    EXPECT_EQ(*store_->find("c", "logs/new.txt"), std::nullopt);
    reopen();
    ASSERT_TRUE(store_->append("c", "logs/log.txt", 11, "!"));
    EXPECT_EQ(get("logs/log.txt"), "hello world!");
}

TEST_F(FsBlobs, AppendAfterRemoveOrReplaceWritesToTheNewBlob) {
    ASSERT_TRUE(store_->append("c", "log", 0, "old"));
    ASSERT_TRUE(store_->remove("c", "log"));
    EXPECT_FALSE(store_->append("c", "log", 3, "x"));
    ASSERT_TRUE(store_->append("c", "log", 0, "new"));
    EXPECT_EQ(get("log"), "new");
    ASSERT_TRUE(store_->put_bytes("c", "log", "replaced"));
    ASSERT_TRUE(store_->append("c", "log", 8, "!"));
    EXPECT_EQ(get("log"), "replaced!");
}

TEST_F(FsBlobs, ManyGrowingBlobsKeepOnlySomeFilesOpen) {
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(store_->append("c", "log" + std::to_string(i), 0, "x"));
    EXPECT_EQ(store_->files_open(), 256U);
    ASSERT_TRUE(store_->append("c", "log0", 1, "y"));
    EXPECT_EQ(get("log0"), "xy");
    EXPECT_EQ(store_->files_open(), 256U);
}

TEST_F(FsBlobs, TemporaryFolderIsEmptiedAtStart) {
    upload("left over");
    reopen();
    EXPECT_TRUE(list_directory(store_->temporary_folder())->empty());
}

TEST_F(FsBlobs, DropsBlocksThatNobodyCommittedForLong) {
    for (const char* name : {"old", "deep/er/old", "a.blocks/old", "young", "deep/young"})
        ASSERT_TRUE(store_->put_block("c", name, "1", upload("x")));
    const timespec long_ago[2] = {{.tv_sec = 1'000, .tv_nsec = 0}, {.tv_sec = 1'000, .tv_nsec = 0}};
    for (const char* folder : {"old.blocks", "deep.d/er.d/old.blocks", "a.blocks.d/old.blocks"})
        ASSERT_EQ(::utimensat(AT_FDCWD, (folder_ / "blobs/.blocks/c/" + folder).c_str(), long_ago, 0), 0);
    EXPECT_EQ(*store_->drop_old_blocks(from_micros(2'000'000'000)), 3U);
    EXPECT_EQ(*store_->drop_old_blocks(from_micros(2'000'000'000)), 0U);
    EXPECT_FALSE(commit("old", {{"1"}}));
    EXPECT_FALSE(exists(folder_ / "blobs/.blocks/c/deep.d/er.d"));
    EXPECT_FALSE(exists(folder_ / "blobs/.blocks/c/a.blocks.d"));
    for (const char* name : {"young", "deep/young"}) {
        EXPECT_TRUE(commit(name, {{"1"}})) << name;
        EXPECT_EQ(get(name), "x");
    }
    EXPECT_TRUE(list_directory(store_->temporary_folder())->empty());
}

}  // namespace
}  // namespace lavant::adapters
