#include "cli/datastore_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/files.h"
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
    std::string blob_without_md5(const std::string& name, std::size_t bytes) {
        return "<Blob><Name>" + name + "</Name><Properties><Last-Modified>Fri, 02 Jan 2026 03:04:05 GMT" +
               "</Last-Modified><Content-Length>" + std::to_string(bytes) +
               "</Content-Length></Properties></Blob>";
    }
    std::string blob(const std::string& name, const std::string& bytes) {
        std::string xml = blob_without_md5(name, bytes.size());
        return xml.insert(xml.find("</Properties>"),
                          "<Content-MD5>" + base64_encode(crypto_->md5(bytes)) + "</Content-MD5>");
    }
    // Answers ranges of it, as storage does.
    void keep(const std::string& name, const std::string& bytes) {
        server_.on("GET " + kContainer + "/" + name, 206, bytes, {{"ETag", "\"1\""}});
    }
    std::size_t fetches_of(const std::string& name) {
        const auto asked = server_.asked();
        return static_cast<std::size_t>(std::ranges::count(asked, "GET " + kContainer + "/" + name));
    }
    Outcome<Exit> download(const std::string& path) {
        Session session = server_.session();
        Context here = context();
        return download_from_store(session, here, {"team", folder_.path(), path, 1});
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
              "uploaded 1 file (3 bytes) to azureml://datastores/team/paths/data/; 1 was there already\n");
    EXPECT_EQ(server_.requests.back().method, "PUT");
}

// Who names a folder wants what is in it, whatever git or a job leave out of it.
TEST_F(DatastoreFiles, UploadsWhatAnIgnoreFileNames) {
    ASSERT_TRUE(make_directories(folder_ / "d"));
    ASSERT_TRUE(write_file_atomically(folder_ / "d/.gitignore", "*.bin\n"));
    ASSERT_TRUE(write_file_atomically(folder_ / "d/.amlignore", "*\n"));
    ASSERT_TRUE(write_file_atomically(folder_ / "d/a.bin", "1"));
    list("");
    for (const char* name : {".gitignore", ".amlignore", "a.bin"})
        server_.on("PUT " + kContainer + "/x/" + name, 201, "");
    Session session = server_.session();
    Context here = context();
    const auto done = upload_to_store(session, here, {"team", folder_ / "d", "x", 1});
    ASSERT_TRUE(done) << done.error().error.message;
    EXPECT_TRUE(out_.str().starts_with("uploaded 3 files ")) << out_.str();
}

TEST_F(DatastoreFiles, UploadOfAnEmptyFolderOrToAPlaceOutsideIsRefusedBeforeAnythingIsSent) {
    ASSERT_TRUE(make_directories(folder_ / "empty"));
    ASSERT_TRUE(write_file_atomically(folder_ / "a.txt", "a"));
    Session session = server_.session();
    Context here = context();
    const auto empty = upload_to_store(session, here, {"team", folder_ / "empty", "x", 1});
    ASSERT_FALSE(empty);
    EXPECT_EQ(empty.error().exit, Exit::Usage);
    EXPECT_NE(empty.error().error.message.find("has no file to send"), std::string::npos);
    for (const char* path : {"../../etc", "a/../b", "a//b", "./a"}) {
        const auto outside = upload_to_store(session, here, {"team", folder_ / "a.txt", path, 1});
        ASSERT_FALSE(outside) << path;
        EXPECT_EQ(outside.error().exit, Exit::Usage) << path;
        EXPECT_NE(outside.error().error.message.find("'..'"), std::string::npos) << path;
    }
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(DatastoreFiles, SaysWhyTheStorageRefused) {
    ASSERT_TRUE(write_file_atomically(folder_ / "a.txt", "a"));
    list("");
    server_.on("PUT " + kContainer + "/a.txt", 400,
               "<?xml version=\"1.0\"?><Error><Code>InvalidUri</Code><Message>the name is too &lt;long&gt;"
               "</Message></Error>");
    Session session = server_.session();
    Context here = context();
    const auto refused = upload_to_store(session, here, {"team", folder_ / "a.txt", "", 1});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().error.message, "cannot upload 'a.txt': the name is too <long>");
}

