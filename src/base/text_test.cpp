#include "base/text.h"

#include <gtest/gtest.h>

namespace lavant {
namespace {

TEST(Text, PartsTheWordsOfCamelCase) {
    EXPECT_EQ(part_words("instanceCount", '_'), "instance_count");
    EXPECT_EQ(part_words("PyTorch", ' '), "py torch");
    EXPECT_EQ(part_words("", '_'), "");
}

TEST(Text, KnowsThisMachine) {
    for (const char* url :
         {"https://127.0.0.1:8443", "https://localhost/x", "https://[::1]:1", "https://127.1"})
        EXPECT_TRUE(is_loopback_url(url)) << url;
    for (const char* url :
         {"https://127.evil.org", "https://localhost.org", "http://127.0.0.1", "https://[::1]x", ""})
        EXPECT_FALSE(is_loopback_url(url)) << url;
}

TEST(Text, EncodesAndDecodesBase64) {
    for (const std::string bytes : {"", "f", "fo", "foo", "foob", "\x00\xff\x10"}) {
        EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
        EXPECT_EQ(base64url_decode(base64url_encode(bytes)), bytes);
    }
    EXPECT_EQ(base64_encode("fo"), "Zm8=");
    EXPECT_FALSE(base64_decode("a"));
    EXPECT_FALSE(base64_decode("!!!!"));
}

TEST(Text, PercentCodesBothWays) {
    EXPECT_EQ(percent_decode("a%20b%2Fc"), "a b/c");
    EXPECT_EQ(percent_decode("100%"), "100%");
    EXPECT_EQ(percent_encode("a b/\xc3\xa9"), "a%20b%2F%C3%A9");
}

TEST(Text, QuotesJsonWhateverTheBytes) {
    EXPECT_EQ(json_quote("a\"\\\n\x01"), R"("a\"\\\n\u0001")");
    EXPECT_EQ(json_quote(""), "\"\"");
    EXPECT_EQ(json_quote("plain, then \" and \xc3\xbc and \x7f, plain"),
              "\"plain, then \\\" and \xc3\xbc and \x7f, plain\"");
    EXPECT_EQ(json_quote("\xff"), "\"\xef\xbf\xbd\"");
    EXPECT_EQ(json_quote("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(Text, SuggestsTheNearestWordOnlyWhenItIsNear) {
    const std::vector<std::string> keys{"command", "compute", "environment"};
    EXPECT_EQ(nearest("comand", keys), "command");
    EXPECT_EQ(nearest("enviroment", keys), "environment");
    EXPECT_FALSE(nearest("zebra", keys));
}

TEST(Text, ParsesWholeIntegersOnly) {
    EXPECT_EQ(parse_integer("-12"), -12);
    for (const char* text : {"", "1x", "99999999999999999999", " 1"})
        EXPECT_FALSE(parse_integer(text)) << text;
}

TEST(Text, QuotesForTheShell) { EXPECT_EQ(shell_quote("it's"), "'it'\\''s'"); }

}  // namespace
}  // namespace lavant
