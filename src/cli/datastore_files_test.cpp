#include "cli/datastore_files.h"

#include <gtest/gtest.h>

#include <mutex>
#include <sstream>

#include "base/text.h"
#include "cli/fake_server_test.h"
#include "tests/support/temporary_folder.h"

namespace lavant::cli {
namespace {

const std::string kStore =
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/"
    "Microsoft.MachineLearningServices/workspaces/default/datastores/team";

class DatastoreFiles : public testing::Test {
 protected:
    DatastoreFiles() {
        server_.on("GET " + kStore, 200,
                   R"({"properties":{"accountName":"server/storage/acct","containerName":"c"}})");
        server_.on("POST " + kStore + "/listSecrets", 200, R"({"sasToken":"sig=1"})");
    }
    std::string blob(const std::string& name, const std::string& bytes) {
        return "<Blob><Name>" + name + "</Name><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT" +
               "</Last-Modified><Content-Length>" + std::to_string(bytes.size()) +
               "</Content-Length><Content-MD5>" + base64_encode(crypto_->md5(bytes)) +
               "</Content-MD5></Properties></Blob>";
    }
    void list(const std::string& blobs) {
        server_.on("GET " + kContainer, 200, "<Blobs>" + blobs + "</Blobs><NextMarker/>");
    }
    Context context() {
        return {.console = {out_, err_},
                .variable = [](const std::string&) { return std::string(); },
                .make_client = [this](const std::string&) { return server_.client(); },
                .crypto = *crypto_,
                .program = ""};
    }

    const std::string kContainer = "/storage/acct.blob.core.windows.net/c";
    std::unique_ptr<adapters::OpensslCrypto> crypto_ =
        std::move(*adapters::OpensslCrypto::without_key_file());
    FakeServer server_;
    std::ostringstream out_;
    std::ostringstream err_;
    test::TemporaryFolder folder_;
};

TEST_F(DatastoreFiles, ListsSizesTimesAndFolders) {
    list(blob("d/a.txt", "abc") + "<BlobPrefix><Name>d/e/</Name></BlobPrefix>");
    Session session = server_.session();
    const Context here = context();
    ASSERT_TRUE(list_store_files(session, here.console, {"team", "d/"}, {}));
    EXPECT_EQ(out_.str(),
              "             -                       d/e/\n"
              "             3  2026-01-02 03:04:05  d/a.txt\n");
}

TEST_F(DatastoreFiles, UploadsWhatIsNotThereAlready) {
    ASSERT_TRUE(make_directories(folder_ / "images/deep"));
    ASSERT_TRUE(write_file_atomically(folder_ / "images/a.txt", "same"));
    ASSERT_TRUE(write_file_atomically(folder_ / "images/deep/b c.txt", "new"));
    list(blob("data/a.txt", "same") + blob("data/deep/b c.txt", "old"));
    server_.on("PUT " + kContainer + "/data/deep/b%20c.txt", 201, "");
    Session session = server_.session();
    Context here = context();
    const auto done = upload_to_store(session, here, {"team", folder_ / "images", "data/", 1});
    ASSERT_TRUE(done) << done.error().error.message;
    EXPECT_EQ(out_.str(),
              "uploaded 1 file (3 bytes) to azureml://datastores/team/paths/data/; 1 were there already\n");
    EXPECT_EQ(server_.requests.back().method, "PUT");
}

TEST_F(DatastoreFiles, DownloadsWhatIsNotHereAlready) {
    ASSERT_TRUE(write_file_atomically(folder_ / "a.txt", "same"));
    list(blob("data/a.txt", "same") + blob("data/deep/b.txt", "new") + blob("data/../../evil", "x"));
    server_.on("GET " + kContainer + "/data/deep/b.txt",
               [](const ports::ClientRequest& request) -> Result<ports::HttpResponse> {
                   LAVANT_TRY_VOID(write_file_atomically(request.response_file, "new"));
                   return ports::HttpResponse{.status = 200};
               });
    Session session = server_.session();
    Context here = context();
    const auto done = download_from_store(session, here, {"team", folder_.path(), "data", 1});
    ASSERT_TRUE(done) << done.error().error.message;
    EXPECT_EQ(*read_file(folder_ / "deep/b.txt", 100), "new");
    EXPECT_NE(err_.str().find("leads out of the folder"), std::string::npos);
    EXPECT_NE(out_.str().find("1 were there already"), std::string::npos) << out_.str();
}

TEST_F(DatastoreFiles, SaysWhatIsNotThere) {
    list("");
    Session session = server_.session();
    Context here = context();
    const auto done = download_from_store(session, here, {"team", folder_.path(), "none", 1});
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().error.message.find("'none'"), std::string::npos);
}

}  // namespace
}  // namespace lavant::cli
