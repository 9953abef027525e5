#include "app/job_files.h"

#include <gtest/gtest.h>

#include "adapters/blobs_fs/fs_blob_store.h"
#include "adapters/memory/memory_store.h"
#include "base/files.h"
#include "core/model/workspace.h"
#include "tests/support/temporary_folder.h"

namespace lavant::app {
namespace {

class JobFilesTest : public testing::Test {
 protected:
    void SetUp() override {
        blobs_ = std::move(*adapters::FsBlobStore::open(folder_ / "blobs"));
        ASSERT_TRUE(blobs_->make_container(kArtifactContainer));
        WriteBatch batch;
        Job job;
        job.head = {.id = {1}, .version = 1, .workspace = "w", .name = "fig", .attempt = 2};
        batch.jobs_added.push_back(job);
        batch.tasks.push_back({.ref = {{1}, 1, 0}, .version = 1, .end = {.exit_code = 1, .log = "first\n"}});
        batch.tasks.push_back({.ref = {{1}, 2, 0}, .version = 1, .end = {.log = "second\n"}});
        ASSERT_TRUE(store_.commit(batch));
    }
    std::string look(const std::string& name) {
        const std::string blob = artifact_prefix("fig") + name;
        JobFiles(store_, *blobs_, "w").refresh(kArtifactContainer, blob);
        return read_file(blobs_->path_of(kArtifactContainer, blob), 4096).value_or("none");
    }
    test::TemporaryFolder folder_;
    adapters::MemoryStore store_;
    std::unique_ptr<ports::BlobStore> blobs_;
};

TEST_F(JobFilesTest, AShortLogIsThereWhenSomebodyLooks) {
    EXPECT_EQ(look("user_logs/std_log.txt"), "second\n");
    EXPECT_EQ(look("user_logs/attempt_1/std_log.txt"), "first\n");
    EXPECT_EQ(look("outputs/x"), "none");
}

TEST_F(JobFilesTest, ALogOfWhichAPartWasSentBeforeBecomesWhole) {
    const std::string log = artifact_prefix("fig") + "user_logs/std_log.txt";
    ASSERT_TRUE(blobs_->append(kArtifactContainer, log, 0, "sec"));
    EXPECT_EQ(look("user_logs/std_log.txt"), "second\n");
}

TEST_F(JobFilesTest, AListingOfTheJobShowsThem) {
    JobFiles(store_, *blobs_, "w").refresh(kArtifactContainer, artifact_prefix("fig"));
    const auto page = blobs_->list({.container = kArtifactContainer, .prefix = artifact_prefix("fig")});
    ASSERT_EQ(page->blobs.size(), 2U);
    for (const char* other : {"ExperimentRun/dcid.nobody/", "ExperimentRun/dcid.fig", "", "ExperimentRun/"})
        JobFiles(store_, *blobs_, "w").refresh(kArtifactContainer, other);
}

}  // namespace
}  // namespace lavant::app
