#pragma once
// Where Azure's clients get their tokens: OpenID discovery, the key set, OAuth's token endpoint (client
// credentials, device code, refresh token) and the managed identity's. docs/access.md.

#include "api/context.h"

namespace lavant::api {

void add_oauth_routes(Router& router, Context& context);

}  // namespace lavant::api
