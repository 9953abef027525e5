#include "api/blob_routes.h"

#include <gtest/gtest.h>

#include "api/answers.h"
#include "api/blob_xml.h"
#include "api/byte_range.h"
#include "api/test_world.h"
#include "base/files.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

std::string header(const ports::HttpResponse& response, const std::string& name) {
    for (const auto& [key, value] : response.headers)
        if (equals_ignoring_case(key, name)) return value;
    return "";
}

struct Send {
    std::string query;
    std::string body;
    std::map<std::string, std::string> headers;
};

class BlobRoutes : public testing::Test {
 protected:
    BlobRoutes() {
        const auto secrets = world_.call({"POST",
                                          kWs + "/datastores/workspaceblobstore/listSecrets",
                                          R"({"expirableSecret":true,"expireAfterHours":1})",
                                          {}});
        sas_ = wire::parse_json(secrets.body).value()["sasToken"].string();
    }
    ports::HttpResponse send(const std::string& method, const std::string& path, const Send& with = {}) {
        return world_.call({method, root_ + path + "?" + sas_ + (with.query.empty() ? "" : "&" + with.query),
                            with.body, with.headers, false});
    }
    ports::HttpResponse put(const std::string& path, const std::string& body) {
        return send("PUT", path, {"", body, {}});
    }
    TestWorld world_;
    std::string sas_;
    std::string root_ = "/storage/acct.blob.core.windows.net/azureml-blobstore";
};

TEST_F(BlobRoutes, MakesTheLifecycleFileOfAJobWhenSomebodyLooks) {
    world_.add_job("tale", JobStatus::Queued);
    world_.set_status("tale", JobStatus::Queued);
    world_.set_status("tale", JobStatus::Running);
    root_ = "/storage/acct/azureml";
    const auto secrets = world_.call({"POST",
                                      kWs + "/datastores/workspaceartifactstore/listSecrets",
                                      R"({"expirableSecret":true,"expireAfterHours":1})",
                                      {}});
    sas_ = wire::parse_json(secrets.body).value()["sasToken"].string();
    const auto listed =
        send("GET", "", {"restype=container&comp=list&prefix=ExperimentRun/dcid.tale/", "", {}});
    EXPECT_NE(listed.body.find("dcid.tale/system_logs/lifecycle.txt"), std::string::npos) << listed.body;
    const std::string file = "/ExperimentRun/dcid.tale/system_logs/lifecycle.txt";
    EXPECT_TRUE(world_.body_of(send("GET", file)).ends_with(" Running\n"));
    world_.set_status("tale", JobStatus::Completed);
    const std::string grown = world_.body_of(send("GET", file));
    EXPECT_TRUE(grown.ends_with(" Completed\n")) << grown;
    EXPECT_NE(grown.find(" Running\n"), std::string::npos) << grown;
    EXPECT_EQ(send("GET", "/ExperimentRun/dcid.nobody/system_logs/lifecycle.txt").status, 404);
}

TEST_F(BlobRoutes, PutsAndGetsUnderBothSpellingsOfTheAccount) {
    const auto made = send("PUT", "/a%20b/%25%23.txt", {"", "hello", {{"x-ms-blob-type", "BlockBlob"}}});
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_TRUE(header(made, "ETag").starts_with("\""));
    EXPECT_NE(header(made, "Last-Modified"), "");
    root_ = "/storage/acct/azureml-blobstore";
    const auto got = send("GET", "/a%20b/%25%23.txt");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(world_.body_of(got), "hello");
    EXPECT_EQ(header(got, "x-ms-blob-type"), "BlockBlob");
    EXPECT_EQ(header(got, "ETag"), header(made, "ETag"));
}

