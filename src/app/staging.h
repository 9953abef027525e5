#pragma once
// What attempts upload before it is published, and the end of what nobody will publish.

#include <string>

#include "base/id.h"
#include "base/result.h"
#include "core/model/record.h"
#include "ports/blobs.h"

namespace lavant::app {

std::string staging_folder_of(JobId job, int attempt);  // below ports::kStagingFolder

// What an attempt staged is in its place, or as much of it as can be.
[[nodiscard]] Result<void> publish_staged(ports::BlobStore& blobs, JobId job, int attempt);
[[nodiscard]] Result<void> drop_staged(ports::BlobStore& blobs, JobId job, int attempt);
// At start, before any agent can upload: drops what no live attempt owns.
[[nodiscard]] Result<void> sweep_staging(ports::BlobStore& blobs, const std::vector<JobHead>& live);

}  // namespace lavant::app
