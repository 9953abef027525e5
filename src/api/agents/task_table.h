#pragma once
// Which task is on which node, as the server last told its agents: the fence for everything a node sends
// besides its reports. An attempt that is not here is not current, whatever its node believes.

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/launch.h"
#include "core/model/messages.h"
#include "ports/store.h"

namespace lavant::api {

struct HeldTask {
    TaskRef ref;
    NodeId node;
    std::string workspace;
    std::string job_name;
    bool is_new = false;                   // first started by this process: nothing of it is stored yet
    std::shared_ptr<const Launch> launch;  // shared with readers; null: not loaded since the server started
};

class TaskTable {
 public:
    explicit TaskTable(ports::Reader& reader) : reader_(reader) {}

    // What the tables say is on nodes, and nothing else: after a start of the server, and when it cannot know
    // what it has heard.
    [[nodiscard]] Result<void> restore();
    void started(NodeId node, const StartTask& start);
    void forgotten(TaskRef task);
    std::set<JobId> released(NodeId node);  // whose tasks were there
    std::size_t size() const;

    std::optional<HeldTask> find(TaskRef task, NodeId node) const;
    // Any task of this attempt on this node, with its launch.
    std::optional<HeldTask> find_attempt(JobId job, int attempt, NodeId node);
    // May a task on this node read that blob, or list below that prefix?
    bool may_read(NodeId node, std::string_view container, std::string_view path);
    static bool may_write(const HeldTask& task, std::string_view container, std::string_view path);
    bool has_job(JobId job) const;  // any task of it

 private:
    void load_launch(HeldTask& task) const;
    [[nodiscard]] Result<void> load_current(const std::string& workspace,
                                            std::map<TaskRef, HeldTask>& current) const;

    ports::Reader& reader_;
    mutable std::mutex mutex_;  // guards tasks_
    std::map<TaskRef, HeldTask> tasks_;
};

}  // namespace lavant::api
