#include "cli/asset_create.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

class AssetCreate : public testing::Test {
 protected:
    void SetUp() override {
        terminal_.variables["LAVANT_ENDPOINT"] = "https://server";
        terminal_.variables["LAVANT_TOKEN"] = "key";
        folder_ = testing::TempDir() + "asset-create-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, const std::string& text) {
        const std::string path = folder_ + "/" + name;
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        EXPECT_TRUE(write_file_atomically(path, text, 0644));
        return path;
    }
    Context context() {
        Context made = terminal_.context(server_);
        made.folder = folder_;
        return made;
    }
    Outcome<Exit> create(AssetKind kind, const FileOptions& options, Format format = Format::Table) {
        Context made = context();
        return create_asset(made, {}, kind, options, {.format = format});
    }
    // Answers every PUT of a version with what was sent.
    void keep_versions(const std::string& path, int status = 201) {
        server_.on("PUT " + kWorkspacePath + path, [=](const ports::ClientRequest& request) {
            ports::HttpResponse answer;
            answer.status = status;
            wire::Json body = *wire::parse_json(request.body);
            body.set("id", kWorkspacePath + path);
            body.set("name", path.substr(path.rfind('/') + 1));
            answer.body =
                status == 409 ? R"({"error":{"code":"Conflict","message":"other content"}})" : body.dump();
            return Result<ports::HttpResponse>(answer);
        });
    }
    wire::Json sent(const std::string& what) const {
        for (const auto& request : server_.requests)
            if (request.method + " " +
                    request.url.substr(std::string("https://server").size(), what.size() - 4) ==
                what)
                return *wire::parse_json(request.body);
        ADD_FAILURE() << what << " was not asked";
        return {};
    }

    FakeServer server_;
    FakeTerminal terminal_;
    std::string folder_;
};

TEST_F(AssetCreate, RemoteDataTakesTheNextVersion) {
    server_.on("GET " + kWorkspacePath + "/data/titanic", 200,
               R"({"properties":{"latestVersion":"2","nextVersion":"3"}})");
    keep_versions("/data/titanic/versions/3");
    const auto made = create(AssetKind::Data, {.file = write("d.yml",
                                                             "name: titanic\ntype: uri_file\n"
                                                             "path: https://example.com/t.csv\n")});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(terminal_.out.str(), "titanic:3  uri_file  https://example.com/t.csv\n");
    EXPECT_EQ(terminal_.err.str(), "use it as azureml:titanic:3\n");
}

