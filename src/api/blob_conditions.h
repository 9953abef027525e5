#pragma once
// If-Match, If-None-Match, If-Modified-Since and If-Unmodified-Since, on reads and on writes.

#include <optional>

#include "ports/blobs.h"
#include "ports/http.h"

namespace lavant::api {

// The answer to a request whose conditions do not hold: 304 or 412 for reads, 412 for writes, and 409 where
// "If-None-Match: *" meets a blob. `there` is null where there is none.
std::optional<ports::HttpResponse> unmet_condition(const ports::HttpRequest& request,
                                                   const ports::BlobInfo* there, bool is_write);
bool has_condition(const ports::HttpRequest& request);

}  // namespace lavant::api
