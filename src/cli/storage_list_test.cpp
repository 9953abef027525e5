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
}

TEST(StorageList, GivesNothingForWhatIsNoList) {
    EXPECT_TRUE(parse_blob_list("").blobs.empty());
    EXPECT_TRUE(parse_blob_list("<Blob><Name>x").blobs.empty());
    EXPECT_EQ(parse_blob_list("<NextMarker/>").next_marker, "");
}

}  // namespace
}  // namespace lavant::cli
