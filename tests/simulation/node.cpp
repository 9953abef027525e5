// The node side: agent machines, their processes and spools, and the network between them and the server.

#include "tests/simulation/world.h"

namespace lavant::simulation {

using namespace std::chrono_literals;

namespace {

std::string name_of_task(TaskRef task) {
    return std::to_string(task.job.value) + "." + std::to_string(task.attempt) + "." +
           std::to_string(task.index);
}

}  // namespace

void World::start_agent(SimNode& node) {
    ++node.incarnation;
    note(to_string(node.id) + " agent starts");
    agent::MachineSettings settings;
    node.agent = std::make_unique<agent::Machine>(
        Hello{.node = node.id,
              .boot = std::to_string(node.machine_boot) + "." + std::to_string(node.incarnation),
              .host = to_string(node.id)},
        settings);
    node.tick_at.reset();
    agent::Started started{.tasks = {}, .heard_at = node.heard_at};
    std::vector<TaskRef> over;
    for (auto& [ref, process] : node.spool) {
        if (!process.launched) continue;
        started.tasks.push_back({.task = ref,
                                 .running_since = process.launched_at + node.clock_ahead,
                                 .timeout = {},
                                 .log_bytes = process.log_bytes,
                                 .log_durable = 0});
        if (process.dead) over.push_back(ref);
    }
    std::erase_if(node.spool, [](const auto& pair) { return !pair.second.launched; });
    feed(node, started);
    for (const TaskRef& ref : over) {
        const auto found = node.spool.find(ref);
        if (found != node.spool.end()) end_process(node, ref, found->second.exit);
    }
    connect(node);
}

void World::kill_agent(SimNode& node) {
    if (!node.agent) return;
    note(to_string(node.id) + " agent dies");
    const std::uint64_t link = node.link;
    node.heard_at = node.agent->heard_at();
    node.agent.reset();
    node.connecting = false;
    disconnect(node, link);
}

// Runs `what` on the node if the agent process is still the same; later, if the node is suspended.
void World::on_node(NodeId id, std::uint64_t incarnation, std::function<void(SimNode&)> what) {
    const auto found = nodes_.find(id);
    if (found == nodes_.end() || !found->second->machine_up) return;
    SimNode& node = *found->second;
    if (node.suspended) {
        node.held_back.push_back([this, id, incarnation, what] { on_node(id, incarnation, what); });
        return;
    }
    if (incarnation != 0 && (node.incarnation != incarnation || !node.agent)) return;
    what(node);
}

void World::connect(SimNode& node) {
    if (node.connecting || node.link != 0 || !node.agent) return;
    node.connecting = true;
    const NodeId id = node.id;
    const std::uint64_t incarnation = node.incarnation;
    after(between(10ms, 2s), [this, id, incarnation] {
        on_node(id, incarnation, [this](SimNode& dialing) {
            dialing.connecting = false;
            if (!server_is_up() || dialing.partitioned) return connect(dialing);
            if (!dialing.has_credential) {
                const NodeId self = dialing.id;
                const std::uint64_t same = dialing.incarnation;
                dialing.connecting = true;
                post(plane::EnrolNode{.ticket = 0, .node = self},
                     [this, self, same](const Result<app::Answer>& answer) {
                         const bool granted = answer.has_value();
                         if (dying_) return;
                         on_node(self, same, [this, granted](SimNode& enrolled) {
                             enrolled.connecting = false;
                             if (!granted) return kill_agent(enrolled);
                             enrolled.has_credential = true;
                             connect(enrolled);
                         });
                     });
                // The answer may never come: the server may die first.
                after(30s, [this, self, same] {
                    on_node(self, same, [this](SimNode& waiting) {
                        if (waiting.has_credential || !waiting.connecting) return;
                        waiting.connecting = false;
                        connect(waiting);
                    });
                });
                return;
            }
            dialing.link = ++links_;
            feed(dialing, agent::LinkUp{agent::Link::Bulk});
            feed(dialing, agent::LinkUp{agent::Link::Control});
        });
    });
}

void World::disconnect(SimNode& node, std::uint64_t link) {
    if (link == 0 || node.link != link) return;
    node.link = 0;
    post(plane::NodeUnlinked{node.id, link});
    if (!node.agent) return;
    on_node(node.id, node.incarnation, [this](SimNode& cut) {
        feed(cut, agent::LinkDown{agent::Link::Control});
        feed(cut, agent::LinkDown{agent::Link::Bulk});
        connect(cut);
    });
}

void World::drop_links() {
    if (dying_) return;
    for (auto& [id, node] : nodes_) {
        const std::uint64_t link = node->link;
        if (link == 0) continue;
        node->link = 0;
        on_node(id, node->incarnation, [this](SimNode& cut) {
            if (cut.link != 0) return;
            feed(cut, agent::LinkDown{agent::Link::Control});
            feed(cut, agent::LinkDown{agent::Link::Bulk});
            connect(cut);
        });
    }
}

void World::feed(SimNode& node, const agent::Event& event) {
    if (!node.agent) return;
    const NodeId id = node.id;
    const std::uint64_t incarnation = node.incarnation;
    const std::vector<agent::Action> actions = node.agent->step(event, now_ + node.clock_ahead);
    for (const agent::Action& action : actions) {
        const auto still = nodes_.find(id);
        if (still == nodes_.end() || still->second->incarnation != incarnation || !still->second->agent)
            return;
        act(*still->second, action);
    }
    const auto still = nodes_.find(id);
    if (still != nodes_.end() && still->second->agent && still->second->incarnation == incarnation)
        plan_tick(*still->second);
}

void World::plan_tick(SimNode& node) {
    const std::optional<Instant> wake = node.agent->next_wake();
    if (!wake) return;
    const Instant at = std::max(now_, *wake - node.clock_ahead);
    if (node.tick_at && *node.tick_at <= at && *node.tick_at > now_) return;
    node.tick_at = at;
    const NodeId id = node.id;
    const std::uint64_t incarnation = node.incarnation;
    after(at - now_ + 1ms, [this, id, incarnation] {
        on_node(id, incarnation, [this](SimNode& ticking) { feed(ticking, agent::Tick{}); });
    });
}

void World::act(SimNode& node, const agent::Action& action) {
    if (const auto* say = std::get_if<agent::Say>(&action)) return to_server(node, say->message);
    if (const auto* wanted = std::get_if<agent::Prepare>(&action)) return prepare(node, wanted->start);
    if (const auto* wanted = std::get_if<agent::Launch>(&action)) return launch(node, wanted->task);
    if (const auto* cancel = std::get_if<agent::CancelPrepare>(&action)) {
        node.spool.erase(cancel->task);
    } else if (const auto* signal = std::get_if<agent::Signal>(&action)) {
        const auto found = node.spool.find(signal->task);
        if (found == node.spool.end() || found->second.dead || !found->second.launched) return;
        if (chance(70)) end_process(node, signal->task, {.known = true, .signal = signal->number});
    } else if (const auto* kill = std::get_if<agent::Kill>(&action)) {
        const auto found = node.spool.find(kill->task);
        if (found == node.spool.end()) return;
        const ports::TaskExit exit =
            found->second.dead ? found->second.exit : ports::TaskExit{.known = true, .signal = 9};
        end_process(node, kill->task, exit);
    } else if (const auto* log = std::get_if<agent::SendLog>(&action)) {
        to_server(node, LogBytes{log->task, "user_logs/std_log.txt", log->from,
                                 std::string(log->to - log->from, 'x')});
    } else if (const auto* stage = std::get_if<agent::StageOutputs>(&action)) {
        const NodeId id = node.id;
        const TaskRef task = stage->task;
        after(between(1ms, 3s), [this, id, task, incarnation = node.incarnation] {
            on_node(id, incarnation, [this, task](SimNode& staging) {
                ++staged_[task.job][task.attempt];
                feed(staging, agent::OutputsStaged{.task = task, .any = true, .problem = ""});
            });
        });
    } else if (const auto* gone = std::get_if<agent::Forget>(&action)) {
        const auto found = node.spool.find(gone->task);
        if (found != node.spool.end() && found->second.launched && !found->second.dead)
            fail("the spool of a running process was removed: " + name_of_task(gone->task));
        node.spool.erase(gone->task);
    } else if (std::holds_alternative<agent::Leave>(action)) {
        for (auto& [ref, process] : node.spool) process.dead = true;
        kill_agent(node);
    }
}

void World::prepare(SimNode& node, const StartTask& start) {
    node.spool[start.task] = Process{.start = start};
    const bool broken = chance(2);
    const NodeId id = node.id;
    after(between(1ms, 5s), [this, id, start, broken, incarnation = node.incarnation] {
        on_node(id, incarnation, [this, start, broken](SimNode& preparing) {
            const auto found = preparing.spool.find(start.task);
            if (found == preparing.spool.end()) return;
            found->second.prepared = true;
            agent::Prepared event{.task = start.task, .problem = {}, .timeout = {}, .log_bytes = 0};
            if (broken) event.problem = agent::PrepareProblem{"DataNotFound", "no such data"};
            feed(preparing, event);
        });
    });
}

void World::launch(SimNode& node, TaskRef task) {
    const auto found = node.spool.find(task);
    if (found == node.spool.end()) return fail("launch of what was not prepared: " + name_of_task(task));
    Process& process = found->second;
    if (process.launched) return fail("launched twice: " + name_of_task(task));
    process.launched = true;
    process.launched_at = now_;
    process.runs_for = chance(70) ? between(1s, 2min) : between(1min, 15min);
    process.exit_code = chance(15) ? 1 : 0;
    process.run = ++order_;
    note(to_string(node.id) + " runs " + name_of_task(task));
    check_running(task.job);
    const NodeId id = node.id;
    const std::uint64_t run = process.run;
    after(process.runs_for, [this, id, task, run] {
        on_node(id, 0, [this, task, run](SimNode& running) {
            const auto still = running.spool.find(task);
            if (still == running.spool.end() || still->second.run != run || still->second.dead) return;
            end_process(running, task, {.known = true, .exit_code = still->second.exit_code});
        });
    });
    grow_log(id, task, run);
    feed(node, agent::Launched{task});
}

void World::grow_log(NodeId id, TaskRef task, std::uint64_t run) {
    after(between(100ms, 60s), [this, id, task, run] {
        on_node(id, 0, [this, id, task, run](SimNode& node) {
            const auto found = node.spool.find(task);
            if (found == node.spool.end() || found->second.run != run || found->second.dead) return;
            found->second.log_bytes += static_cast<std::uint64_t>(upto(200));
            if (node.agent) feed(node, agent::LogGrew{task, found->second.log_bytes});
            grow_log(id, task, run);
        });
    });
}

void World::end_process(SimNode& node, TaskRef task, ports::TaskExit exit) {
    const auto found = node.spool.find(task);
    if (found == node.spool.end()) return;
    Process& process = found->second;
    if (!process.dead) {
        process.dead = true;
        process.exit = exit;
        process.log_bytes += static_cast<std::uint64_t>(upto(100));
        produced_[task] = process.log_bytes;
        note(to_string(node.id) + " ended " + name_of_task(task));
    }
    if (!node.agent) return;
    // Its agent learns of it through a descriptor, not at the same instant.
    after(between(0us, 1ms), [this, id = node.id, task, incarnation = node.incarnation] {
        on_node(id, incarnation, [this, task](SimNode& told) {
            const auto still = told.spool.find(task);
            if (still == told.spool.end()) return;
            const std::uint64_t log_bytes = still->second.log_bytes;
            feed(told, agent::Exited{.task = task,
                                     .exit = still->second.exit,
                                     .message = "",
                                     .traceback_line = "",
                                     .log_bytes = log_bytes,
                                     .log = log_bytes <= 200 ? std::string(log_bytes, 'x') : "",
                                     .has_files = task.job.value % 3 == 0});
        });
    });
}

// How often and when a message arrives.
std::vector<Duration> World::travel_times() {
    if (!nemeses_on_ || !nemeses_.bad_network) return {1ms};
    if (chance(3)) return {};
    std::vector<Duration> times{chance(10) ? between(1ms, 20s) : between(1ms, 100ms)};
    if (chance(3)) times.push_back(between(1ms, 30s));
    return times;
}

void World::to_server(SimNode& node, const FromAgent& message) {
    if (node.link == 0 || node.partitioned) return;
    const NodeId id = node.id;
    const std::uint64_t link = node.link;
    for (const Duration travel : travel_times())
        after(travel, [this, id, link, message] { deliver_to_server(id, link, message); });
}

void World::deliver_to_server(NodeId id, std::uint64_t link, const FromAgent& message) {
    const auto found = nodes_.find(id);
    if (found == nodes_.end() || found->second->link != link || !server_is_up()) return;
    if (const auto* hello = std::get_if<Hello>(&message)) post(plane::NodeLinked{id, link, *hello});
    if (const auto* beat = std::get_if<Heartbeat>(&message)) post(plane::NodeHeard{id, link, beat->number});
    if (const auto* report = std::get_if<TaskReport>(&message)) post(plane::TaskReported{id, link, *report});
    if (const auto* log = std::get_if<LogBytes>(&message)) {
        std::uint64_t& durable = log_durable_[log->task];
        if (log->offset > durable) return;  // A gap: it is sent again.
        durable = std::max(durable, log->offset + log->bytes.size());
        send(id, LogDurable{log->task, log->file, durable});
    }
}

void World::send(NodeId node, ToAgent message) {
    if (dying_) return;
    const auto found = nodes_.find(node);
    if (found == nodes_.end() || found->second->link == 0 || found->second->partitioned) return;
    const std::uint64_t link = found->second->link;
    if (const auto* start = std::get_if<StartTask>(&message); start != nullptr && start->link != link) return;
    for (const Duration travel : travel_times())
        after(travel, [this, node, link, message] { deliver_to_agent(node, link, message); });
}

void World::deliver_to_agent(NodeId id, std::uint64_t link, const ToAgent& message) {
    on_node(id, 0, [this, link, message](SimNode& node) {
        if (node.link == link && node.agent) feed(node, agent::FromServer{message});
    });
}

}  // namespace lavant::simulation
