#include "api/output_registration.h"

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "base/log.h"
#include "core/model/launch.h"
#include "wire/json.h"
#include "wire/messages.h"

namespace lavant::api {
namespace {

class OutputRegistration : public testing::Test {
 protected:
    OutputRegistration() {
        configure_log({.least = Level::Silent});
        job_.id = {7};
        job_.workspace = "w";
        job_.name = "j";
        job_.status = JobStatus::Completed;
        batch_.jobs_changed.push_back(job_);
    }
    static AssetWrite row(const std::string& version, const std::string& body,
                          std::optional<std::int64_t> expected) {
        return {{.key = {"w", "data", "out", version}, .body = body}, expected};
    }
    void store(const AssetWrite& write) {
        WriteBatch batch;
        batch.assets.push_back(write);
        ASSERT_TRUE(store_.commit(batch));
    }
    // Registers one output, and leaves it to a commit what becomes of the assets.
    void finish(const std::string& asked = "") {
        Launch launch;
        launch.job_name = "j";
        launch.outputs.push_back({.name = "o",
                                  .type = "uri_folder",
                                  .uri = "azureml://datastores/d/paths/p",
                                  .asset_name = "out",
                                  .asset_version = asked});
        ASSERT_TRUE(register_outputs(store_, job_, wire::encode_launch(launch), batch_));
        warning_ = batch_.jobs_changed[0].warning;
        batch_.jobs_changed.clear();
        batch_.lineage.clear();
        ASSERT_TRUE(store_.commit(batch_));
    }
    std::string body(const std::string& version) {
        const auto found = store_.find_asset({"w", "data", "out", version});
        return found && *found ? (*found)->body : "absent";
    }
    std::string next_version() { return wire::parse_json(body(""))->find("nextVersion")->string(); }

    adapters::MemoryStore store_;
    WriteBatch batch_;
    JobHead job_;
    std::string warning_;
};

TEST_F(OutputRegistration, TakesTheNextVersion) {
    finish();
    EXPECT_NE(body("1").find("datastores/d/paths/p"), std::string::npos) << body("1");
    EXPECT_EQ(next_version(), "2");
    EXPECT_EQ(warning_, "");
}

TEST_F(OutputRegistration, BelievesNoWriteThatTheCommitWillRefuse) {
    store(row("", R"({"nextVersion":"5"})", 0));
    // By somebody who had not seen the rows that are there.
    batch_.assets.push_back(row("", R"({"nextVersion":"90"})", 7));
    batch_.assets.push_back(row("5", "{}", 3));
    finish();
    EXPECT_NE(body("5").find("paths/p"), std::string::npos) << body("5");
    EXPECT_EQ(next_version(), "6");
}

TEST_F(OutputRegistration, GoesOnFromAWriteThatTheCommitWillTake) {
    store(row("", R"({"nextVersion":"5"})", 0));
    batch_.assets.push_back(row("5", "{}", 0));
    batch_.assets.push_back(row("", R"({"nextVersion":"6"})", 1));
    finish();
    EXPECT_EQ(body("5"), "{}");
    EXPECT_NE(body("6").find("paths/p"), std::string::npos) << body("6");
    EXPECT_EQ(next_version(), "7");
}

TEST_F(OutputRegistration, LooksForAFreeVersionWhereTheNextIsTaken) {
    store(row("", R"({"nextVersion":"1"})", 0));
    for (const char* taken : {"1", "2"}) store(row(taken, "{}", 0));
    finish();
    EXPECT_NE(body("3").find("paths/p"), std::string::npos) << body("3");
    EXPECT_EQ(next_version(), "4");
    EXPECT_EQ(warning_, "");
}

TEST_F(OutputRegistration, WarnsWhereTheVersionThatWasAskedForIsTaken) {
    store(row("4", "{}", 0));
    finish("4");
    EXPECT_EQ(body("4"), "{}");
    EXPECT_NE(warning_.find("out:4"), std::string::npos) << warning_;
}

}  // namespace
}  // namespace lavant::api
