#include "net/target.h"

#include <gtest/gtest.h>

namespace lavant::net {
namespace {

TEST(Target, ReadsAddresses) {
    const auto plain = parse_target("http://example.com");
    ASSERT_TRUE(plain);
    EXPECT_FALSE(plain->tls);
    EXPECT_EQ(plain->authority(), "example.com");
    EXPECT_EQ(plain->path, "/");
    const auto full = parse_target("HTTPS://[::1]:8443/a/b?c=d#e");
    ASSERT_TRUE(full);
    EXPECT_EQ(full->host, "::1");
    EXPECT_EQ(full->port, "8443");
    EXPECT_EQ(full->path, "/a/b?c=d");
    EXPECT_EQ(full->authority(), "[::1]:8443");
    EXPECT_EQ(parse_target("https://h?q")->path, "/?q");
}

TEST(Target, RefusesWhatIsNone) {
    for (const char* bad : {"", "ftp://x", "https://", "https://h:0", "https://h:x", "https://u:p@h/",
                            "https://h/a b", "https://h/\r\nX: y", "file:///x"})
        EXPECT_FALSE(parse_target(bad)) << bad;
}

TEST(Target, FollowsRedirects) {
    const Target from = *parse_target("https://h:1/a");
    EXPECT_EQ(follow(from, "/b")->authority(), "h:1");
    EXPECT_EQ(follow(from, "https://other/c")->host, "other");
    EXPECT_EQ(follow(from, "//third/d")->host, "third");
    EXPECT_FALSE(follow(from, "javascript:x"));
}

}  // namespace
}  // namespace lavant::net
