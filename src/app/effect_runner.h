#pragma once
// Carries the outbox's effects out on threads of its own and tells the control loop how each went.

#include <cstdint>
#include <functional>
#include <set>

#include "app/host_executor.h"
#include "app/staging.h"
#include "base/executor.h"
#include "core/plane/events.h"
#include "ports/blobs.h"
#include "ports/effects.h"
#include "ports/nodes.h"

namespace lavant::app {

struct EffectPorts {
    ports::NodeProvider& nodes;
    ports::BlobStore& blobs;
    std::function<std::string(NodeId node, std::int64_t outbox)> make_enrol_token;
    std::function<void(plane::Event)> post;  // to the control loop
    // In which containers jobs of a workspace stage; without it, those every workspace has.
    std::function<Result<Containers>(const std::string& workspace)> containers_of = {};
    // Tells a webhook; may block for as long as a request may take, DeadlineExceeded where it took that
    // long. Without it nobody is told.
    std::function<Result<void>(const NotifyOfJob&)> notify = {};
};

class PooledEffectRunner final : public ports::EffectRunner {
 public:
    explicit PooledEffectRunner(EffectPorts ports);
    void run(const OutboxEntry& entry) override;
    // What is under way is waited for. Of what waits only nodes are still started and stopped; the outbox has
    // the rest, and nobody could be told any more how it went.
    void stop();

 private:
    [[nodiscard]] bool post(const OutboxEntry& entry);
    Result<void> carry_out_and_tell(const OutboxEntry& entry);
    Result<void> carry_out(const OutboxEntry& entry);
    Result<void> carry_out(const StartNode& effect, std::int64_t outbox);
    Result<void> carry_out(const PublishOutputs& effect, std::int64_t outbox);
    Result<void> carry_out(const DropJobFiles& effect, std::int64_t outbox);
    Result<void> carry_out(const DropStaged& effect);
    Result<void> carry_out(const DropContainers& effect);
    Result<Containers> containers_of(const std::string& workspace) const;
    Executor& executor_of(const Effect& effect);
    void remember(std::int64_t outbox);

    EffectPorts ports_;
    // Effects that are over and whose second run would do harm; the file thread only.
    std::set<std::int64_t> over_;
    Executor nodes_;  // starting and stopping machines may take long
    Executor files_;
    Executor trees_;    // the end of whole containers, which may take long: no job waits for it
    HostExecutor web_;  // webhooks: others may be slow, or dead
};

}  // namespace lavant::app
