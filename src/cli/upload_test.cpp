#include "cli/upload.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <string>

#include "base/files.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

class UploadTest : public ::testing::Test {
 protected:
    UploadTest() {
        std::string pattern = ::testing::TempDir() + "/upload.XXXXXX";
        folder_ = std::string(::mkdtemp(pattern.data())) + "/my code";
        EXPECT_TRUE(make_directories(folder_ + "/pkg"));
        EXPECT_TRUE(write_file_atomically(folder_ + "/a #1%.py", "print()", 0644));
        EXPECT_TRUE(write_file_atomically(folder_ + "/pkg/__init__.py", "", 0644));
    }
    ~UploadTest() override { (void)remove_tree(parent_of(folder_)); }

    std::string folder_;
    FakeServer server_;
    FakeTerminal terminal_;
};

TEST_F(UploadTest, SendsCodeAsTheSdkDoes) {
    std::string guid;
    FakeServer& server = server_;
    Session session = server.session();
    // The guid is made by the client, so the answers are added when it is known.
    class Learning final : public ports::HttpClient {
     public:
        Learning(std::unique_ptr<ports::HttpClient> inner, FakeServer& fake)
            : inner_(std::move(inner)), fake_(fake) {}
        Result<ports::HttpResponse> send(const ports::ClientRequest& request) override {
            const std::size_t at = request.url.find("/codes/");
            if (at != std::string::npos) {
                const std::string base =
                    kWorkspacePath + "/codes/" + request.url.substr(at + 7, 36) + "/versions";
                fake_.on("GET " + base, 200, R"({"value":[]})");
                fake_.on("POST " + base + "/1/startPendingUpload", 200,
                         R"({"blobReferenceForConsumption":{"blobUri":"https://server/storage/acct/c1",)"
                         R"("credential":{"sasUri":"https://server/storage/acct/c1?sv=1&sig=x"}}})");
                fake_.on("PUT " + base + "/1", 201, R"({"id":"the-code-id"})");
            }
            return inner_->send(request);
        }

     private:
        std::unique_ptr<ports::HttpClient> inner_;
        FakeServer& fake_;
    };
    Session learning(std::make_unique<Learning>(server.client(), server), {"https://server", "", "key"});
    const std::string container = "/storage/acct/c1/my%20code/";
    server.on("PUT " + container + "a%20%231%25.py", 201, "");
    server.on("PUT " + container + "pkg/__init__.py", 201, "");

    Uploader uploader(learning, *terminal_.crypto);
    const auto id = uploader.upload_code(*take_snapshot(folder_));
    ASSERT_TRUE(id.has_value()) << id.error().error.message;
    EXPECT_EQ(*id, "the-code-id");

    const auto& asked = server.requests;
    ASSERT_EQ(asked.size(), 7U);
    EXPECT_NE(asked[0].url.find("hashVersion=202208"), std::string::npos);
    EXPECT_EQ(asked[2].method, "HEAD");
    EXPECT_EQ(asked[3].body, "print()");
    EXPECT_TRUE(asked[3].url.ends_with("?sv=1&sig=x")) << asked[3].url;
    for (const auto& [name, value] : asked[3].headers)
        EXPECT_NE(name, "Authorization") << "a signature is enough there";
    EXPECT_NE(asked[5].url.find("comp=metadata"), std::string::npos);
    EXPECT_NE(asked[6].body.find(R"("codeUri":"https://server/storage/acct/c1/my code")"), std::string::npos)
        << asked[6].body;
    EXPECT_NE(asked[6].body.find(R"("hash_version":202208)"), std::string::npos);
}

TEST_F(UploadTest, ReusesCodeThatTheServerKnows) {
    FakeServer& server = server_;
    class Knowing final : public ports::HttpClient {
     public:
        explicit Knowing(FakeServer& fake) : fake_(fake) {}
        Result<ports::HttpResponse> send(const ports::ClientRequest& request) override {
            fake_.requests.push_back(request);
            ports::HttpResponse response;
            response.body = R"({"value":[{"id":"old-code"}]})";
            return response;
        }

     private:
        FakeServer& fake_;
    };
    Session session(std::make_unique<Knowing>(server), {"https://server", "", "key"});
    Uploader uploader(session, *terminal_.crypto);
    EXPECT_EQ(uploader.upload_code(*take_snapshot(folder_)).value(), "old-code");
    EXPECT_EQ(server.requests.size(), 1U);
}

TEST_F(UploadTest, SkipsDataThatIsThereAlready) {
    FakeServer& server = server_;
    const std::string store = kWorkspacePath + "/datastores/workspaceblobstore";
    server.on("GET " + store, 200,
              R"({"properties":{"accountName":"server/storage/acct","containerName":"c"}})");
    server.on("POST " + store + "/listSecrets", 200, R"({"sasToken":"sv=1&sig=x"})");
    const std::string hash = object_hash(folder_, *terminal_.crypto).value();
    server.on("HEAD /storage/acct.blob.core.windows.net/c/LocalUpload/" + hash + "/my%20code/a%20%231%25.py",
              200, "", {{"x-ms-meta-upload_status", "completed"}});
    Session session = server.session();
    Uploader uploader(session, *terminal_.crypto);
    const auto uploaded = uploader.upload_data(folder_);
    ASSERT_TRUE(uploaded.has_value()) << uploaded.error().error.message;
    EXPECT_EQ(uploaded->uri,
              "azureml://datastores/workspaceblobstore/paths/LocalUpload/" + hash + "/my code/");
    EXPECT_EQ(server.requests.size(), 3U);
}

TEST_F(UploadTest, RefusesAnEmptyFolder) {
    ASSERT_TRUE(make_directories(folder_ + "/empty"));
    Session session = server_.session();
    Uploader uploader(session, *terminal_.crypto);
    const auto outcome = uploader.upload_code(*take_snapshot(folder_ + "/empty"));
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Usage);
}

TEST(RandomGuid, HasTheFormOfVersionFour) {
    FakeTerminal terminal;
    const std::string guid = random_guid(*terminal.crypto);
    EXPECT_EQ(guid.size(), 36U);
    EXPECT_EQ(guid[14], '4');
    EXPECT_NE(guid, random_guid(*terminal.crypto));
}

}  // namespace
}  // namespace lavant::cli
