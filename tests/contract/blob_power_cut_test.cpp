// The power goes at every sync of the blob store in turn: what was acknowledged is there afterwards, whole;
// what was under way is as before, as after or, for a log, up to some byte; and doing it again finishes it.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <set>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "core/model/workspace.h"
#include "tests/support/lossy_disk.h"
#include "tests/support/temporary_folder.h"

namespace lavant::test {
namespace {

using adapters::FsBlobStore;
using Kind = LossyDisk::Kind;

constexpr int kJobs = 50;
constexpr int kFewJobs = 12;
constexpr int kJobsKept = 6;  // older ones are removed, so that there is not too much to look at each time

struct Blob {
    std::string bytes;
    std::map<std::string, std::string> metadata;
    bool operator==(const Blob&) const = default;
};
using Blobs = std::map<std::pair<std::string, std::string>, Blob>;  // by container and name

// One call that is acknowledged, and what it changes.
struct Step {
    std::string what;
    std::function<Result<void>(FsBlobStore&)> carry_out;
    std::function<void(Blobs&)> change;
};

Result<void> only_whether(const Result<ports::BlobInfo>& answer) {
    if (!answer) return fail(answer.error());
    return {};
}

Result<std::string> write_source(FsBlobStore& store, const std::string& bytes) {
    std::string path = store.temporary_folder() + "/upload";
    LAVANT_TRY(const Fd file, open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
    LAVANT_TRY_VOID(write_all(file.get(), bytes));
    return path;
}

// What a server has its store do for a number of jobs, one after the other.
class Script {
 public:
    explicit Script(int jobs) {
        for (const char* container : {kBlobContainer, kArtifactContainer})
            add(
                std::string("make container ") + container,
                [=](FsBlobStore& store) { return store.make_container(container); }, [](Blobs&) {});
        for (int i = 1; i <= jobs; ++i) add_job(i);
    }
    const std::vector<Step>& steps() const { return steps_; }

 private:
    void add(std::string what, std::function<Result<void>(FsBlobStore&)> carry_out,
             std::function<void(Blobs&)> change) {
        change(blobs_);
        steps_.push_back({std::move(what), std::move(carry_out), std::move(change)});
    }
    void append(const std::string& name, std::uint64_t offset, const std::string& bytes) {
        add(
            "append to " + name,
            [=](FsBlobStore& store) { return store.append(kArtifactContainer, name, offset, bytes); },
            [=](Blobs& blobs) {
                blobs[{kArtifactContainer, name}].bytes += bytes;
            });
    }
    void put(const std::string& container, const std::string& name, const Blob& blob,
             bool only_if_absent = false) {
        add(
            "put " + name,
            [=](FsBlobStore& store) -> Result<void> {
                LAVANT_TRY(const std::string source, write_source(store, blob.bytes));
                return only_whether(store.put(container, name, source, blob.metadata, only_if_absent));
            },
            [=](Blobs& blobs) {
                blobs[{container, name}] = blob;
            });
    }
    void put_bytes(const std::string& name, const std::string& bytes) {
        add(
            "put the bytes of " + name,
            [=](FsBlobStore& store) {
                return only_whether(store.put_bytes(kArtifactContainer, name, bytes));
            },
            [=](Blobs& blobs) {
                blobs[{kArtifactContainer, name}] = {bytes, {}};
            });
    }
    void remove(const std::string& container, const std::string& name) {
        add(
            "remove " + name, [=](FsBlobStore& store) { return store.remove(container, name); },
            [=](Blobs& blobs) {
                blobs.erase({container, name});
            });
    }
    void publish(const std::string& container, const std::string& from, const std::string& to) {
        add(
            "publish " + from, [=](FsBlobStore& store) { return store.publish(container, from, to); },
            [=](Blobs& blobs) {
                Blobs moved;
                for (const auto& [key, blob] : blobs) {
                    std::string name = key.second;
                    if (key.first == container && name.starts_with(from + "/"))
                        name = to + (to.empty() ? "" : "/") + name.substr(from.size() + 1);
                    moved.insert_or_assign({key.first, name}, blob);
                }
                blobs = std::move(moved);
            });
    }
    // One step: blocks do not outlive the machine's power, and who has lost one uploads all of them again.
    void upload_in_blocks(const std::string& name, const std::string& text) {
        add(
            "put the blocks of " + name,
            [=](FsBlobStore& store) -> Result<void> {
                for (const char* id : {"b1", "b2"}) {
                    LAVANT_TRY(const std::string source, write_source(store, text + id));
                    LAVANT_TRY_VOID(store.put_block(kBlobContainer, name, id, source));
                }
                return only_whether(store.put_block_list({kBlobContainer, name, "", {}}, {{"b1"}, {"b2"}}));
            },
            [=](Blobs& blobs) {
                blobs[{kBlobContainer, name}] = {text + "b1" + text + "b2", {}};
            });
    }
    // A later attempt's log takes the place of an earlier one's, which is kept under another name.
    void set_log_aside(const std::string& log, const std::string& aside) {
        add(
            "set aside " + log,
            [=](FsBlobStore& store) -> Result<void> {
                const std::string second = store.temporary_folder() + "/log";
                (void)::unlink(second.c_str());
                if (::link(store.path_of(kArtifactContainer, log).c_str(), second.c_str()) != 0)
                    return fail(system_error("link", errno));
                return only_whether(store.put(kArtifactContainer, aside, second, {}, true));
            },
            [=](Blobs& blobs) {
                blobs[{kArtifactContainer, aside}].bytes = blobs[{kArtifactContainer, log}].bytes;
            });
        remove(kArtifactContainer, log);
    }
    void add_job(int i) {
        const std::string name = "job" + std::to_string(i);
        const std::string artifacts = artifact_prefix(name);
        const std::string log = artifacts + "user_logs/std_log.txt";
        const std::string code = "LocalUpload/" + name + "/src/train.py";
        const std::string staging = std::string(ports::kStagingFolder) + "/" + std::to_string(i) + "-1";
        if (i % 3 == 1)
            put(kBlobContainer, code, {"code of " + name, {{"name", name}, {"hash", "abc"}}}, true);
        append(log, 0, "first line of " + name + "\n");
        append(log, 15 + name.size(), std::string(2000, 'x') + "\n");
        if (i % 10 == 2) {
            set_log_aside(log, artifacts + "user_logs/attempt_1/std_log.txt");
            append(log, 0, "second attempt\n");
            add(
                "mark " + log,
                [=](FsBlobStore& store) {
                    return only_whether(store.set_metadata(kArtifactContainer, log, {{"attempt", "2"}}));
                },
                [=](Blobs& blobs) {
                    blobs[{kArtifactContainer, log}].metadata = {{"attempt", "2"}};
                });
        }
        put(kArtifactContainer, staging + "/" + artifacts + "outputs/model", {"model of " + name, {}});
        put(kArtifactContainer, staging + "/" + artifacts + "outputs/deep/er", {"more", {}});
        publish(kArtifactContainer, staging, "");
        if (i % 5 == 0) {
            put(kBlobContainer, staging + "/azureml/" + name + "/out/a", {"named output", {}});
            publish(kBlobContainer, staging, "");
            upload_in_blocks("LocalUpload/" + name + "/data.csv", "data of " + name);
        }
        put_bytes(artifacts + "system_logs/lifecycle.txt", "lifecycle of " + name);
        if (i % 7 == 0) put_bytes(artifacts + "system_logs/lifecycle.txt", "longer lifecycle of " + name);
        if (i % 6 == 4) remove(kBlobContainer, code);
        if (i > kJobsKept) remove_job("job" + std::to_string(i - kJobsKept));
    }
    void remove_job(const std::string& name) {
        for (const Blobs all = blobs_; const auto& [key, blob] : all)
            if (key.second.find(name + "/") != std::string::npos) remove(key.first, key.second);
    }
    std::vector<Step> steps_;
    Blobs blobs_;  // after all steps
};

std::optional<Blob> read(FsBlobStore& store, const std::string& container, const std::string& name) {
    const auto found = store.find(container, name);
    if (!found || !*found) return std::nullopt;
    const auto bytes = read_file(store.path_of(container, name), 1U << 20);
    EXPECT_TRUE(bytes);
    return Blob{bytes.value_or(""), (*found)->metadata};
}

class BlobPowerCut : public testing::Test {
 protected:
    void SetUp() override {
        struct statfs about {};
        if (::statfs(folder_.path().c_str(), &about) != 0 || about.f_type != TMPFS_MAGIC)
            GTEST_SKIP() << "needs a file system in memory at /dev/shm";
    }
    // Runs the script, and looks at every sync at what a power cut would leave. Answers how many syncs there
    // were.
    int run(int jobs, Kind kind, bool by_chance) {
        const Script script(jobs);
        steps_ = &script.steps();
        LossyDisk disk(make_folder("store"), kind);
        disk.at_sync = [&] { look(disk, by_chance ? static_cast<std::uint64_t>(disk.syncs()) : 0); };
        const auto store = FsBlobStore::open(folder_ / "store");
        EXPECT_TRUE(store);
        for (done_ = 0; done_ < steps_->size() && !HasFailure(); ++done_) {
            const auto carried_out = (*steps_)[done_].carry_out(**store);
            EXPECT_TRUE(carried_out) << (*steps_)[done_].what << ": " << carried_out.error().message;
            (*steps_)[done_].change(acknowledged_);
        }
        look(disk, 0);
        return disk.syncs();
    }
    std::string make_folder(const std::string& name) {
        EXPECT_TRUE(make_directories(folder_ / name));
        return folder_ / name;
    }
    void look(const LossyDisk& disk, std::uint64_t seed) {
        if (HasFailure()) return;
        const std::string what = done_ < steps_->size() ? (*steps_)[done_].what : "nothing";
        SCOPED_TRACE("cut at sync " + std::to_string(disk.syncs()) + " during step " + std::to_string(done_) +
                     ": " + what + ", seed " + std::to_string(seed));
        const std::string left = folder_ / "left";
        ASSERT_TRUE(remove_tree(left));
        disk.write_what_is_left(left, seed);
        const auto store = FsBlobStore::open(left);
        ASSERT_TRUE(store) << store.error().message;
        Blobs expected = acknowledged_;
        if (done_ < steps_->size()) (*steps_)[done_].change(expected);
        check_all(**store, expected);
        // Whoever was not answered asks again; and what follows finds what it needs.
        if (done_ < steps_->size() && !(*steps_)[done_].carry_out(**store)) check_changed(**store, expected);
        for (std::size_t i = done_ + 1; i < std::min(done_ + 4, steps_->size()); ++i) {
            const auto carried_out = (*steps_)[i].carry_out(**store);
            ASSERT_TRUE(carried_out) << (*steps_)[i].what << ": " << carried_out.error().message;
            (*steps_)[i].change(expected);
        }
        check_changed(**store, expected);
    }
    // Everything acknowledged is there, and nothing else but what the step under way makes of it.
    void check_all(FsBlobStore& store, const Blobs& expected) const {
        std::set<Blobs::key_type> keys;
        for (const Blobs* side : {&acknowledged_, &expected})
            for (const auto& [key, blob] : *side) keys.insert(key);
        for (const char* container : {kBlobContainer, kArtifactContainer}) {
            const auto page = store.list({.container = container});
            if (!page) continue;  // Made by the step under way.
            EXPECT_TRUE(page->next_marker.empty());
            for (const ports::BlobInfo& blob : page->blobs) keys.insert({container, blob.name});
        }
        for (const auto& key : keys) check(store, key, acknowledged_, expected);
    }
    // What differs from what was acknowledged is now as it should be.
    void check_changed(FsBlobStore& store, const Blobs& expected) const {
        for (const auto& [key, blob] : expected) {
            const auto old = acknowledged_.find(key);
            if (old == acknowledged_.end() || old->second != blob) check(store, key, expected, expected);
        }
        for (const auto& [key, blob] : acknowledged_)
            if (!expected.contains(key)) check(store, key, expected, expected);
    }
    static void check(FsBlobStore& store, const Blobs::key_type& key, const Blobs& before,
                      const Blobs& after) {
        const auto old = before.find(key);
        const auto wanted = after.find(key);
        const auto found = read(store, key.first, key.second);
        const Blob from = old == before.end() ? Blob() : old->second;
        const Blob to = wanted == after.end() ? from : wanted->second;
        EXPECT_TRUE(found || old == before.end() || wanted == after.end()) << key.second << " is lost";
        if (!found) return;
        EXPECT_TRUE(old != before.end() || wanted != after.end()) << key.second << " is back";
        const bool grew = to.bytes.starts_with(found->bytes) && found->bytes.starts_with(from.bytes);
        EXPECT_TRUE(found->bytes == from.bytes || found->bytes == to.bytes || grew)
            << key.second << " has " << found->bytes.size() << " bytes that nobody wrote so";
        EXPECT_TRUE(found->metadata == from.metadata || found->metadata == to.metadata) << key.second;
    }

    TemporaryFolder folder_{TemporaryFolder::On::Memory};
    const std::vector<Step>* steps_ = nullptr;
    std::size_t done_ = 0;
    Blobs acknowledged_;
};

TEST_F(BlobPowerCut, AtAnySyncLosesNothingAcknowledged) {
    const int syncs = run(kJobs, Kind::Strict, false);
    std::printf("[  syncs    ] %d\n", syncs);
    EXPECT_GE(syncs, 10 * kJobs);
}

TEST_F(BlobPowerCut, ThatLeavesSomeOfTheLaterChangesLosesNothingEither) { run(kFewJobs, Kind::Strict, true); }

TEST_F(BlobPowerCut, OnAFileSystemThatSyncsInOrderLosesNothing) { run(kFewJobs, Kind::Ordered, false); }

TEST_F(BlobPowerCut, OnAFileSystemThatSyncsInOrderAndWritesSomeMoreLosesNothing) {
    run(kFewJobs, Kind::Ordered, true);
}

// The tool itself: were a write acknowledged before it is synced, the tests above would notice.
TEST_F(BlobPowerCut, OnADiskThatLiesAboutSyncsLosesWhatWasAcknowledged) {
    LossyDisk disk(make_folder("store"), Kind::Strict);
    const auto store = FsBlobStore::open(folder_ / "store");
    ASSERT_TRUE((*store)->make_container("c"));
    ASSERT_TRUE((*store)->put_bytes("c", "kept", "1"));
    ASSERT_TRUE((*store)->append("c", "folder/log", 0, "one\n"));
    disk.lie_about_syncs();
    ASSERT_TRUE((*store)->put_bytes("c", "lost", "2"));
    ASSERT_TRUE((*store)->append("c", "folder/log", 4, "two\n"));
    disk.write_what_is_left(folder_ / "left");
    const auto left = FsBlobStore::open(folder_ / "left");
    EXPECT_EQ(read(**left, "c", "kept"), (Blob{"1", {}}));
    EXPECT_EQ(read(**left, "c", "folder/log"), (Blob{"one\n", {}}));
    EXPECT_EQ(read(**left, "c", "lost"), std::nullopt);
}

}  // namespace
}  // namespace lavant::test