TEST_F(DatastoreFiles, DownloadsWhatIsNotHereAlready) {
    ASSERT_TRUE(write_file_atomically(folder_ / "a.txt", "same"));
    list(blob("data/a.txt", "same") + blob("data/deep/b.txt", "new") + blob("data/../../evil", "x"));
    keep("data/deep/b.txt", "new");
    const auto done = download("data");
    ASSERT_TRUE(done) << done.error().error.message;
    EXPECT_EQ(*read_file(folder_ / "deep/b.txt", 100), "new");
    EXPECT_NE(err_.str().find("leads out of the folder"), std::string::npos);
    EXPECT_NE(out_.str().find("1 was there already"), std::string::npos) << out_.str();
}

TEST_F(DatastoreFiles, WithoutAChecksumSizeAndTimeSayWhatIsHere) {
    list(blob_without_md5("data/a.txt", 3));
    keep("data/a.txt", "abc");
    ASSERT_TRUE(download("data"));
    ASSERT_TRUE(download("data"));
    EXPECT_EQ(fetches_of("data/a.txt"), 1U);
    EXPECT_NE(out_.str().find("downloaded 0 files (0 bytes)"), std::string::npos) << out_.str();
    // Somebody's own of the same size is not the same.
    ASSERT_TRUE(write_file_atomically(folder_ / "a.txt", "xyz"));
    ASSERT_TRUE(download("data"));
    EXPECT_EQ(fetches_of("data/a.txt"), 2U);
    EXPECT_EQ(*read_file(folder_ / "a.txt", 100), "abc");
}

TEST_F(DatastoreFiles, FilesMayBeCalledPart) {
    list(blob("d/a", "first") + blob("d/a.part", "second") + blob("d/a.part.part", "third"));
    keep("d/a", "first");
    keep("d/a.part", "second");
    keep("d/a.part.part", "third");
    const auto done = download("d");
    ASSERT_TRUE(done) << done.error().error.message;
    EXPECT_EQ(*read_file(folder_ / "a", 100), "first");
    EXPECT_EQ(*read_file(folder_ / "a.part", 100), "second");
    EXPECT_EQ(*read_file(folder_ / "a.part.part", 100), "third");
    EXPECT_EQ(list_directory(folder_.path())->size(), 3U);
}

TEST_F(DatastoreFiles, OneFileIsThatFileAlone) {
    // Nothing lies below "m/net.pt/"; others begin with the same letters.
    server_.on("GET " + kContainer,
               [this](const ports::ClientRequest& request) -> Result<ports::HttpResponse> {
                   ports::HttpResponse answer;
                   answer.status = 200;
                   if (request.url.find("prefix=m%2Fnet.pt%2F") == std::string::npos)
                       answer.body =
                           blob("m/net.pt", "new") + blob("m/net.pt.bak", "old") + blob("m/net.pt2", "other");
                   return answer;
               });
    keep("m/net.pt", "new");
    const auto done = download("m/net.pt");
    ASSERT_TRUE(done) << done.error().error.message;
    const auto here = list_directory(folder_.path());
    ASSERT_EQ(here->size(), 1U);
    EXPECT_EQ(here->front().name, "net.pt");
}

TEST_F(DatastoreFiles, AFileThatIsNotWholeLeavesNothingBehind) {
    list(blob("d/a", "12345"));
    keep("d/a", "123");
    const auto done = download("d");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().error.message.find("changed while it was fetched"), std::string::npos);
    EXPECT_TRUE(list_directory(folder_.path())->empty());
}

TEST_F(DatastoreFiles, AListWithoutEndIsAnErrorAndNoPartOfIt) {
    server_.on("GET " + kContainer, 200, "<Blobs></Blobs><NextMarker>again</NextMarker>");
    const auto done = download("d");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().error.message.find("more than can be kept in mind"), std::string::npos);
}

TEST_F(DatastoreFiles, SaysWhatIsNotThere) {
    list("");
    const auto done = download("none");
    ASSERT_FALSE(done);
    EXPECT_NE(done.error().error.message.find("'none'"), std::string::npos);
}

}  // namespace
}  // namespace lavant::cli
