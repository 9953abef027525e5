#include "core/model/lock_scope.h"

#include <gtest/gtest.h>

#include "core/model/lock.h"

namespace lavant {
namespace {

const std::string kGroup = "/subscriptions/S1/resourceGroups/Research";
const std::string kWorkspace = kGroup + "/providers/Microsoft.MachineLearningServices/workspaces/Vision";
const std::string kNetwork = kGroup + "/providers/Microsoft.Network/virtualNetworks/Net";

LockedKind kind_of(const std::string& id) {
    const auto scope = parse_lock_scope(id);
    EXPECT_TRUE(scope) << id;
    return scope ? scope->kind : LockedKind::ResourceGroup;
}

TEST(LockScope, KnowsWhatCanBeLocked) {
    EXPECT_EQ(kind_of(kGroup), LockedKind::ResourceGroup);
    EXPECT_EQ(kind_of(kNetwork), LockedKind::Network);
    EXPECT_EQ(kind_of(kWorkspace), LockedKind::Workspace);
    EXPECT_EQ(kind_of(kWorkspace + "/computes/Cpu"), LockedKind::Compute);
}

TEST(LockScope, IsKeptInLowerCaseAndNamesWhatIsLocked) {
    const auto scope = parse_lock_scope(kWorkspace + "/computes/Cpu/");
    ASSERT_TRUE(scope);
    EXPECT_EQ(scope->id,
              "/subscriptions/s1/resourcegroups/research/providers/"
              "microsoft.machinelearningservices/workspaces/vision/computes/cpu");
    EXPECT_EQ(scope->name, "Cpu");
    EXPECT_TRUE(covers(parse_lock_scope(kGroup)->id, scope->id));
}

TEST(LockScope, RefusesEverythingElse) {
    for (const std::string& id :
         {std::string(), std::string("/"), std::string("subscriptions/s/resourceGroups/g"),
          std::string("/subscriptions/s"), std::string("/subscriptions//resourceGroups/g"), kGroup + "/x",
          kWorkspace + "/jobs/j", kWorkspace + "/computes", kWorkspace + "/computes/a b",
          kWorkspace + "/computes/a?b", kNetwork + "/subnets/default",
          kGroup + "/providers/Microsoft.Storage/storageAccounts/a",
          std::string("/subscriptions/s/resource") + std::string(2000, 'g')}) {
        const auto scope = parse_lock_scope(id);
        ASSERT_FALSE(scope) << id;
        EXPECT_EQ(scope.error().code, ErrorCode::InvalidArgument);
        EXPECT_NE(scope.error().message.find("resource group, a virtual network, a workspace or a compute"),
                  std::string::npos);
        EXPECT_LT(scope.error().message.size(), 500U);
    }
}

TEST(SubnetId, IsThatOfASubnet) {
    EXPECT_TRUE(is_subnet_id(kNetwork + "/subnets/default"));
    EXPECT_FALSE(is_subnet_id(kNetwork));
    EXPECT_FALSE(is_subnet_id("default"));
    EXPECT_FALSE(is_subnet_id(kNetwork + "/subnets/"));
}

}  // namespace
}  // namespace lavant
