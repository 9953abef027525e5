#include "adapters/http_client/proxy.h"

#include <gtest/gtest.h>

#include <map>

namespace lavant::adapters::http_client {
namespace {

std::string chosen(const std::string& url, std::map<std::string, std::string> environment) {
    const auto proxy = proxy_for(*net::parse_target(url), [&](const std::string& name) {
        const auto found = environment.find(name);
        return found == environment.end() ? std::string() : found->second;
    });
    if (!proxy) return "error";
    return *proxy ? (*proxy)->target.authority() + (*proxy)->authorization : "none";
}

TEST(Proxy, IsWhatTheEnvironmentNames) {
    EXPECT_EQ(chosen("https://a.org/", {}), "none");
    EXPECT_EQ(chosen("https://a.org/", {{"https_proxy", "http://p:3128"}}), "p:3128");
    EXPECT_EQ(chosen("https://a.org/", {{"HTTPS_PROXY", "p:3128"}}), "p:3128");
    EXPECT_EQ(chosen("https://a.org/", {{"ALL_PROXY", "http://p:3128/"}}), "p:3128");
    EXPECT_EQ(chosen("http://a.org/", {{"http_proxy", "http://p:3128"}}), "p:3128");
    EXPECT_EQ(chosen("http://a.org/", {{"HTTP_PROXY", "http://p:3128"}}), "none");
    EXPECT_EQ(chosen("https://a.org/", {{"https_proxy", "http://u:p%40ss@p:3128"}}),
              "p:3128Basic dTpwQHNz");  // u:p@ss
    EXPECT_EQ(chosen("https://a.org/", {{"https_proxy", "socks5://p"}}), "error");
    EXPECT_EQ(chosen("https://a.org/", {{"https_proxy", "https://p"}}), "error");
}

TEST(Proxy, IsNotForThisMachine) {
    for (const char* url : {"https://localhost:1/", "https://LOCALHOST/", "https://a.localhost/",
                            "https://127.0.0.2/", "https://[::1]:5/"})
        EXPECT_EQ(chosen(url, {{"https_proxy", "http://p:1"}}), "none") << url;
}

TEST(Proxy, IsNotForThoseThatNoProxyNames) {
    const auto is_direct = [](const std::string& url, const std::string& list) {
        return chosen(url, {{"https_proxy", "http://p:1"}, {"no_proxy", list}}) == "none";
    };
    EXPECT_TRUE(is_direct("https://a.org/", "*"));
    EXPECT_TRUE(is_direct("https://A.org/", "b.org, a.ORG"));
    EXPECT_TRUE(is_direct("https://x.a.org/", "a.org"));
    EXPECT_TRUE(is_direct("https://x.a.org/", ".a.org"));
    EXPECT_FALSE(is_direct("https://xa.org/", "a.org"));
    EXPECT_FALSE(is_direct("https://a.org/", ","));
    EXPECT_TRUE(is_direct("https://10.1.2.3/", "10.0.0.0/8"));
    EXPECT_FALSE(is_direct("https://11.1.2.3/", "10.0.0.0/8"));
    EXPECT_TRUE(is_direct("https://10.1.2.3/", "10.1.2.3"));
    EXPECT_TRUE(is_direct("https://[fd00::1]/", "[fd00::1]"));
    EXPECT_TRUE(is_direct("https://[fd00::1]/", "fd00::/8"));
    EXPECT_FALSE(is_direct("https://10.1.2.3/", "a.org,x/8,10.0.0.0/99"));
}

}  // namespace
}  // namespace lavant::adapters::http_client
