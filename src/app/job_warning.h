#pragma once
#include <string>

#include "core/model/record.h"

namespace lavant::app {

// Adds to what is shown with a job that the batch changes.
inline void warn_of(const JobHead& job, const std::string& what, WriteBatch& writes) {
    for (JobHead& changed : writes.jobs_changed)
        if (changed.id == job.id) changed.warning += (changed.warning.empty() ? "" : "; ") + what;
}

}  // namespace lavant::app
