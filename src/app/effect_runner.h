#pragma once
// Carries the outbox's effects out on threads of its own and tells the control loop how each went.

#include <functional>

#include "base/executor.h"
#include "core/plane/events.h"
#include "ports/blobs.h"
#include "ports/effects.h"
#include "ports/nodes.h"
#include "ports/store.h"

namespace lavant::app {

// system_logs/lifecycle.txt: a line per state, with time and reason.
std::string render_lifecycle(const std::vector<HistoryEvent>& events);

struct EffectPorts {
    ports::NodeProvider& nodes;
    ports::BlobStore& blobs;
    ports::Reader& reader;
    std::function<std::string(NodeId node, std::int64_t outbox)> make_enrol_token;
    std::function<void(plane::Event)> post;  // to the control loop
};

class PooledEffectRunner final : public ports::EffectRunner {
 public:
    explicit PooledEffectRunner(EffectPorts ports);
    void run(const OutboxEntry& entry) override;
    void stop();

 private:
    Result<void> carry_out(const OutboxEntry& entry);
    Result<void> carry_out(const StartNode& effect, std::int64_t outbox);
    Result<void> carry_out(const PublishOutputs& effect);
    Result<void> carry_out(const WriteLifecycle& effect);

    EffectPorts ports_;
    Executor nodes_;  // starting and stopping machines may take long
    Executor files_;
};

}  // namespace lavant::app