TEST_F(AssetCreate, FlagsGoOverTheFileAndBeginInTheCurrentFolder) {
    write("here/a.csv", "1");
    FileOptions options;
    options.file = write("files/d.yml", "name: titanic\npath: nowhere\n");
    options.words = {{"name", "other"}, {"version", "7"}, {"path", "here"}, {"type", ""}};
    options.tags = {"team=vision"};
    options.settings = {"description=two words"};
    options.dry_run = true;
    const auto made = create(AssetKind::Data, options, Format::Json);
    ASSERT_TRUE(made) << made.error().error.message;
    const wire::Json body = *wire::parse_json(terminal_.out.str());
    EXPECT_EQ(body.get("properties.dataUri").text(), folder_ + "/here");
    EXPECT_EQ(body.get("properties.tags.team").text(), "vision");
    EXPECT_EQ(body.get("properties.description").text(), "two words");
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(AssetCreate, ADryRunSaysWhereAModelLies) {
    write("m/weights.bin", "abc");
    Context made = context();
    const auto dry = create_asset(made, {}, AssetKind::Model,
                                  {.file = write("m.yml", "name: net\npath: m\n"), .dry_run = true},
                                  {.format = Format::Json});
    ASSERT_TRUE(dry) << dry.error().error.message;
    EXPECT_EQ(wire::parse_json(terminal_.out.str())->get("properties.modelUri").text(), folder_ + "/m");
}

TEST_F(AssetCreate, LocalFilesAreUploadedFirst) {
    const std::string store = kWorkspacePath + "/datastores/mine";
    server_.on("GET " + store, 200,
               R"({"properties":{"accountName":"server/storage/acct","containerName":"c"}})");
    server_.on("POST " + store + "/listSecrets", 200, R"({"secretsType":"Sas","sasToken":"sv=1&sig=x"})");
    write("m/weights.bin", "abc");
    const auto made =
        create(AssetKind::Model, {.file = write("m.yml", "name: net\npath: m\ndatastore: azureml:mine\n")});
    ASSERT_FALSE(made);  // The storage of this server has no place for it.
    const std::vector<std::string> asked = server_.asked();
    ASSERT_EQ(asked.size(), 4U);
    EXPECT_TRUE(asked[2].starts_with("HEAD /storage/acct.blob.core.windows.net/c/LocalUpload/")) << asked[2];
    EXPECT_TRUE(asked[3].starts_with("PUT /storage/acct.blob.core.windows.net/c/LocalUpload/")) << asked[3];
    EXPECT_TRUE(asked[3].ends_with("/m/weights.bin")) << asked[3];
}

TEST_F(AssetCreate, AnEnvironmentThatIsTheSameKeepsItsVersion) {
    server_.on("GET " + kWorkspacePath + "/environments/e", 200,
               R"({"properties":{"latestVersion":"2","nextVersion":"3"}})");
    keep_versions("/environments/e/versions/2", 200);
    const auto made = create(AssetKind::Environment, {.words = {{"name", "e"}, {"image", "python:3.12"}}});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(terminal_.out.str(), "e:2  python:3.12\n");
}

TEST_F(AssetCreate, AnEnvironmentThatDiffersIsTheNextVersion) {
    server_.on("GET " + kWorkspacePath + "/environments/e", 200,
               R"({"properties":{"latestVersion":"2","nextVersion":"3"}})");
    keep_versions("/environments/e/versions/2", 409);
    keep_versions("/environments/e/versions/3");
    const auto made = create(AssetKind::Environment,
                             {.file = write("e.yml", "name: e\nimage: python:3.12\nconda_file: c.yml\n")});
    ASSERT_FALSE(made);  // There is no c.yml.
    EXPECT_EQ(made.error().exit, Exit::Usage);
    write("c.yml", "dependencies: [pip]\n");
    const auto again = create(AssetKind::Environment, {.file = folder_ + "/e.yml"});
    ASSERT_TRUE(again) << again.error().error.message;
    EXPECT_EQ(terminal_.out.str(), "e:3  python:3.12 + conda\n");
    EXPECT_EQ(sent("PUT " + kWorkspacePath + "/environments/e/versions/3").get("properties.condaFile").text(),
              "dependencies:\n- pip\n");
}

TEST_F(AssetCreate, AVersionThatWasTakenInTheMeantimeIsNotTheEnd) {
    int asked = 0;
    server_.on("GET " + kWorkspacePath + "/data/d", [&](const ports::ClientRequest&) {
        ports::HttpResponse answer;
        answer.status = 200;
        answer.body =
            ++asked == 1 ? R"({"properties":{"nextVersion":"1"}})" : R"({"properties":{"nextVersion":"2"}})";
        return Result<ports::HttpResponse>(answer);
    });
    keep_versions("/data/d/versions/1", 409);
    keep_versions("/data/d/versions/2");
    const auto made =
        create(AssetKind::Data, {.file = write("d.yml", "name: d\npath: azureml://datastores/x/paths/y/\n")});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(asked, 2);
}

TEST_F(AssetCreate, WhatIsWrongWithAFileStartsNothing) {
    const auto made = create(AssetKind::Data, {.file = write("d.yml", "nam: d\npath: nowhere\n")});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().exit, Exit::Usage);
    EXPECT_EQ(made.error().error.fields.size(), 2U);
    EXPECT_NE(made.error().error.message.find("d.yml"), std::string::npos);
    EXPECT_TRUE(server_.requests.empty());
    EXPECT_EQ(create(AssetKind::Data, {.file = folder_}).error().exit, Exit::Usage);
    EXPECT_EQ(create(AssetKind::Data, {.file = folder_ + "/none.yml"}).error().exit, Exit::Usage);
    EXPECT_EQ(create(AssetKind::Data, {.file = write("l.yml", "- a\n")}).error().exit, Exit::Usage);
    EXPECT_EQ(create(AssetKind::Data, {}).error().exit, Exit::Usage);
    EXPECT_EQ(create(AssetKind::Data, {.tags = {"x"}}).error().exit, Exit::Usage);
    EXPECT_EQ(create(AssetKind::Data, {.settings = {"x"}}).error().exit, Exit::Usage);
}

TEST_F(AssetCreate, AComponentBringsItsCode) {
    write("src/train.py", "print(1)");
    const std::string file =
        write("train.yml",
              "type: command\nname: train\ncode: src\nenvironment: azureml:base:1\n"
              "command: python train.py --n ${{inputs.n}}\ninputs: {n: {type: integer}}\n");
    const auto dry = create(AssetKind::Component, {.file = file, .dry_run = true}, Format::Json);
    ASSERT_TRUE(dry) << dry.error().error.message;
    const wire::Json body = *wire::parse_json(terminal_.out.str());
    EXPECT_EQ(body.get("properties.componentSpec.command").text(), "python train.py --n ${{inputs.n}}");
    EXPECT_EQ(body.get("properties.componentSpec.inputs.n.type").text(), "integer");
    EXPECT_FALSE(body.get("properties.isAnonymous").boolean(true));
    std::filesystem::remove_all(folder_ + "/src");
    EXPECT_EQ(create(AssetKind::Component, {.file = file}).error().exit, Exit::Usage);
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(AssetCreate, ValidateNeedsNoServer) {
    Context made = context();
    const auto valid = validate_asset(made, AssetKind::Environment,
                                      {.file = write("e.yml", "name: e\nversion: 3\nimage: python\n")}, {});
    ASSERT_TRUE(valid) << valid.error().error.message;
    EXPECT_EQ(terminal_.out.str(), folder_ + "/e.yml is valid: environment e:3\n");
    EXPECT_TRUE(server_.requests.empty());
}

}  // namespace
}  // namespace lavant::cli
