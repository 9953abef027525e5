#include "cli/asset_commands.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

std::string version_json(const std::string& path, const std::string& properties) {
    return R"({"id":")" + kWorkspacePath + path + R"(","name":")" + path.substr(path.rfind('/') + 1) +
           R"(","systemData":{"createdAt":"2026-01-02T03:04:05.123Z","createdBy":"ada"},"properties":)" +
           properties + "}";
}

struct World {
    FakeServer server;
    FakeTerminal terminal;
    Session session = server.session();

    std::string out() const { return terminal.out.str(); }
    std::string err() const { return terminal.err.str(); }
};

AssetName named(const std::string& word, const std::string& version = "", const std::string& label = "") {
    const auto name = read_asset_name(AssetKind::Data, word, version, label);
    EXPECT_TRUE(name) << name.error().error.message;
    return name ? *name : AssetName{};
}

TEST(AssetNames, AreReadInEveryForm) {
    EXPECT_EQ(named("a").text(), "a");
    EXPECT_EQ(named("a:1").text(), "a:1");
    EXPECT_EQ(named("azureml:a:1").text(), "a:1");
    EXPECT_EQ(named("azureml:a@latest").label, "latest");
    EXPECT_EQ(named("a", "3").text(), "a:3");
    EXPECT_EQ(named("a:3", "3").text(), "a:3");
    for (const char* bad : {"", "a/b", "../x", "a b", ":1", "@latest"})
        EXPECT_FALSE(read_asset_name(AssetKind::Data, bad, "", "")) << bad;
    EXPECT_FALSE(read_asset_name(AssetKind::Data, "a:1", "2", ""));
    EXPECT_FALSE(read_asset_name(AssetKind::Data, "a", "2", "latest"));
}

TEST(AssetShow, TheNewestUnlessTold) {
    World world;
    world.server.on("GET " + kWorkspacePath + "/data/d/versions", 200,
                    R"({"value":[)" +
                        version_json("/data/d/versions/4",
                                     R"({"dataType":"uri_file","dataUri":"azureml://datastores/x/paths/y.csv",
                                        "description":"what","tags":{"a":"b"}})") +
                        "]}");
    const auto shown = show_asset(world.session, world.terminal.console(), AssetKind::Data, named("d"), {});
    ASSERT_TRUE(shown) << shown.error().error.message;
    EXPECT_EQ(world.out(),
              "name         d\n"
              "version      4\n"
              "type         uri_file\n"
              "description  what\n"
              "path         azureml://datastores/x/paths/y.csv\n"
              "tag          a = b\n"
              "created      2026-01-02 03:04:05 UTC\n"
              "created by   ada\n"
              "use it as    azureml:d:4\n");
    EXPECT_NE(world.server.requests[0].url.find("$orderBy=createdtime%20desc&$top=1"), std::string::npos);
}

TEST(AssetShow, OneThatIsNotThereIsSaidSo) {
    World world;
    world.server.on("GET " + kWorkspacePath + "/data/d/versions", 200, R"({"value":[]})");
    const auto shown = show_asset(world.session, world.terminal.console(), AssetKind::Data, named("d"), {});
    ASSERT_FALSE(shown);
    EXPECT_EQ(shown.error().exit, Exit::Refused);
    EXPECT_EQ(shown.error().error.message,
              "cannot show data 'd': there is none of that name, or it is archived; see: lavant data list");
}

TEST(AssetList, NamesWithTheirLatestVersion) {
    World world;
    world.server.on(
        "GET " + kWorkspacePath + "/data", 200,
        R"({"value":[)" +
            version_json(
                "/data/one",
                R"({"dataType":"uri_file","latestVersion":"4","description":"a long text about what it is and where it comes from"})") +
            "," + version_json("/data/another", R"({"dataType":"uri_folder","latestVersion":"2026-01-02"})") +
            "]}");
    const auto listed = list_assets(world.session, world.terminal.console(), AssetKind::Data, {}, {});
    ASSERT_TRUE(listed) << listed.error().error.message;
    EXPECT_EQ(world.out(),
              "NAME     LATEST      TYPE        CREATED              DESCRIPTION\n"
              "one      4           uri_file    2026-01-02 03:04:05  a long text about what it…\n"
              "another  2026-01-02  uri_folder  2026-01-02 03:04:05\n");
    EXPECT_NE(world.server.requests[0].url.find("listViewType=ActiveOnly"), std::string::npos);
}

TEST(AssetList, VersionsOfOneInAzsShape) {
    World world;
    world.server.on(
        "GET " + kWorkspacePath + "/models/m/versions", 200,
        R"({"value":[)" +
            version_json("/models/m/versions/2", R"({"modelType":"custom_model","modelUri":"u"})") + "," +
            version_json("/models/m/versions/1", R"({"modelType":"custom_model","modelUri":"u"})") + "]}");
    const auto listed =
        list_assets(world.session, world.terminal.console(), AssetKind::Model,
                    {.name = "m", .archived = Archived::Too, .max = 1}, {.format = Format::Json});
    ASSERT_TRUE(listed) << listed.error().error.message;
    const wire::Json found = *wire::parse_json(world.out());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.items()[0]["version"].text(), "2");
    EXPECT_NE(world.server.requests[0].url.find("listViewType=All"), std::string::npos);
}

TEST(AssetList, OfNothingSaysHowToBegin) {
    World world;
    world.server.on("GET " + kWorkspacePath + "/environments", 200, R"({"value":[]})");
    ASSERT_TRUE(list_assets(world.session, world.terminal.console(), AssetKind::Environment, {}, {}));
    EXPECT_EQ(world.out(), "");
    EXPECT_EQ(world.err(), "no environments; make one: lavant environment create -f FILE\n");
}

