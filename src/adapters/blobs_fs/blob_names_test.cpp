#include "adapters/blobs_fs/blob_names.h"

#include <gtest/gtest.h>

#include <string>

namespace lavant::blobs {
namespace {

std::string deep(std::size_t segments) {
    std::string name = "a";
    for (std::size_t i = 1; i < segments; ++i) name += "/a";
    return name;
}

TEST(BlobNames, OrdinaryNamesAreTaken) {
    for (const std::string& name :
         {std::string("a"), std::string("ExperimentRun/dcid.job/user_logs/std_log.txt"), std::string("..."),
          std::string("a b/c\nd"), std::string("\xff\xfe"), std::string("-rf"), std::string("a/.hidden"),
          std::string("~/x"), std::string("C:\\x"), std::string(kSegmentBytes, 'x'), deep(kSegments)})
        EXPECT_TRUE(check_blob_name(name)) << name;
}

TEST(BlobNames, NamesThatCouldLeaveTheirPlaceOrBreakItAreRefused) {
    const std::string at_limit = std::string(240, 'x') + "/";
    std::string long_name;
    while (long_name.size() <= kNameBytes) long_name += at_limit;
    for (const std::string& name :
         {std::string(), std::string("/"), std::string("/etc/passwd"), std::string("a//b"), std::string("a/"),
          std::string("."), std::string(".."), std::string("../x"), std::string("a/../../x"),
          std::string("a/./b"), std::string("a/.."), std::string("a\0b", 3),
          std::string(kSegmentBytes + 1, 'x'), deep(kSegments + 1), long_name + "x"}) {
        const auto checked = check_blob_name(name);
        ASSERT_FALSE(checked) << name;
        EXPECT_EQ(checked.error().code, ErrorCode::InvalidArgument);
        EXPECT_LT(checked.error().message.size(), 300U);
    }
}

TEST(BlobNames, ContainersHaveTamerNames) {
    for (const char* name : {"azureml", "azureml-blobstore", "code-1f2e", "a", "A_b.c"})
        EXPECT_TRUE(check_container_name(name)) << name;
    for (const std::string& name :
         {std::string(), std::string(".tmp"), std::string(".meta"), std::string(".."), std::string("a/b"),
          std::string("a b"), std::string("-a"), std::string(64, 'a'), std::string("a\0", 2)})
        EXPECT_FALSE(check_container_name(name)) << name;
}

TEST(BlobNames, SideFilesOfDifferentBlobsNeverMeet) {
    EXPECT_EQ(side_path("c", "x/y", ".meta"), "c/x.d/y.meta");
    EXPECT_EQ(side_path("c", "a", ".meta"), "c/a.meta");
    EXPECT_EQ(side_path("c", "a.meta/b", ".meta"), "c/a.meta.d/b.meta");
    EXPECT_EQ(side_path("c", "a.d", ".meta"), "c/a.d.meta");
}

}  // namespace
}  // namespace lavant::blobs
