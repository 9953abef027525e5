#include "core/spec/output_path.h"

#include <gtest/gtest.h>

namespace lavant::spec {
namespace {

std::string wrong(std::string_view path) {
    return find_output_problem("azureml://datastores/workspaceblobstore/paths/" + std::string(path))
        .value_or("fine");
}

TEST(OutputPath, TakesWhatABlobStoreCanKeep) {
    for (const char* path :
         {"a", "a/", "a/b/c", "/a", "a b/ü", "models/${{name}}/", "a..b/...", ".hidden", "x/.lavant-staging"})
        EXPECT_EQ(wrong(path), "fine") << path;
    EXPECT_EQ(wrong(std::string(245, 'x') + "/" + std::string(245, 'y')), "fine");
    EXPECT_EQ(find_output_problem("https://elsewhere//x"), std::nullopt);
    EXPECT_EQ(find_output_problem("azureml://datastores/d"), std::nullopt);
}

TEST(OutputPath, NamesWhatCannotBe) {
    EXPECT_NE(wrong("").find("names nothing below paths/"), std::string::npos);
    EXPECT_NE(wrong("/").find("names nothing"), std::string::npos);
    EXPECT_NE(wrong("a//b").find("is empty"), std::string::npos);
    EXPECT_NE(wrong("a//").find("is empty"), std::string::npos);
    EXPECT_NE(wrong("a/./b").find("'.' is not a name"), std::string::npos);
    EXPECT_NE(wrong("../b").find("'..' is not a name"), std::string::npos);
    EXPECT_NE(wrong("a/" + std::string(246, 'x')).find("longer than 245 bytes"), std::string::npos);
    EXPECT_NE(wrong(".lavant-staging/7-1").find("server's own"), std::string::npos);
    EXPECT_NE(wrong("a\nb").find("control character"), std::string::npos);
    EXPECT_NE(wrong(std::string("a\0b", 3)).find("control character"), std::string::npos);
    std::string deep = "a";
    for (int i = 0; i < 32; ++i) deep += "/a";
    EXPECT_NE(wrong(deep).find("fewer folders"), std::string::npos);
    std::string length = std::string(240, 'x');
    for (int i = 0; i < 4; ++i) length += "/" + std::string(240, 'x');
    EXPECT_NE(wrong(length).find("longer than 1024 bytes"), std::string::npos);
}

}  // namespace
}  // namespace lavant::spec
