// One row for every route: what each kind of caller gets. A route without a row fails, so that nobody adds
// one without saying who may use it.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "api/route_table_rows_test.h"
#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

// Who asks, in the order of a row's letters.
enum Who { Nobody, AJob, Stranger, Reader, Contributor, Owner, ServerOwner, kWhoCount };

// The words that stand for longer ones in a row, the longest first.
std::string written_out(std::string pattern) {
    const std::pair<std::string, std::string> words[] = {
        {"{WS}", "{GROUP}{ML}/workspaces/{workspace}"},
        {"{REGISTRY}", "{GROUP}{ML}/registries/{registry}/environments"},
        {"{NETWORK}", "/providers/Microsoft.Network/virtualNetworks/{network}"},
        {"{GROUP}", "{SUB}/resourceGroups/{group}"},
        {"{SUB}", "/subscriptions/{subscription}"},
        {"{ML}", "/providers/Microsoft.MachineLearningServices"},
        {"{LOCKS}", "/providers/Microsoft.Authorization/locks"},
    };
    for (const auto& [word, text] : words)
        if (const std::size_t at = pattern.find(word); at != std::string::npos)
            pattern.replace(at, word.size(), text);
    return pattern;
}

std::string filled(std::string pattern) {
    const std::map<std::string, std::string> values{
        {"subscription", "s1"}, {"group", "g1"}, {"workspace", "w1"},
        {"name", "x1"},         {"node", "0"},   {"container", "azureml-blobstore"}};
    std::string path;
    while (!pattern.empty()) {
        const std::size_t open = pattern.find('{');
        path += pattern.substr(0, open);
        if (open == std::string::npos) break;
        const std::size_t close = pattern.find('}', open);
        std::string name = pattern.substr(open + 1, close - open - 1);
        if (name.ends_with('*')) name.pop_back();
        const auto known = values.find(name);
        path += known == values.end() ? "x1" : known->second;
        pattern.erase(0, close + 1);
    }
    return path;
}

class RouteTable : public testing::Test {
 protected:
    using Headers = std::map<std::string, std::string>;

    void build() {
        world_ = std::make_unique<TestWorld>();
        world_->api();
        ASSERT_EQ(world_->call({"GET", kWs, "", {}}).status, 200);
        const Job job = world_->add_job("x1", JobStatus::Running);
        who_[Nobody] = {};
        who_[AJob] = bearer(world_->api().make_job_token(job.head, job.head.attempt));
        who_[Stranger] = with_role("stranger", "owner", "s1/g1/other");
        who_[Reader] = with_role("reader", "reader", "s1/g1/w1");
        who_[Contributor] = with_role("contributor", "contributor", "s1/g1/w1");
        who_[Owner] = with_role("owner", "owner", "s1/g1/w1");
        who_[ServerOwner] = bearer(world_->owner_key);
    }
    static Headers bearer(const std::string& credential) {
        return {{"Authorization", "Bearer " + credential}, {"Lavant-Workspace", "s1/g1/w1"}};
    }
    Headers with_role(const std::string& user, const std::string& role, const std::string& workspace) {
        const Headers key = world_->as(user, Role::None);
        EXPECT_EQ(world_
                      ->call({"POST",
                              "/lavant/v1/role-assignments",
                              R"({"principal":")" + user + R"(","role":")" + role + R"("})",
                              {{"Lavant-Workspace", workspace}}})
                      .status,
                  201);
        Headers headers = key;
        headers["Lavant-Workspace"] = "s1/g1/w1";
        return headers;
    }
    int status_of(const RouteRow& route, Who who) {
        Ask ask{
            .method = route.method, .target = filled(route.pattern), .headers = who_[who], .as_owner = false};
        if (route.method != "GET" && route.method != "HEAD") ask.body = "{}";
        const bool of_account =
            ask.target.starts_with("/storage/") && route.pattern.find('{') == std::string::npos;
        if (of_account) ask.target += "?comp=list";
        const auto caught = world_->start(ask);
        const int status = caught->response.status;
        caught->gone = true;
        return status;
    }

    std::unique_ptr<TestWorld> world_;
    std::map<Who, Headers> who_;
};

TEST_F(RouteTable, EveryRouteHasARowAndKeepsIt) {
    std::map<std::string, std::string> rows;
    for (const AccessRow& row : kAccessRows) {
        const bool is_new =
            rows.emplace(std::string(row.method) + " " + written_out(row.pattern), row.gets).second;
        EXPECT_TRUE(is_new) << row.method << " " << row.pattern << " has two rows";
    }
    build();
    const std::vector<RouteRow> routes = world_->api().routes();
    bool spoiled = false;
    for (const RouteRow& route : routes) {
        const std::string name = route.method + " " + route.pattern;
        const auto row = rows.find(name);
        if (row == rows.end()) {
            ADD_FAILURE() << name << " has no row in route_table_rows_test.h: who may use it?";
            continue;
        }
        if (spoiled) build();  // what a DELETE takes away, the next row needs
        for (int who = 0; who < kWhoCount; ++who) {
            const char wanted = row->second.at(static_cast<std::size_t>(who));
            const int status = status_of(route, static_cast<Who>(who));
            const char got = status == 401 ? 'u' : status == 403 ? 'f' : '.';
            if (wanted != '?') {
                EXPECT_EQ(got, wanted) << name << " for caller " << who << ": " << status;
            }
        }
        spoiled = route.method != "GET" && route.method != "HEAD";
        rows.erase(row);
    }
    for (const auto& [name, gets] : rows) ADD_FAILURE() << name << " has a row and is no route";
}

}  // namespace
}  // namespace lavant::api