TEST_F(BlobRoutes, AnswersRangesAsTheSdkAsksForThem) {
    ASSERT_EQ(put("/f", "0123456789").status, 201);
    const auto part = send("GET", "/f", {"", "", {{"x-ms-range", "bytes=2-4"}}});
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(header(part, "Content-Range"), "bytes 2-4/10");
    EXPECT_EQ(world_.body_of(part), "234");
    EXPECT_EQ(send("GET", "/f", {"", "", {{"x-ms-range", "bytes=0-33554431"}}}).status, 206);
    EXPECT_EQ(send("GET", "/f", {"", "", {{"Range", "bytes=10-"}}}).status, 416);
    EXPECT_EQ(send("GET", "/f", {"", "", {{"If-Match", "\"other\""}}}).status, 412);
    ASSERT_EQ(put("/empty", "").status, 201);
    const auto none = send("GET", "/empty", {"", "", {{"x-ms-range", "bytes=0-33554431"}}});
    EXPECT_EQ(none.status, 416);
    EXPECT_EQ(header(none, "x-ms-error-code"), "InvalidRange");
    EXPECT_EQ(send("GET", "/empty").status, 200);
}

TEST_F(BlobRoutes, TellsWhatIsAbsent) {
    const auto head = send("HEAD", "/none");
    EXPECT_EQ(head.status, 404);
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(header(head, "x-ms-error-code"), "BlobNotFound");
    EXPECT_NE(send("GET", "/none").body.find("<Code>BlobNotFound</Code>"), std::string::npos);
    EXPECT_EQ(send("HEAD", "/none/").status, 404) << "the question whether it is a folder";
    EXPECT_EQ(world_.call({"GET", "/storage/acct/nocontainer/x", "", {}}).status, 404);
}

TEST_F(BlobRoutes, KeepsMetadataAndShowsItInHeadAndList) {
    ASSERT_EQ(put("/f", "x").status, 201);
    const std::map<std::string, std::string> marks = {{"x-ms-meta-upload_status", "completed"},
                                                      {"X-Ms-Meta-name", "n1"}};
    ASSERT_EQ(send("PUT", "/f", {"comp=metadata", "", marks}).status, 200);
    const auto head = send("HEAD", "/f");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.content_length, 1U);
    EXPECT_EQ(header(head, "x-ms-meta-upload_status"), "completed");
    const auto list = send("GET", "", {"restype=container&comp=list&include=metadata", "", {}});
    EXPECT_NE(list.body.find("<upload_status>completed</upload_status>"), std::string::npos) << list.body;
    EXPECT_EQ(send("PUT", "/none", {"comp=metadata", "", {}}).status, 404);
}

TEST_F(BlobRoutes, RefusesToOverwriteWhenAskedTo) {
    ASSERT_EQ(send("PUT", "/f", {"", "x", {{"If-None-Match", "*"}}}).status, 201);
    const auto again = send("PUT", "/f", {"", "y", {{"If-None-Match", "*"}}});
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(header(again, "x-ms-error-code"), "BlobAlreadyExists");
    EXPECT_EQ(put("/f", "z").status, 201);
    EXPECT_EQ(world_.body_of(send("GET", "/f")), "z");
}

TEST_F(BlobRoutes, ChecksTheBodysChecksum) {
    const std::string good = base64_encode(world_.crypto().md5("x"));
    EXPECT_EQ(send("PUT", "/f", {"", "x", {{"Content-MD5", good}}}).status, 201);
    EXPECT_EQ(send("PUT", "/g", {"", "y", {{"Content-MD5", good}}}).status, 400);
    EXPECT_EQ(send("HEAD", "/g").status, 404);
}

TEST_F(BlobRoutes, PutsBlocksInAnyOrder) {
    const std::string one = base64_encode("block-0001");
    const std::string two = base64_encode("block-0002");
    ASSERT_EQ(send("PUT", "/big", {"comp=block&blockid=" + percent_encode(two), "world", {}}).status, 201);
    ASSERT_EQ(send("PUT", "/big", {"comp=block&blockid=" + percent_encode(one), "hello ", {}}).status, 201);
    EXPECT_EQ(send("HEAD", "/big").status, 404);
    const std::string xml = "<?xml version='1.0'?><BlockList><Latest>" + one + "</Latest><Latest>" + two +
                            "</Latest></BlockList>";
    ASSERT_EQ(send("PUT", "/big", {"comp=blocklist", xml, {{"If-None-Match", "*"}}}).status, 201);
    EXPECT_EQ(world_.body_of(send("GET", "/big")), "hello world");
    EXPECT_EQ(send("PUT", "/big2", {"comp=blocklist", xml, {}}).status, 400);
    EXPECT_EQ(send("PUT", "/big2", {"comp=blocklist", "<BlockList><Latest>", {}}).status, 400);
    EXPECT_EQ(send("PUT", "/big2", {"comp=block&blockid=%2A", "x", {}}).status, 400);
}

