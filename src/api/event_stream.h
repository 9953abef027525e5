#pragma once
// GET /lavant/v1/events and /lavant/v1/jobs/{name}/events: server-sent events, first what the store has after
// Last-Event-ID, then live. Every event has its sequence as id, so a client that comes back misses none.

#include "api/context.h"

namespace lavant::api {

void start_event_stream(Context& context, const SharedCall& call);

}  // namespace lavant::api
