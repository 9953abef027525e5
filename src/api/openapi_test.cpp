// protocol/openapi.json describes every route of the server, and no other. tools/openapi.py writes it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "api/test_world.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::api {
namespace {

constexpr std::size_t kDescriptionBytesMax = 8U << 20;

std::string_view name_of(Need need) {
    switch (need) {
        case Need::Nothing:
            return "nothing";
        case Need::SignedIn:
            return "signed-in";
        case Need::ServerReader:
            return "server-reader";
        case Need::ServerOwner:
            return "server-owner";
        case Need::Reader:
            return "reader";
        case Need::Contributor:
            return "contributor";
        case Need::Owner:
            return "owner";
        case Need::Storage:
            return "storage";
    }
    return "";
}

// "{blob*}" is "{blob}" in the file: OpenAPI has no word for a remainder with slashes.
std::string described(const RouteRow& row) {
    std::string pattern = row.pattern;
    if (pattern.ends_with("*}")) pattern.erase(pattern.size() - 2, 1);
    return to_lower(row.method) + " " + pattern;
}

TEST(OpenApi, DescribesEveryRouteAndNoOther) {
    TestWorld world;
    // tools/openapi.py asks for the list this way.
    if (const char* wanted = std::getenv("LAVANT_ROUTES_OUT")) {
        std::ofstream out(wanted);
        for (const RouteRow& row : world.api().routes())
            out << row.method << ' ' << row.pattern << ' ' << name_of(row.need) << '\n';
        return;
    }
    const auto text =
        read_file(std::string(LAVANT_SOURCE_DIR) + "/protocol/openapi.json", kDescriptionBytesMax);
    ASSERT_TRUE(text) << text.error().message;
    const auto file = wire::parse_json(*text);
    ASSERT_TRUE(file) << file.error().message;
    std::set<std::string> in_file;
    for (const auto& [path, methods] : (*file)["paths"].members())
        for (const auto& [method, operation] : methods.members())
            if (method != "parameters") in_file.insert(method + " " + path);
    std::set<std::string> here;
    for (const RouteRow& row : world.api().routes()) here.insert(described(row));
    for (const std::string& route : here)
        EXPECT_TRUE(in_file.contains(route)) << route << " is not described: run tools/openapi.py";
    for (const std::string& route : in_file)
        EXPECT_TRUE(here.contains(route)) << route << " is described and not there: run tools/openapi.py";
}

}  // namespace
}  // namespace lavant::api
