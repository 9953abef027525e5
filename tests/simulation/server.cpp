// The server side: control loop, commits with faults, effects, and a provider of simulated machines.

#include "tests/simulation/world.h"

namespace lavant::simulation {

using namespace std::chrono_literals;

void World::start_server() {
    ++server_generation_;
    dropped_.clear();
    dying_ = false;
    plane::Settings settings;
    settings.capacity = {.cpu_millis = 5000, .memory_bytes = 50};
    settings.heartbeat = 60s;
    loop_ = std::make_unique<app::ControlLoop>(
        app::LoopPorts{.store = *this,
                       .links = *this,
                       .effects = *this,
                       .clock = *this,
                       .make_job_token = {},
                       .published =
                           [this](const std::vector<HistoryEvent>& events) {
                               for (const HistoryEvent& event : events)
                                   note(event.subject + " " + event.what + " " + event.detail);
                           }},
        settings, app::Upkeep{.events_kept = 100});
    note("server starts");
    started_ = false;
    if (!loop_->start(now_)) return fail("the server could not start");
    started_ = true;
    wake_planned_.reset();
    step_planned_ = false;
    plan_step();
    const std::uint64_t generation = server_generation_;
    after(10s, [this, generation] {
        if (generation == server_generation_) list_nodes();
    });
}

void World::kill_server() {
    if (!loop_) return;
    note("server killed");
    loop_.reset();
    dying_ = false;
    ++server_generation_;
    drop_links();
    after(between(1s, nemeses_on_ ? Duration{90s} : Duration{2s}), [this] {
        if (!loop_) start_server();
    });
}

void World::post(plane::Event event, app::Callback callback) {
    if (!server_is_up()) return;
    (void)loop_->post(std::move(event), std::move(callback));
    plan_step();
}

void World::plan_step() {
    if (step_planned_) return;
    step_planned_ = true;
    const std::uint64_t generation = server_generation_;
    after(between(0us, 2ms), [this, generation] {
        if (generation != server_generation_ || !loop_) return;
        step_planned_ = false;
        step_server();
    });
}

void World::step_server() {
    if (nemeses_on_ && nemeses_.bad_commits && chance(2))
        store_.fail_next_commit(chance(50) ? adapters::CommitFault::Refuse
                                           : adapters::CommitFault::CommitButReportFailure);
    while (loop_ && !dying_ && loop_->step(now_)) {
    }
    if (dying_) return kill_server();
    check_step();
    const std::optional<Instant> wake = loop_->next_wake();
    if (!wake || (wake_planned_ && *wake_planned_ <= *wake && *wake_planned_ > now_)) return;
    wake_planned_ = wake;
    const std::uint64_t generation = server_generation_;
    after(std::max(Duration{0}, *wake - now_), [this, generation] {
        if (generation == server_generation_ && loop_) plan_step();
    });
}

// A server that starts and cannot read is none; one that runs must go on.
Result<LiveRows> World::load_live() {
    if (started_ && nemeses_on_ && nemeses_.bad_commits && chance(50))
        return lavant::fail(ErrorCode::Unavailable, "the disk does not answer");
    return store_.load_live();
}

Result<std::string> World::load_launch(JobId job) {
    if (nemeses_on_ && nemeses_.bad_commits && chance(20))
        return lavant::fail(ErrorCode::Unavailable, "the disk does not answer");
    return store_.load_launch(job);
}

Result<std::vector<bool>> World::commit(const WriteBatch& batch) {
    Result<std::vector<bool>> done = store_.commit(batch);
    if (nemeses_on_ && nemeses_.kill_server && chance(1)) dying_ = true;
    return done;
}

void World::run(const OutboxEntry& entry) {
    if (!server_is_up()) return;
    Duration delay = between(2ms, 200ms);
    if (nemeses_on_ && nemeses_.bad_provider && chance(10)) delay = between(1s, 3min);
    const std::uint64_t generation = server_generation_;
    after(delay, [this, entry, generation] { carry_out(entry, generation); });
}

// Cut off from its provider too: nobody can say whether anything runs there.
bool World::is_out_of_reach(NodeId id) const {
    const auto found = nodes_.find(id);
    return found != nodes_.end() && found->second->machine_up && found->second->out_of_reach;
}

// An effect under way when the server dies may still happen; its result is lost.
void World::carry_out(OutboxEntry entry, std::uint64_t generation) {
    const auto* drop_all = std::get_if<DropJobFiles>(&entry.effect);
    const auto* wanted = std::get_if<PublishOutputs>(&entry.effect);
    const bool own = drop_all != nullptr || (wanted != nullptr && wanted->again);
    if (generation != server_generation_ && (own || chance(50))) return;
    const bool fails = nemeses_on_ && nemeses_.bad_provider && chance(15);
    std::string problem = fails ? "out of order" : "";
    ErrorCode code = ErrorCode::Unavailable;
    if (wanted != nullptr && can_never_publish(wanted->job)) {
        problem = "a file is in the way";
        code = ErrorCode::Conflict;
    } else if (!fails) {
        if (const auto* start = std::get_if<StartNode>(&entry.effect))
            problem = start_node(start->node).value_or("");
        const auto* stop = std::get_if<StopNode>(&entry.effect);
        if (stop != nullptr && is_out_of_reach(stop->node)) problem = "it does not answer";
        if (stop != nullptr && problem.empty()) stop_node(stop->node);
        if (drop_all != nullptr) drop_files(*drop_all, entry.id);
        if (const auto* drop = std::get_if<DropStaged>(&entry.effect))
            staged_[drop->job].erase(drop->attempt);
        if (const auto* publish = std::get_if<PublishOutputs>(&entry.effect)) {
            if (!publish->again || dropped_.insert(entry.id).second) put_away(*publish);
        }
    }
    if (generation != server_generation_) return;
    post(plane::EffectDone{entry.id, problem.empty(), problem, code});
}

// What an attempt staged gets its place, also before another attempt; a second time nothing is left to move.
void World::put_away(const PublishOutputs& publish) {
    std::set<int>& published = published_[publish.job];
    if (!published.empty() && *published.rbegin() > publish.attempt)
        return fail("an old attempt was published over a newer one: " + publish.name);
    if (publish.lost) {
        staged_[publish.job].erase(publish.attempt);
        return;
    }
    const bool staged = staged_[publish.job].contains(publish.attempt);
    if (!staged && !publish.again) return fail("published what was not staged: " + publish.name);
    if (staged && published.insert(publish.attempt).second) files_[publish.name] = publish.job;
}

// The server's own process removes files, each effect once: nothing of it happens after that process died.
void World::drop_files(const DropJobFiles& drop, std::int64_t outbox) {
    if (!dropped_.insert(outbox).second) return;
    const auto lying = files_.find(drop.name);
    if (lying == files_.end()) return;
    if (lying->second != drop.job) return fail("the files of another job were removed: " + drop.name);
    files_.erase(lying);
}

std::optional<std::string> World::start_node(NodeId id) {
    const auto found = nodes_.find(id);
    if (found != nodes_.end()) {
        if (!found->second->machine_up) return "the machine is gone";
        if (!found->second->agent) start_agent(*found->second);
        return std::nullopt;
    }
    auto node = std::make_unique<SimNode>();
    node->id = id;
    SimNode& started = *node;
    nodes_[id] = std::move(node);
    note(to_string(id) + " made");
    start_agent(started);
    return std::nullopt;
}

void World::stop_node(NodeId id) {
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) return;
    note(to_string(id) + " removed");
    kill_agent(*found->second);
    nodes_.erase(found);
}

void World::list_nodes() {
    plane::NodesHeld held{.nodes = {}, .listed_at = now_};
    for (const auto& [id, node] : nodes_) {
        const bool forgets = nemeses_on_ && nemeses_.bad_provider && chance(3);
        if (node->machine_up && !forgets) held.nodes.push_back({id, node->agent != nullptr});
    }
    const std::uint64_t generation = server_generation_;
    after(between(1ms, 2s), [this, held, generation] {
        if (generation == server_generation_) post(held);
    });
    after(30s, [this, generation] {
        if (generation == server_generation_) list_nodes();
    });
}

}  // namespace lavant::simulation
