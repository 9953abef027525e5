#pragma once
// The subset of the Blob protocol that azure-storage-blob needs, path style below /storage: put, get with
// ranges, list, blocks, metadata, delete. Permitted by a SAS in the query or by a bearer token.

#include "api/context.h"

namespace lavant::api {

void add_blob_routes(Router& router, Context& context);
// Asked before the body is read: false when the request would be refused anyway.
bool may_upload(Context& context, const ports::HttpRequest& head, const Params& params);

}  // namespace lavant::api
