#include "api/webhooks.h"

#include <gtest/gtest.h>

#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

NotifyOfJob a_notice() {
    return {.job = {7},
            .workspace = "default",
            .name = "pear",
            .url = "https://Hooks.example:8443/x?y",
            .status = "Running",
            .detail = "on node-1",
            .sequence = 12,
            .at_micros = 1'000'000};
}

TEST(Webhooks, SignWhatTheySay) {
    TestWorld world;
    const Webhooks hooks(world.crypto(), "secret");
    const ports::ClientRequest request = hooks.request_for(a_notice(), from_micros(99'000'000));
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(
        request.body,
        R"({"sequence":12,"at":"1970-01-01T00:00:01.000000Z","job":"pear","status":"Running","detail":"on node-1"})");
    const std::string expected =
        "t=99,v1=" + to_hex(world.crypto().hmac_sha256(hooks.secret_of("default"), "99." + request.body));
    bool found = false;
    for (const auto& [name, value] : request.headers)
        found = found || (name == "Lavant-Signature" && value == expected);
    EXPECT_TRUE(found);
    EXPECT_NE(hooks.secret_of("default"), hooks.secret_of("w1"));
    EXPECT_NE(Webhooks(world.crypto(), "other").secret_of("default"), hooks.secret_of("default"));
}

TEST(Webhooks, TryAgainOnlyWhatMayPass) {
    const auto code_of = [](int status) {
        ports::HttpResponse response;
        response.status = status;
        const auto judged = Webhooks::judge(a_notice(), response);
        return judged ? 0 : judged.error().code == ErrorCode::Unavailable ? 1 : 2;
    };
    for (const int fine : {200, 201, 204}) EXPECT_EQ(code_of(fine), 0) << fine;
    for (const int later : {408, 425, 429, 500, 503}) EXPECT_EQ(code_of(later), 1) << later;
    for (const int never : {301, 400, 403, 404, 410}) EXPECT_EQ(code_of(never), 2) << never;
    const std::pair<ErrorCode, ErrorCode> failures[] = {
        {ErrorCode::Internal, ErrorCode::Unavailable},
        {ErrorCode::Unavailable, ErrorCode::Unavailable},
        {ErrorCode::DeadlineExceeded, ErrorCode::DeadlineExceeded},
        {ErrorCode::InvalidArgument, ErrorCode::InvalidArgument},  // a URL that is none
    };
    for (const auto& [failure, judged] : failures)
        EXPECT_EQ(Webhooks::judge(a_notice(), fail(failure, "no")).error().code, judged);
}

TEST(Webhooks, KnowTheirHost) {
    EXPECT_EQ(host_of_url("https://Hooks.example:8443/x?y"), "hooks.example");
    EXPECT_EQ(host_of_url("http://[::1]:80/"), "[::1]");
    EXPECT_EQ(host_of_url("nonsense"), "");
}

}  // namespace
}  // namespace lavant::api
