#include "app/effect_runner.h"

#include <utility>

#include "app/job_files.h"
#include "app/staging.h"
#include "base/log.h"
#include "base/text.h"
#include "core/plane/verdict.h"

namespace lavant::app {
namespace {

constexpr int kNodeThreads = 4;
constexpr int kWebThreads = 8;   // they wait for the most part
constexpr int kFileThreads = 1;  // so that two runs of one effect follow each other
constexpr int kTreeThreads = 1;  // likewise
constexpr std::size_t kOverKept = 100'000;

// Where a URL leads, with its port: what answers there is one receiver.
std::string receiver_of(std::string_view url) {
    const std::size_t scheme = url.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    return to_lower(url.substr(begin, url.find_first_of("/?#", begin) - begin));
}

}  // namespace

PooledEffectRunner::PooledEffectRunner(EffectPorts ports)
    : ports_(std::move(ports)),
      nodes_(kNodeThreads),
      files_(kFileThreads),
      trees_(kTreeThreads),
      web_(kWebThreads) {}

void PooledEffectRunner::stop() {
    nodes_.stop();
    files_.abandon();
    trees_.abandon();
    web_.stop();
}

bool PooledEffectRunner::post(const OutboxEntry& entry) {
    if (const auto* notify = std::get_if<NotifyOfJob>(&entry.effect))
        return web_.post(receiver_of(notify->url), [this, entry] {
            const Result<void> done = carry_out_and_tell(entry);
            return done || done.error().code != ErrorCode::DeadlineExceeded;
        });
    return executor_of(entry.effect).post([this, entry] { (void)carry_out_and_tell(entry); });
}

void PooledEffectRunner::run(const OutboxEntry& entry) {
    if (post(entry)) return;
    ports_.post(plane::EffectDone{entry.id, false, "the server is too busy or is stopping"});
}

Result<void> PooledEffectRunner::carry_out_and_tell(const OutboxEntry& entry) {
    Result<void> done = carry_out(entry);
    if (!done) log(Level::Warning, "effect_failed", {{"message", done.error().message}});
    ports_.post(done ? plane::EffectDone{entry.id}
                     : plane::EffectDone{entry.id, false, done.error().message, done.error().code});
    return done;
}

Result<void> PooledEffectRunner::carry_out(const OutboxEntry& entry) {
    if (const auto* start = std::get_if<StartNode>(&entry.effect)) return carry_out(*start, entry.id);
    if (const auto* stop = std::get_if<StopNode>(&entry.effect)) return ports_.nodes.stop_node(stop->node);
    if (const auto* publish = std::get_if<PublishOutputs>(&entry.effect))
        return carry_out(*publish, entry.id);
    if (const auto* drop = std::get_if<DropStaged>(&entry.effect)) return carry_out(*drop);
    if (const auto* notify = std::get_if<NotifyOfJob>(&entry.effect))
        return ports_.notify ? ports_.notify(*notify) : Result<void>{};
    if (const auto* gone = std::get_if<DropContainers>(&entry.effect)) return carry_out(*gone);
    return carry_out(std::get<DropJobFiles>(entry.effect), entry.id);
}

Result<void> PooledEffectRunner::carry_out(const StartNode& effect, std::int64_t outbox) {
    return ports_.nodes.start_node({effect, ports_.make_enrol_token(effect.node, outbox)});
}

Executor& PooledEffectRunner::executor_of(const Effect& effect) {
    if (std::holds_alternative<StartNode>(effect) || std::holds_alternative<StopNode>(effect)) return nodes_;
    return std::holds_alternative<DropContainers>(effect) ? trees_ : files_;
}

Result<Containers> PooledEffectRunner::containers_of(const std::string& workspace) const {
    return ports_.containers_of ? ports_.containers_of(workspace) : own_containers(workspace);
}

Result<void> PooledEffectRunner::carry_out(const DropStaged& effect) {
    LAVANT_TRY(const Containers containers, containers_of(effect.workspace));
    return drop_staged(ports_.blobs, containers, effect.job, effect.attempt);
}

Result<void> PooledEffectRunner::carry_out(const DropContainers& effect) {
    for (const std::string& container : effect.containers)
        LAVANT_TRY_VOID(ports_.blobs.remove_container(container));
    return {};
}

// After a commit that failed the outbox is run again, beside what is under way. Once the first run has been
// told of, the name may belong to another job: a second one must not touch its files.
Result<void> PooledEffectRunner::carry_out(const DropJobFiles& effect, std::int64_t outbox) {
    if (over_.contains(outbox)) return {};
    LAVANT_TRY_VOID(drop_job_files(ports_.blobs, effect.workspace, effect.name));
    remember(outbox);
    return {};
}

// Where another attempt follows, a second run must not take that one's log for this one's.
Result<void> PooledEffectRunner::carry_out(const PublishOutputs& effect, std::int64_t outbox) {
    LAVANT_TRY(const Containers containers, containers_of(effect.workspace));
    if (!effect.again) return publish_staged(ports_.blobs, containers, effect.job, effect.attempt);
    if (over_.contains(outbox)) return {};
    Result<void> logs = set_logs_aside(ports_.blobs, effect.workspace, effect.name, effect.attempt);
    Result<void> staged = effect.lost ? drop_staged(ports_.blobs, containers, effect.job, effect.attempt)
                                      : publish_staged(ports_.blobs, containers, effect.job, effect.attempt);
    Result<void> done = first_to_tell(std::move(logs), std::move(staged));
    if (done || !plane::may_pass(done.error().code)) remember(outbox);
    return done;
}

void PooledEffectRunner::remember(std::int64_t outbox) {
    if (over_.size() >= kOverKept) over_.erase(over_.begin());
    over_.insert(outbox);
}

}  // namespace lavant::app
