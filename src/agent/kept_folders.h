#pragma once
// Folders of failed tasks that their jobs asked to keep for inspection (`lavant.keep_on_failure`): the last
// few of the node, and only as long as the node is there.

#include <string>

#include "base/result.h"
#include "core/model/node.h"

namespace lavant::agent {

class KeptFolders {
 public:
    static constexpr std::size_t kKeptMax = 10;

    explicit KeptFolders(std::string folder) : folder_(std::move(folder)) {}

    std::string place_of(TaskRef task) const;
    // Moves a task's folder there, less what is secret or can be had again; the oldest makes room.
    [[nodiscard]] Result<void> take(TaskRef task, const std::string& task_folder);

 private:
    void make_room() const;

    const std::string folder_;
};

}  // namespace lavant::agent
