#pragma once
// The folders of a node's tasks: <node folder>/tasks/<number>. One whose task left it as it was serves the
// next task of the same user: making and removing folders costs more than a no-op command. Never that of
// another user: a task may have handed an open file or folder to somebody.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace lavant::agent {

// Whether a task's folder is as it was made: besides the files of task_files.h only a working folder, in it
// only the empty folders outputs and logs, no large log, and no modes or attributes that the next task would
// meet.
bool is_untouched(const std::string& task_folder);

class Spool {
 public:
    explicit Spool(const std::string& node_folder) : folder_(node_folder + "/tasks") {}

    // A new, empty folder.
    [[nodiscard]] Result<std::string> make();
    // One that a task of this user gave back, or a new one. It may have the files of task_files.h, to be
    // written over, and a working folder with outputs and logs.
    [[nodiscard]] Result<std::string> take(const std::string& user);
    // The folder of a task that is forgotten: no process of it is left, and it is untouched.
    void give_back(const std::string& folder, const std::string& user);

 private:
    static constexpr std::size_t kSparesMax = 4;
    std::string folder_;
    std::uint64_t last_ = 0;
    struct Spare {
        std::string folder;
        std::string user;
    };
    std::vector<Spare> spares_;  // the oldest first
};

}  // namespace lavant::agent
