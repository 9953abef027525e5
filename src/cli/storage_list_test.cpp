#include "cli/storage_list.h"

#include <gtest/gtest.h>

namespace lavant::cli {
namespace {

TEST(StorageList, ReadsNamesSizesAndTheMarker) {
    const BlobPage page = parse_blob_list(
        "<?xml version=\"1.0\"?><EnumerationResults ContainerName=\"c\"><Blobs>"
        "<Blob><Name>a &amp; "
        "b/&lt;x&gt;.txt</Name><Properties><Content-Length>12</Content-Length></Properties></Blob>"
        "<Blob><Name>empty</Name><Properties><Content-Length>0</Content-Length></Properties></Blob>"
        "<BlobPrefix><Name>folder/</Name></BlobPrefix>"
        "</Blobs><NextMarker>m&amp;1</NextMarker></EnumerationResults>");
    EXPECT_EQ(page.blobs, (std::vector<ListedBlob>{{"a & b/<x>.txt", 12}, {"empty", 0}}));
    EXPECT_EQ(page.next_marker, "m&1");
    EXPECT_EQ(page.folders, std::vector<std::string>{"folder/"});
}

TEST(StorageList, ReadsTimesChecksumsAndEncodedNames) {
    const BlobPage page = parse_blob_list(
        "<Blobs><Blob><Name Encoded=\"true\">a%01b</Name><Properties><Last-Modified>Fri, 02 Jan 2026 "
        "03:04:05 "
        "GMT</Last-Modified><Content-Length>1</Content-Length><Content-MD5>YQ==</Content-MD5></Properties></"
        "Blob>"
        "</Blobs>");
    EXPECT_EQ(page.blobs, (std::vector<ListedBlob>{{"a\x01"
                                                    "b",
                                                    1, "Fri, 02 Jan 2026 03:04:05 GMT", "YQ=="}}));
}

TEST(StorageList, GivesNothingForWhatIsNoList) {
    EXPECT_TRUE(parse_blob_list("").blobs.empty());
    EXPECT_TRUE(parse_blob_list("<Blob><Name>x").blobs.empty());
    EXPECT_EQ(parse_blob_list("<NextMarker/>").next_marker, "");
}

}  // namespace
}  // namespace lavant::cli
