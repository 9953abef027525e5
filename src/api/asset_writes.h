#pragma once
// Writing assets. A version is written once; what it is made of never changes after that, its description,
// tags and archiving may. Whoever loses a race against another client looks again, so that equal requests
// all succeed and no version is lost.

#include "api/asset_view.h"
#include "api/context.h"

namespace lavant::api {

void put_version(const AssetKind& kind, Context& context, const SharedCall& call);
void put_container(const AssetKind& kind, Context& context, const SharedCall& call);
// What is there no more answers 204 as well; what a live job uses stays.
void delete_version(const AssetKind& kind, Context& context, const SharedCall& call);
void delete_container(const AssetKind& kind, Context& context, const SharedCall& call);

}  // namespace lavant::api
