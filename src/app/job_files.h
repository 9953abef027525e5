#pragma once
// Files of a job that are made when somebody looks, from what the database knows: system_logs/lifecycle.txt
// (a line per state, with time and reason, also while the job runs) and the log of a job so short that it
// came with the report of its end. They cost nothing where nobody looks.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/record.h"
#include "ports/blobs.h"
#include "ports/store.h"

namespace lavant::app {

std::string render_lifecycle(const std::vector<HistoryEvent>& events);

// Everything that a job made and that lies in its own places: artifacts, and named outputs that were given no
// other place. Nothing there: done.
[[nodiscard]] Result<void> drop_job_files(ports::BlobStore& blobs, const std::string& workspace,
                                          const std::string& job_name);

// Moves the logs of an attempt that another one follows to user_logs/attempt_<n>/. The next one must not have
// begun. Nothing there: done.
[[nodiscard]] Result<void> set_logs_aside(ports::BlobStore& blobs, const std::string& workspace,
                                          const std::string& job_name, int attempt);

class JobFiles {
 public:
    JobFiles(ports::Reader& reader, ports::BlobStore& blobs) : reader_(reader), blobs_(blobs) {}

    // Brings those files up to date that `blob` (a blob's name, or the prefix of a listing) reaches. Best
    // effort: a look must not fail because of it. Any thread.
    void refresh(std::string_view container, std::string_view blob) const;

 private:
    [[nodiscard]] Result<void> refresh_below(const std::string& workspace, const std::string& job,
                                             std::string_view at) const;
    [[nodiscard]] Result<void> keep(const std::string& container, const std::string& blob,
                                    std::string_view text) const;
    [[nodiscard]] Result<std::vector<std::string>> keep_of_job(const Job& job, bool lifecycle,
                                                               bool logs) const;  // the files' names
    ports::Reader& reader_;
    ports::BlobStore& blobs_;
};

}  // namespace lavant::app
