#include "app/effect_runner.h"

#include <utility>

#include "base/log.h"
#include "core/model/workspace.h"

namespace lavant::app {
namespace {

constexpr int kNodeThreads = 4;
constexpr int kFileThreads = 1;

}  // namespace

PooledEffectRunner::PooledEffectRunner(EffectPorts ports)
    : ports_(std::move(ports)), nodes_(kNodeThreads), files_(kFileThreads) {}

void PooledEffectRunner::stop() {
    nodes_.stop();
    files_.stop();
}

void PooledEffectRunner::run(const OutboxEntry& entry) {
    const bool about_nodes =
        std::holds_alternative<StartNode>(entry.effect) || std::holds_alternative<StopNode>(entry.effect);
    Executor& executor = about_nodes ? nodes_ : files_;
    const bool queued = executor.post([this, entry] {
        const Result<void> done = carry_out(entry);
        if (!done) log(Level::Warning, "effect_failed", {{"message", done.error().message}});
        ports_.post(plane::EffectDone{entry.id, done.has_value(), done ? "" : done.error().message});
    });
    if (!queued) ports_.post(plane::EffectDone{entry.id, false, "the server is too busy or is stopping"});
}

Result<void> PooledEffectRunner::carry_out(const OutboxEntry& entry) {
    if (const auto* start = std::get_if<StartNode>(&entry.effect)) return carry_out(*start, entry.id);
    if (const auto* stop = std::get_if<StopNode>(&entry.effect)) return ports_.nodes.stop_node(stop->node);
    return carry_out(std::get<PublishOutputs>(entry.effect));
}

Result<void> PooledEffectRunner::carry_out(const StartNode& effect, std::int64_t outbox) {
    return ports_.nodes.start_node({effect, ports_.make_enrol_token(effect.node, outbox)});
}

Result<void> PooledEffectRunner::carry_out(const PublishOutputs& effect) {
    const std::string staged = std::string(ports::kStagingFolder) + "/" + std::to_string(effect.job.value) +
                               "-" + std::to_string(effect.attempt);
    LAVANT_TRY_VOID(ports_.blobs.publish(kBlobContainer, staged, ""));
    return ports_.blobs.publish(kArtifactContainer, staged, "");
}

}  // namespace lavant::app
