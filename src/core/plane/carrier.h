#pragma once
// Carries out what the scheduler decides, row by row. Only for the plane's own sources.

#include <string>
#include <utility>
#include <vector>

#include "core/plane/plane.h"

namespace lavant::plane {

class Plane::Carrier final : public schedule::Actions {
 public:
    Carrier(Plane& plane, Instant now, Outcome& out) : plane_(plane), now_(now), out_(out) {}

    void place(const schedule::Ask& ask, const std::vector<NodeId>& nodes) override {
        plane_.place_job(plane_.jobs_.at(ask.job), nodes, now_, out_);
    }
    void request(PoolId pool) override { plane_.request_node(pool, now_, out_); }
    void release(NodeId node, const std::string& why) override {
        plane_.drain_node(plane_.nodes_.at(node), why, now_, out_);
    }
    void preempt(NodeId node, const std::string& why) override {
        plane_.evict_node(plane_.nodes_.at(node), why, now_, out_);
    }

 private:
    Plane& plane_;
    Instant now_;
    Outcome& out_;
};

}  // namespace lavant::plane
