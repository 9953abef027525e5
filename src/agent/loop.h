#pragma once
// The agent's runtime: feeds the machine with what happens on the node and on the wires, and carries out what
// it decides. One thread; nothing here decides anything about a task's fate.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/kept_folders.h"
#include "agent/log_stream.h"
#include "agent/machine.h"
#include "agent/spool.h"
#include "agent/task_files.h"
#include "agent/transfers.h"
#include "ports/agent_link.h"
#include "ports/clock.h"
#include "ports/sandbox.h"

namespace lavant::agent {

struct LoopSettings {
    NodeId node;
    std::string folder;      // the node's own; 0700
    std::string server_url;  // as tasks see it
    std::string ca_file;
    std::string enrol_token;   // needed once, before the folder has a credential
    std::string boot;          // names this agent process: "<the machine's boot>.<anything>"
    std::string machine_boot;  // empty: not known
    std::string host;
    Resources resources;
    std::string gpus;               // names of the node's devices, by commas; each task is told its own
    bool machine_has_gpus = false;  // these, or others that are none of the node's
    bool confined = true;
    Duration log_poll = std::chrono::milliseconds(100);
    MachineSettings machine;
};

struct LoopPorts {
    ports::Reactor& reactor;
    ports::ServerWire& wire;
    ports::Sandbox& sandbox;
    ports::Clock& clock;
};

std::string routes_of(NodeId node);  // "/lavant/v1/nodes/17"

class Loop {
 public:
    Loop(LoopSettings settings, LoopPorts ports);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Takes over what an earlier process left, then dials. Everything else happens in the reactor.
    [[nodiscard]] Result<void> start();
    const Machine& machine() const { return machine_; }
    bool was_refused() const { return refused_; }

 private:
    struct Work {
        TaskPaths paths;
        StartTask start;
        lavant::Launch launch;
        ports::ConfinedTask confined;
        std::optional<LogStream> log;
        std::string log_name;
        int pidfd = -1;
        bool running = false;
        std::vector<Upload> uploads;
        Fd saved;                // its launch file
        bool untouched = false;  // it wrote nothing but its log
        bool kept = false;       // its folder stays, for inspection
        std::string upload_problem;
        std::shared_ptr<Download> download;  // shared: their callbacks hold them weakly
        std::shared_ptr<Transfer> staging;
    };
    class Wire;  // one of the two links

    void give(Event event);
    void drain();
    void arm_timer();
    void arm_poll();

    void carry_out(Say& action);
    void carry_out(Prepare& action);
    void carry_out(CancelPrepare& action);
    void carry_out(agent::Launch& action);
    void carry_out(Signal& action);
    void carry_out(Kill& action);
    void carry_out(SendLog& action);
    void carry_out(KeepLog& action);
    void carry_out(StageOutputs& action);
    void carry_out(Forget& action);
    void carry_out(Leave& action);

    void enrol();
    void enrolled(const Result<ports::HttpResponse>& answer);
    void dial();
    [[nodiscard]] Result<Started> recover();
    [[nodiscard]] Result<void> set_up(Work& work);
    [[nodiscard]] Result<std::vector<Fetch>> plan_fetches(const Work& work) const;
    void fetch(Work& work);
    void fetched(TaskRef task, const Result<void>& result);
    void prepare_failed(Work& work, const Error& error);
    void share_code(const Work& work);
    void watch(Work& work);
    void gone(TaskRef task);
    void poll_logs();
    void pull(Work& work);
    void clear_away(const Work& work);
    void keep_if_asked(Work& work);
    std::uint64_t close_log(Work& work);
    std::string code_folder(const Work& work) const;
    void remember_heard();
    Work* find(TaskRef task);

    LoopSettings settings_;
    LoopPorts ports_;
    Machine machine_;
    std::map<TaskRef, std::unique_ptr<Work>> work_;
    std::deque<Event> events_;
    bool draining_ = false;
    bool left_ = false;
    bool refused_ = false;
    std::string credential_;
    std::unique_ptr<Wire> control_;
    std::unique_ptr<Wire> bulk_;
    ports::Reactor::Timer timer_ = 0;
    Instant timer_at_{};
    bool polling_ = false;
    Instant remembered_{};
    Spool spool_;
    KeptFolders kept_;
    std::optional<std::string> programs_;  // a folder, "" if none is needed; nullopt before the first look
    std::shared_ptr<bool> alive_;  // shared: callbacks of the wires see whether the loop is still there
};

}  // namespace lavant::agent
