#include "api/access_book.h"

#include <gtest/gtest.h>

namespace lavant::api {
namespace {

const AccessBook::Groups kGroups{{"team", {"ann", "ci"}}, {"guests", {"gus"}}};

Assignment role(std::string principal, Role given, std::string workspace = "", std::string resource = "") {
    return {"", std::move(principal), std::move(workspace), std::move(resource), given, {}};
}
Assignment data(std::string principal, DataRight given, const std::string& datastore) {
    return {"", std::move(principal), "w1", "datastores/" + datastore, {}, given};
}

TEST(AccessBook, TheLargestRoleThatAppliesCounts) {
    const AccessBook book(kGroups,
                          {role("ann", Role::Reader, "w1"), role("group:team", Role::Contributor, "w1"),
                           role("ann", Role::Owner, "w1", "computes/gpu"), role("bob", Role::Reader)});
    EXPECT_EQ(book.role_of("ann", "w1", ""), Role::Contributor);
    EXPECT_EQ(book.role_of("ann", "w1", "computes/gpu"), Role::Owner);
    EXPECT_EQ(book.role_of("ann", "w1", "computes/cpu"), Role::Contributor);
    EXPECT_EQ(book.role_of("ann", "w2", ""), Role::None);
    EXPECT_EQ(book.role_of("ann", "w2", "computes/gpu"), Role::None);
    EXPECT_EQ(book.role_of("ann", "", ""), Role::None) << "a workspace's role says nothing about the server";
    EXPECT_EQ(book.role_of("ci", "w1", ""), Role::Contributor);
    EXPECT_EQ(book.role_of("bob", "w2", "computes/gpu"), Role::Reader) << "the server's role is everywhere";
    EXPECT_EQ(book.role_of("bob", "", ""), Role::Reader);
    EXPECT_EQ(book.role_of("gus", "w1", ""), Role::None);
    EXPECT_EQ(book.role_of("team", "w1", ""), Role::None) << "a user of a group's name is not the group";
}

TEST(AccessBook, EveryoneIsEverybody) {
    const AccessBook book(kGroups, {role("everyone", Role::Reader, "w1")});
    EXPECT_EQ(book.role_of("whoever", "w1", ""), Role::Reader);
    EXPECT_EQ(book.role_of("whoever", "w2", ""), Role::None);
}

TEST(AccessBook, DataRightsAreOfOneDatastoreAndOverrideTheRole) {
    const AccessBook book(
        kGroups, {data("everyone", DataRight::None, "secret"), data("group:team", DataRight::Read, "secret"),
                  data("ci", DataRight::Write, "secret")});
    EXPECT_EQ(book.data_right_of("gus", "w1", "secret"), DataRight::None);
    EXPECT_EQ(book.data_right_of("ann", "w1", "secret"), DataRight::Read);
    EXPECT_EQ(book.data_right_of("ci", "w1", "secret"), DataRight::Write);
    EXPECT_EQ(book.data_right_of("ci", "w1", "other"), std::nullopt);
    EXPECT_EQ(book.data_right_of("ci", "w2", "secret"), std::nullopt);
    EXPECT_EQ(book.role_of("ci", "w1", "datastores/secret"), Role::None) << "a data right is no role";
}

TEST(AccessBook, KnowsItsWords) {
    for (const Role one : {Role::Reader, Role::Contributor, Role::Owner})
        EXPECT_EQ(parse_role(name_of(one)).value(), one);
    for (const char* word : {"", "none", "job", "Owner", "root"}) EXPECT_FALSE(parse_role(word)) << word;
    EXPECT_EQ(parse_data_right("write").value(), DataRight::Write);
    EXPECT_FALSE(parse_data_right("owner"));
}

}  // namespace
}  // namespace lavant::api
