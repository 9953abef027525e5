#include "core/spec/workspace.h"

#include <gtest/gtest.h>

namespace lavant::spec {
namespace {

const std::string kSubnet =
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n";

Document boolean(bool value) {
    Document document = Document::string(value ? "true" : "false");
    document.kind = Document::Kind::Boolean;
    document.boolean = value;
    return document;
}

void put(Document& map, const std::string& key, Document value) {
    map.entries.push_back({key, {}, std::move(value)});
}

TEST(WorkspaceFile, IsReadWhole) {
    Document serverless = Document::map();
    put(serverless, "custom_subnet", Document::string(kSubnet));
    put(serverless, "no_public_ip", boolean(true));
    Document tags = Document::map();
    put(tags, "team", Document::string("vision"));
    Document root = Document::map();
    put(root, "$schema",
        Document::string("https://azuremlschemas.azureedge.net/latest/workspace.schema.json"));
    put(root, "name", Document::string("w"));
    put(root, "description", Document::string("ours"));
    put(root, "tags", tags);
    put(root, "location", Document::string("westeurope"));
    put(root, "serverless_compute", serverless);
    const auto spec = parse_workspace(root);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->name, "w");
    EXPECT_EQ(spec->description, "ours");
    EXPECT_EQ(spec->display_name, std::nullopt);
    EXPECT_EQ(spec->tags->at("team"), "vision");
    EXPECT_EQ(spec->serverless->custom_subnet, kSubnet);
    EXPECT_TRUE(spec->serverless->no_public_ip);
    EXPECT_EQ(spec->without_meaning, std::vector<std::string>{"location"});
}

TEST(WorkspaceFile, MaySayThatThereIsNoSubnet) {
    Document serverless = Document::map();
    put(serverless, "custom_subnet", Document{});
    Document root = Document::map();
    put(root, "serverless_compute", serverless);
    const auto spec = parse_workspace(root);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->serverless->custom_subnet, "");
}

TEST(WorkspaceFile, NamesEveryMistake) {
    Document serverless = Document::map();
    put(serverless, "custom_subnet", Document::string("default"));
    put(serverless, "no_public_ipp", boolean(true));
    Document root = Document::map();
    put(root, "descripton", Document::string("ours"));
    put(root, "serverless_compute", serverless);
    const auto spec = parse_workspace(root);
    ASSERT_FALSE(spec);
    const std::string& said = spec.error().message;
    EXPECT_NE(said.find("did you mean 'description'?"), std::string::npos) << said;
    EXPECT_NE(said.find("did you mean 'no_public_ip'?"), std::string::npos) << said;
    EXPECT_NE(said.find("id of a subnet"), std::string::npos) << said;
    EXPECT_FALSE(parse_workspace(Document::string("w")));
    Document list = Document::map();
    put(list, "serverless_compute", Document::string("on"));
    EXPECT_FALSE(parse_workspace(list));
}

}  // namespace
}  // namespace lavant::spec
