#include "api/shared_key.h"

#include <gtest/gtest.h>

#include "api/network_range.h"
#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

class SharedKey : public testing::Test {
 protected:
    SharedKey() {
        request_.method = "PUT";
        request_.path = "/storage/acct/c1/a%20b.txt";
        request_.query = "timeout=30&comp=metadata&a=2&A=1";
        request_.headers = {{"Host", "127.0.0.1:8443"},
                            {"x-ms-version", "2026-10-06"},
                            {"x-ms-date", to_http_date(world_.clock.at)},
                            {"X-Ms-Meta-b", " v "},
                            {"Content-Length", "0"},
                            {"Content-Type", "text/plain"},
                            {"If-None-Match", "*"}};
    }
    void sign(const std::string& scheme, const std::string& text) {
        request_.headers.emplace_back("Authorization",
                                      scheme + base64_encode(world_.crypto().hmac_sha256("key", text)));
    }
    bool is_good() { return check_shared_key(world_.crypto(), request_, "key", world_.clock.at).has_value(); }
    std::string own_headers() {
        return "x-ms-date:" + to_http_date(world_.clock.at) + "\nx-ms-meta-b:v\nx-ms-version:2026-10-06\n";
    }
    std::string full_text(const std::string& account) {
        return "PUT\n\n\n\n\ntext/plain\n\n\n\n*\n\n\n" + own_headers() + "/" + account +
               "/storage/acct/c1/a%20b.txt\na:1,2\ncomp:metadata\ntimeout:30";
    }

    TestWorld world_;
    ports::HttpRequest request_;
};

TEST_F(SharedKey, TakesTheDocumentedSignatureUnderEverySpellingOfTheAccount) {
    const auto headers = request_.headers;
    for (const std::string account : {"acct", "storage/acct", "acct.blob.core.windows.net",
                                      "storage/acct.blob.core.windows.net", "127.0.0.1:8443/storage/acct"}) {
        request_.headers = headers;
        sign("SharedKey " + account + ":", full_text(account));
        EXPECT_TRUE(is_good()) << account;
    }
    request_.headers = headers;
    sign("SharedKey other:", full_text("other"));
    EXPECT_FALSE(is_good());
}

TEST_F(SharedKey, TakesTheShortForm) {
    sign("SharedKeyLite acct:",
         "PUT\n\ntext/plain\n\n" + own_headers() + "/acct/storage/acct/c1/a%20b.txt?comp=metadata");
    EXPECT_TRUE(is_good());
}

TEST_F(SharedKey, RefusesWhatIsNotSignedOrLate) {
    sign("SharedKey acct:", full_text("acct"));
    ASSERT_TRUE(is_good());
    const ports::HttpRequest good = request_;
    request_.path += "x";
    EXPECT_FALSE(is_good());
    request_ = good;
    request_.query += "&x=1";
    EXPECT_FALSE(is_good());
    request_ = good;
    request_.headers.emplace_back("x-ms-copy-source", "x");
    EXPECT_FALSE(is_good());
    request_ = good;
    world_.clock.at += std::chrono::minutes(16);
    EXPECT_FALSE(is_good());
    world_.clock.at -= std::chrono::minutes(32);
    EXPECT_FALSE(is_good());
    request_.headers = {{"Authorization", "SharedKey acct"}};
    EXPECT_FALSE(is_good());
    request_.headers = {{"Authorization", "SharedKey acct:"}};
    EXPECT_FALSE(is_good());
}

TEST(HeaderOrder, LeavesHyphensOut) {
    EXPECT_TRUE(comes_before("x-ms-meta_a", "x-ms-meta-a")) << "signs come before letters";
    EXPECT_TRUE(comes_before("x-ms-ab", "x-ms-a-c"));
    EXPECT_TRUE(comes_before("x-ms-meta-1", "x-ms-meta-a"));
    EXPECT_FALSE(comes_before("x-ms-meta-a", "x-ms-meta-a"));
}

TEST(NetworkRange, HoldsItsEndsAndNothingElse) {
    EXPECT_TRUE(lies_in_range("10.0.0.7:5123", "10.0.0.7"));
    EXPECT_TRUE(lies_in_range("10.0.0.7:5123", "10.0.0.7-10.0.0.9"));
    EXPECT_TRUE(lies_in_range("10.0.0.9:1", "10.0.0.7-10.0.0.9"));
    EXPECT_FALSE(lies_in_range("10.0.0.10:1", "10.0.0.7-10.0.0.9"));
    EXPECT_TRUE(lies_in_range("[::1]:5123", "::1"));
    for (const char* odd : {"", "-", "10.0.0", "10.0.0.7-", "10.0.0.300", "a.b.c.d-1.2.3.4"})
        EXPECT_FALSE(lies_in_range("10.0.0.7:5123", odd)) << odd;
    EXPECT_FALSE(lies_in_range("", ""));
}

}  // namespace
}  // namespace lavant::api
