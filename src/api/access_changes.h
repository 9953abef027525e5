#pragma once
// Changes of keys, users, groups and roles. They are planned and stored one after the other: each looks at
// what the one before it left, so that two of them together cannot take away the last owner.

#include <functional>

#include "api/context.h"

namespace lavant::api {

// `then` runs after the commit. Whatever comes of it, also an unknown outcome, who may do what is read anew.
void change_access(Context& context, const SharedCall& call, std::function<Result<plane::WriteAssets>()> plan,
                   std::function<void(const plane::Answer&)> then);

// After keys have gone: the file with the first owner's key goes too, if its key is none any more.
void drop_dead_owner_key(Context& context);

}  // namespace lavant::api