TEST_F(BlobRoutes, RefusesXmlThatIsTooMuch) {
    std::string many = "<BlockList>";
    for (int i = 0; i < 50'001; ++i) many += "<Latest>YQ==</Latest>";
    EXPECT_EQ(send("PUT", "/x", {"comp=blocklist", many + "</BlockList>", {}}).status, 400);
    const std::string entities =
        "<!DOCTYPE x [<!ENTITY a \"aaaa\">]><BlockList><Latest>&a;</Latest></BlockList>";
    const auto refused = send("PUT", "/x", {"comp=blocklist", entities, {}});
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(header(refused, "x-ms-error-code"), "InvalidXmlDocument");
    EXPECT_EQ(send("PUT", "/x", {"comp=blocklist", std::string(9U << 20, ' '), {}}).status, 413);
}

TEST_F(BlobRoutes, RefusesMetadataThatIsTooMuch) {
    ASSERT_EQ(put("/f", "x").status, 201);
    std::map<std::string, std::string> many;
    for (int i = 0; i < 20; ++i) many["x-ms-meta-k" + std::to_string(i)] = std::string(500, 'v');
    for (const char* comp : {"comp=metadata", ""}) {
        const auto refused = send("PUT", "/f", {comp, "", many});
        EXPECT_EQ(refused.status, 400);
        EXPECT_EQ(header(refused, "x-ms-error-code"), "MetadataTooLarge");
    }
    EXPECT_EQ(send("PUT", "/f", {"comp=metadata", "", {{"x-ms-meta-", "v"}}}).status, 400);
    EXPECT_TRUE(world_.blobs().find("azureml-blobstore", "f").value()->metadata.empty());
}

TEST_F(BlobRoutes, KeepsToItsConditions) {
    const auto made = put("/f", "1");
    const std::string etag = header(made, "ETag");
    EXPECT_EQ(send("GET", "/f", {"", "", {{"If-None-Match", etag}}}).status, 304);
    EXPECT_EQ(send("GET", "/f", {"", "", {{"If-None-Match", "*"}}}).status, 304);
    EXPECT_EQ(send("GET", "/f", {"", "", {{"If-Match", "\"a\", " + etag}}}).status, 200);
    EXPECT_EQ(send("GET", "/f", {"", "", {{"If-Modified-Since", "Fri, 02 Jan 2099 03:04:05 GMT"}}}).status,
              304);
    EXPECT_EQ(send("GET", "/f", {"", "", {{"If-Modified-Since", "nonsense"}}}).status, 200);
    EXPECT_EQ(send("GET", "/f", {"", "", {{"If-Unmodified-Since", "Fri, 02 Jan 1999 03:04:05 GMT"}}}).status,
              412);
    EXPECT_EQ(send("PUT", "/f", {"", "2", {{"If-Match", "\"a\""}}}).status, 412);
    EXPECT_EQ(send("PUT", "/none", {"", "2", {{"If-Match", "*"}}}).status, 412);
    EXPECT_EQ(
        send("DELETE", "/f", {"", "", {{"If-Unmodified-Since", "Fri, 02 Jan 1999 03:04:05 GMT"}}}).status,
        412);
    EXPECT_EQ(send("PUT", "/f", {"comp=metadata", "", {{"If-None-Match", etag}}}).status, 412);
    EXPECT_EQ(world_.body_of(send("GET", "/f")), "1");
    EXPECT_EQ(send("PUT", "/f", {"", "2", {{"If-Match", etag}}}).status, 201);
}

TEST_F(BlobRoutes, SaysWhatItDoesNotDo) {
    const auto code = [&](const std::string& method, const std::string& path, const Send& with) {
        return header(send(method, path, with), "x-ms-error-code");
    };
    EXPECT_EQ(code("PUT", "/f", {"", "", {{"x-ms-blob-type", "AppendBlob"}}}), "UnsupportedHeader");
    EXPECT_EQ(code("PUT", "/f", {"comp=appendblock", "x", {}}), "InvalidBlobType");
    EXPECT_EQ(code("PUT", "/f", {"comp=lease", "", {}}), "UnsupportedQueryParameter");
    EXPECT_EQ(code("PUT", "/f", {"", "", {{"x-ms-lease-id", "1"}}}), "LeaseNotPresentWithBlobOperation");
    EXPECT_EQ(code("PUT", "/f", {"", "", {{"x-ms-copy-source", "https://elsewhere/c/b"}}}),
              "CannotVerifyCopySource");
    EXPECT_EQ(code("GET", "", {"comp=list&maxresults=0", "", {}}), "OutOfRangeQueryParameterValue");
    EXPECT_EQ(code("PUT", "", {"restype=container", "", {}}), "ContainerAlreadyExists");
    EXPECT_EQ(code("DELETE", "", {"restype=container", "", {}}), "AuthorizationFailure");
    EXPECT_EQ(code("PUT", "/f", {"", "x", {{"Content-MD5", "short"}}}), "InvalidMd5");
}

TEST_F(BlobRoutes, ARefusedUploadLeavesNothingBehind) {
    for (const char* query : {"comp=block&blockid=AAAA", ""})
        EXPECT_EQ(send("PUT", "/a//b", {query, "x", {{"Content-Length", "1"}}}).status, 400) << query;
    EXPECT_TRUE(list_directory(world_.blobs().temporary_folder())->empty());
}

TEST_F(BlobRoutes, WhatTakesLongKeepsNoIoThreadBusy) {
    const std::string large((1U << 20) + 1, 'x');
    const auto slow = [&](const std::string& method, const std::string& path, const Send& with) {
        const int before = world_.ran_slowly;
        const int status = send(method, path, with).status;
        EXPECT_LT(status, 300) << method << path << with.query;
        return world_.ran_slowly - before;
    };
    EXPECT_EQ(slow("PUT", "/small", {"", "x", {}}), 0);
    EXPECT_EQ(slow("GET", "/small", {}), 0);
    EXPECT_EQ(slow("PUT", "/large", {"", large, {}}), 1);
    EXPECT_EQ(slow("PUT", "/b", {"comp=block&blockid=AAAA", "x", {}}), 0);
    EXPECT_EQ(slow("PUT", "/b", {"comp=block&blockid=AAAA", large, {}}), 1);
    EXPECT_EQ(slow("PUT", "/b", {"comp=blocklist", "<BlockList><Latest>AAAA</Latest></BlockList>", {}}), 1);
    EXPECT_EQ(slow("GET", "", {"restype=container&comp=list", "", {}}), 1);
    EXPECT_EQ(slow("DELETE", "/b", {}), 1);
}

TEST_F(BlobRoutes, TheAccountLooksAtACredentialOnce) {
    const auto listed = [&](const std::string& authorization) {
        return world_.call({"GET", "/storage/acct?comp=list", "", {{"Authorization", authorization}}});
    };
    const auto owners = listed("Bearer " + world_.owner_key);
    EXPECT_EQ(owners.status, 200) << owners.body;
    EXPECT_NE(owners.body.find("<Name>azureml-blobstore</Name>"), std::string::npos) << owners.body;
    EXPECT_EQ(world_.call({"GET", "/storage/acct?comp=list&prefix=none", "", {}}).status, 200);
    EXPECT_EQ(world_.call({"GET", "/storage/acct?comp=list", "", {}, false}).status, 401);
    EXPECT_EQ(world_.call({"GET", "/storage/acct?comp=list&" + sas_ + "x", "", {}, false}).status, 403);
    EXPECT_EQ(world_.call({"GET", "/storage/acct?comp=list&" + sas_, "", {}, false}).status, 200);
    // However many containers there are, a wrong key is one wrong try: the address may go on.
    for (int i = 0; i < 10; ++i)
        ASSERT_EQ(world_.call({"PUT",
                               kWs + "/datastores/d" + std::to_string(i),
                               R"({"properties":{"datastoreType":"AzureBlob","accountName":"a",)"
                               R"("containerName":"c","credentials":{"credentialsType":"None"}}})",
                               {}})
                          .status /
                      100,
                  2);
    EXPECT_EQ(listed("Bearer lvk_wrong").status, 401);
    EXPECT_EQ(listed("Bearer " + world_.owner_key).status, 200);
}

TEST_F(BlobRoutes, ListsWithPrefixDelimiterAndMarker) {
    for (const char* name : {"d/a", "d/b", "d/e/f", "x%26y"})
        ASSERT_EQ(put(std::string("/") + name, "1").status, 201) << name;
    const auto all = send("GET", "", {"restype=container&comp=list&prefix=d%2F&delimiter=%2F", "", {}});
    EXPECT_EQ(all.status, 200);
    EXPECT_NE(all.body.find("<Name>d/a</Name>"), std::string::npos) << all.body;
    EXPECT_NE(all.body.find("<BlobPrefix><Name>d/e/</Name></BlobPrefix>"), std::string::npos);
    EXPECT_EQ(all.body.find("<Name>d/e/f</Name>"), std::string::npos);
    EXPECT_NE(send("GET", "", {"comp=list", "", {}}).body.find("<Name>x&amp;y</Name>"), std::string::npos);
    const auto first = send("GET", "", {"comp=list&maxresults=1", "", {}});
    const std::size_t marker = first.body.find("<NextMarker>") + 12;
    const std::string next = first.body.substr(marker, first.body.find("</NextMarker>") - marker);
    ASSERT_FALSE(next.empty());
    const auto second = send("GET", "", {"comp=list&maxresults=1&marker=" + percent_encode(next), "", {}});
    EXPECT_EQ(second.body.find("<Name>d/a</Name>"), std::string::npos);
}

TEST_F(BlobRoutes, RefusesWithoutAPermissionAndSaysWhy) {
    const auto bare = world_.call({"GET", root_ + "/f", "", {}, false});
    EXPECT_EQ(bare.status, 401);
    EXPECT_NE(header(bare, "x-ms-error-code"), "");
    EXPECT_EQ(world_.call({"GET", "/storage/acct/azureml/f?" + sas_, "", {}, false}).status, 403)
        << "other container";
    EXPECT_EQ(world_.call({"GET", root_ + "/f?" + sas_ + "x", "", {}, false}).status, 403);
    EXPECT_EQ(world_.call({"GET", root_ + "/f", "", {{"Authorization", "SharedKey acct:x"}}, false}).status,
              403);
    EXPECT_EQ(world_.call({"PUT", root_ + "/f", std::string(100'000, 'x'), {}, false}).status, 413)
        << "not spooled";
}

TEST_F(BlobRoutes, TakesABearerTokenToo) {
    EXPECT_EQ(world_.call({"PUT", root_ + "/f", "x", {}}).status, 201);
    EXPECT_EQ(world_.call({"GET", root_ + "/f", "", {}}).status, 200);
    EXPECT_EQ(world_.call({"DELETE", root_ + "/f", "", {}}).status, 202);
    EXPECT_EQ(world_.call({"DELETE", root_ + "/f", "", {}}).status, 404);
}

TEST_F(BlobRoutes, NeverLeavesTheContainer) {
    for (const char* path : {"/../azureml/x", "/%2e%2e/azureml/x", "/a/..%2F..%2Fx", "/.", "/a//b", "/%00",
                             "/.lavant-staging/7-1/x", "/.lavant-staging"}) {
        EXPECT_EQ(put(path, "x").status, 400) << path;
        EXPECT_GE(send("GET", path).status, 400) << path;
    }
    EXPECT_GE(world_.call({"GET", "/storage/acct/..%2F..%2Fetc/passwd", "", {}}).status, 400);
    EXPECT_GE(world_.call({"GET", "/storage/acct/.tmp/x", "", {}}).status, 400);
    EXPECT_EQ(put("/" + std::string(1025, 'a'), "x").status, 400);
}

TEST_F(BlobRoutes, RefusesUploadsOnAFullDiskButStillDeletes) {
    TestWorld full;
    full.free_bytes_min = ~0ULL;
    const auto refused = full.call({"PUT", root_ + "/f", "x", {}});
    EXPECT_EQ(refused.status, 507);
    EXPECT_NE(refused.body.find("delete old jobs"), std::string::npos);
    ASSERT_TRUE(full.blobs().put_bytes("azureml-blobstore", "g", "x"));
    EXPECT_EQ(full.call({"DELETE", root_ + "/g", "", {}}).status, 202);
}

TEST(XmlEscape, MakesTextThatIsAlwaysXml) {
    EXPECT_EQ(xml_escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&apos;");
    EXPECT_EQ(xml_escape(std::string_view("\0\x1f\t", 3)), "\xef\xbf\xbd\xef\xbf\xbd\t");
    EXPECT_EQ(xml_escape("\xff<\xc3"), "\xef\xbf\xbd&lt;\xef\xbf\xbd");
    EXPECT_EQ(xml_escape("\xef\xbf\xbe\xef\xbf\xbf!"), "\xef\xbf\xbd\xef\xbf\xbd!");
    EXPECT_EQ(xml_escape("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
    EXPECT_EQ(xml_escape(""), "");
}

TEST(ByteRange, ReadsEveryFormAndTakesNonsenseAsTheWhole) {
    EXPECT_EQ(resolve_range("bytes=-3", 10).offset, 7U);
    EXPECT_EQ(resolve_range("bytes=5-", 10).bytes, 5U);
    EXPECT_EQ(resolve_range("bytes=5-100", 10).bytes, 5U);
    EXPECT_EQ(resolve_range("bytes=0-9223372036854775807", 10).bytes, 10U);
    EXPECT_EQ(resolve_range("bytes=-0", 10).kind, ByteRange::Kind::Impossible);
    EXPECT_EQ(resolve_range("bytes=0-", 0).kind, ByteRange::Kind::Impossible);
    for (const char* odd : {"", "bytes", "bytes=", "bytes=-", "bytes=3-2", "bytes=a-b", "items=1-2",
                            "bytes=1-2,4-5", "bytes=--1", "bytes=99999999999999999999-"})
        EXPECT_EQ(resolve_range(odd, 10).kind, ByteRange::Kind::Whole) << odd;
}

TEST(BlockList, ReadsIdsInOrderAndRefusesTheRest) {
    const auto blocks = parse_block_list(
        "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<BlockList>\n <Latest>YQ==</Latest>"
        "<Committed>Yg==</Committed><Uncommitted>Yw==</Uncommitted></BlockList>");
    ASSERT_TRUE(blocks && blocks->size() == 3);
    using From = ports::BlockRef::From;
    EXPECT_EQ(blocks->at(0).id, "YQ==");
    EXPECT_EQ(blocks->at(0).from, From::Latest);
    EXPECT_EQ(blocks->at(1).from, From::Committed);
    EXPECT_EQ(blocks->at(2).from, From::Uncommitted);
    EXPECT_TRUE(parse_block_list("<BlockList />")->empty());
    for (const char* bad :
         {"", "<BlockList>", "<BlockList><Other>x</Other></BlockList>", "<BlockList><Latest>a</BlockList>",
          "<BlockList><Latest><x/></Latest></BlockList>"})
        EXPECT_FALSE(parse_block_list(bad)) << bad;
}

}  // namespace
}  // namespace lavant::api
