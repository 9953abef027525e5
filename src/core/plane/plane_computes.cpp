// The life of a compute: clusters, quotas, locks.

#include "core/plane/plane.h"

namespace lavant::plane {

void Plane::apply_one(const PutCompute& event, Instant, Outcome& out) {
    out.replies.push_back({event.ticket, fail(ErrorCode::Unavailable, "not yet")});
}
void Plane::apply_one(const DeleteCompute& event, Instant, Outcome& out) {
    out.replies.push_back({event.ticket, fail(ErrorCode::Unavailable, "not yet")});
}
void Plane::apply_one(const SetQuota& event, Instant, Outcome& out) {
    out.replies.push_back({event.ticket, fail(ErrorCode::Unavailable, "not yet")});
}
void Plane::apply_one(const PutLock& event, Instant, Outcome& out) {
    out.replies.push_back({event.ticket, fail(ErrorCode::Unavailable, "not yet")});
}
void Plane::apply_one(const DeleteLock& event, Instant, Outcome& out) {
    out.replies.push_back({event.ticket, fail(ErrorCode::Unavailable, "not yet")});
}
void Plane::apply_one(const EvictNode& event, Instant, Outcome& out) {
    out.replies.push_back({event.ticket, fail(ErrorCode::Unavailable, "not yet")});
}

}  // namespace lavant::plane