TEST(AssetUpdate, ChangesWordsAndNothingElse) {
    World world;
    const std::string path = "/models/m/versions/1";
    world.server.on("GET " + kWorkspacePath + path, 200,
                    version_json(path, R"({"modelType":"custom_model","modelUri":"u","tags":{"a":"b"},
                                          "provisioningState":"Succeeded"})"));
    world.server.on("PUT " + kWorkspacePath + path, 200, version_json(path, "{}"));
    const AssetName name{"m", "1", ""};
    const auto changed = update_asset(world.session, world.terminal.console(), AssetKind::Model, name,
                                      {"tags.c=d=e", "description=x", "stage=Production"}, {});
    ASSERT_TRUE(changed) << changed.error().error.message;
    const wire::Json sent = (*wire::parse_json(world.server.requests.back().body))["properties"];
    EXPECT_EQ(sent["tags"].dump(), R"({"a":"b","c":"d=e"})");
    EXPECT_EQ(sent["stage"].text(), "Production");
    EXPECT_EQ(sent["modelUri"].text(), "u");
    EXPECT_FALSE(sent.has("provisioningState"));
    for (const char* bad : {"path=x", "type=y", "tags=z", "tags.=z", "display_name=x", "nothing"})
        EXPECT_EQ(update_asset(world.session, world.terminal.console(), AssetKind::Model, name, {bad}, {})
                      .error()
                      .exit,
                  Exit::Usage)
            << bad;
}

TEST(AssetArchive, OneVersionOrAll) {
    World world;
    const std::string version = kWorkspacePath + "/data/d/versions/1";
    world.server.on("GET " + version, 200, version_json("/data/d/versions/1", R"({"dataUri":"u"})"));
    world.server.on("PUT " + version, 200, "{}");
    const std::string container = kWorkspacePath + "/data/d";
    world.server.on("GET " + container, 200,
                    version_json("/data/d", R"({"latestVersion":"1","nextVersion":"2"})"));
    world.server.on("PUT " + container, 200, "{}");
    ASSERT_TRUE(archive_asset(world.session, world.terminal.console(), AssetKind::Data, named("d:1"), true));
    EXPECT_EQ(world.server.requests.back().body, R"({"properties":{"dataUri":"u","isArchived":true}})");
    ASSERT_TRUE(archive_asset(world.session, world.terminal.console(), AssetKind::Data, named("d"), false));
    EXPECT_EQ(world.server.requests.back().body, R"({"properties":{"isArchived":false}})");
    EXPECT_EQ(world.err(),
              "archived d:1; it is listed with: lavant data list --name d --archived-only\n"
              "restored d with all its versions\n");
}

TEST(AssetDelete, AsksFirst) {
    World world;
    const std::string path = "/data/d/versions/1";
    world.server.on("GET " + kWorkspacePath + path, 200, version_json(path, "{}"));
    world.server.on("DELETE " + kWorkspacePath + path, 200, "");
    Context context = world.terminal.context(world.server);
    EXPECT_EQ(delete_asset(world.session, context, AssetKind::Data, named("d:1"), false).error().exit,
              Exit::Usage);
    EXPECT_EQ(world.server.requests.back().method, "GET");
    ASSERT_TRUE(delete_asset(world.session, context, AssetKind::Data, named("d:1"), true));
    EXPECT_EQ(world.err(), "deleted d:1\n");
    const auto gone = delete_asset(world.session, context, AssetKind::Data, named("other"), true);
    ASSERT_FALSE(gone);
    EXPECT_EQ(gone.error().error.message, "cannot delete data 'other': there is nothing here");
}

TEST(ModelDownload, OfWhatIsInNoDatastoreIsRefused) {
    World world;
    world.server.on("GET " + kWorkspacePath + "/models/m/versions/1", 200,
                    version_json("/models/m/versions/1", R"({"modelUri":"https://example.com/x"})"));
    const Context context = world.terminal.context(world.server);
    const auto fetched = download_model(world.session, context, {"m", "1", ""}, "");
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().error.message,
              "cannot download model 'm:1': it lies at https://example.com/x, which is in no datastore");
}

TEST(AssetList, WithoutEndIsAnErrorAndNoPartOfIt) {
    World world;
    world.server.on(
        "GET " + kWorkspacePath + "/models", 200,
        R"({"value":[{"name":"m"}],"nextLink":"https://server)" + kWorkspacePath + R"(/models"})");
    const auto refused = list_assets(world.session, world.terminal.console(), AssetKind::Model, {}, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().error.message.find("cannot list the models: the server has more than"),
              std::string::npos);
    EXPECT_TRUE(list_assets(world.session, world.terminal.console(), AssetKind::Model, {.max = 5}, {}));
}

TEST(AssetShow, TheVerbIsWhatTheUserDid) {
    World world;
    const Context context = world.terminal.context(world.server);
    const Console console = world.terminal.console();
    const auto said = [](const Outcome<Exit>& outcome) {
        return outcome ? std::string() : outcome.error().error.message.substr(0, 24);
    };
    EXPECT_EQ(said(show_asset(world.session, console, AssetKind::Model, named("m:1"), {})),
              "cannot show model 'm:1':");
    EXPECT_EQ(
        said(update_asset(world.session, console, AssetKind::Data, named("d:1"), {"description=x"}, {})),
        "cannot change data 'd:1'");
    EXPECT_EQ(said(archive_asset(world.session, console, AssetKind::Data, named("d:1"), true)),
              "cannot archive data 'd:1");
    EXPECT_EQ(said(download_model(world.session, context, named("m:1"), "")), "cannot download model 'm");
}

}  // namespace
}  // namespace lavant::cli
