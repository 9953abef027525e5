#pragma once
// What attempts upload before it is published, and the end of what nobody will publish.

#include <string>
#include <vector>

#include "base/id.h"
#include "base/result.h"
#include "core/model/record.h"
#include "ports/blobs.h"

namespace lavant::app {

// Those in which jobs of a workspace may stage something.
using Containers = std::vector<std::string>;
Containers own_containers(const std::string& workspace);  // of the datastores it has from the start

std::string staging_folder_of(JobId job, int attempt);  // below ports::kStagingFolder

// What an attempt staged is in its place, or as much of it as can be.
[[nodiscard]] Result<void> publish_staged(ports::BlobStore& blobs, const Containers& containers, JobId job,
                                          int attempt);
// Of two results of one effect the one to be told: a failure that may pass before one that will not, as after
// it everything is tried again.
[[nodiscard]] Result<void> first_to_tell(Result<void> one, Result<void> other);
[[nodiscard]] Result<void> drop_staged(ports::BlobStore& blobs, const Containers& containers, JobId job,
                                       int attempt);
// At start, before any agent can upload: drops what no live attempt owns.
[[nodiscard]] Result<void> sweep_staging(ports::BlobStore& blobs, const Containers& containers,
                                         const std::vector<JobHead>& live);

}  // namespace lavant::app
