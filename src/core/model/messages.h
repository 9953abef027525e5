#pragma once
// What server and agent say to each other. protocol/agent.md tells the story; wire/messages.h encodes them.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/model/node.h"

namespace lavant {

inline constexpr int kAgentProtocol = 1;

// --- server to agent ---

// Answers a Hello (heard = 0) and every Heartbeat (heard = its number). The agent's lease counts from the
// moment it sent what is answered here, so a slow network never stretches it.
struct Welcome {
    int protocol = kAgentProtocol;
    std::int64_t lease_micros = 0;
    std::int64_t heartbeat_micros = 0;
    std::int64_t heard = 0;
};
// Repeated after a reconnect; a task the agent already has is not started again.
struct StartTask {
    TaskRef task;  // its index is its rank: the node's times `processes`, plus the one on the node
    int instances = 1;
    std::vector<std::string> hosts;  // one per instance; the first is the rendezvous
    std::string launch;              // encoded Launch
    std::string job_token;           // for MLflow and our own API, valid for this attempt
    // On which link it was decided; not sent. A newer one may be that of a machine that was restarted: there
    // it would begin what is about to be taken for lost.
    std::uint64_t link = 0;
    int processes = 1;    // on each node
    int port = 0;         // for the rendezvous; 0: the task is alone
    std::string gpus;     // names of the devices it may use, by commas
    bool resume = false;  // begins with what the last attempt left in its outputs
};
inline bool is_alone(const StartTask& start) { return start.instances <= 1 && start.processes <= 1; }

struct StopTask {
    TaskRef task;
    std::string why;
    std::int64_t grace_micros = 0;
    bool preempted = false;  // it will be tried again: its end is Preempted, and its outputs are kept
};
// The end of this task is committed: its spool may go. Also the answer for a task the server does not
// want (an old attempt): the agent kills it first.
struct ForgetTask {
    TaskRef task;
};
struct LogDurable {
    TaskRef task;
    std::string file;
    std::uint64_t bytes = 0;  // all before this offset is safe
};
// The node is not wanted any more: the agent ends.
struct ReleaseNode {};

using ToAgent = std::variant<Welcome, StartTask, StopTask, ForgetTask, LogDurable, ReleaseNode>;

// --- agent to server ---

struct TaskReport {
    TaskRef task;
    TaskPhase phase = TaskPhase::Assigned;
    std::int64_t at_micros = 0;
    std::int64_t ran_micros =
        0;  // since its command began; 0: it did not. A short task is reported once, at its end
    TaskEnd end;
};
// First frame of a control link: who I am, and every task I hold.
struct Hello {
    int protocol = kAgentProtocol;
    NodeId node;
    std::string boot;  // "<boot of the machine>.<this process>"
    std::string host;
    Resources machine;
    std::string protections;
    std::vector<TaskReport> tasks;
};
struct Heartbeat {
    std::int64_t number = 0;  // counts from 1, never reused by an agent process
};
struct LogBytes {
    TaskRef task;
    std::string file;  // "user_logs/std_log.txt"
    std::uint64_t offset = 0;
    std::string bytes;
};

using FromAgent = std::variant<Hello, Heartbeat, TaskReport, LogBytes>;

}  // namespace lavant
