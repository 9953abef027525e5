#include "app/staging.h"

#include <set>

#include "base/log.h"
#include "core/model/workspace.h"
#include "core/plane/verdict.h"

namespace lavant::app {

Containers own_containers(const std::string& workspace) {
    return {blob_container(workspace), artifact_container(workspace)};
}

std::string staging_folder_of(JobId job, int attempt) {
    return std::to_string(job.value) + "-" + std::to_string(attempt);
}

Result<void> first_to_tell(Result<void> one, Result<void> other) {
    return !other && (one || plane::may_pass(other.error().code)) ? other : one;
}

// What is in the way in one container keeps nothing back in the other.
Result<void> publish_staged(ports::BlobStore& blobs, const Containers& containers, JobId job, int attempt) {
    const std::string staged = std::string(ports::kStagingFolder) + "/" + staging_folder_of(job, attempt);
    Result<void> done;
    for (const std::string& container : containers)
        done = first_to_tell(std::move(done), blobs.publish(container, staged, ""));
    return done;
}

Result<void> drop_staged(ports::BlobStore& blobs, const Containers& containers, JobId job, int attempt) {
    for (const std::string& container : containers)
        LAVANT_TRY_VOID(blobs.drop_staged(container, staging_folder_of(job, attempt)));
    return {};
}

Result<void> sweep_staging(ports::BlobStore& blobs, const Containers& containers,
                           const std::vector<JobHead>& live) {
    std::set<std::string> owned;
    for (const JobHead& job : live) owned.insert(staging_folder_of(job.id, job.attempt));
    std::size_t dropped = 0;
    for (const std::string& container : containers) {
        LAVANT_TRY(const std::vector<std::string> folders, blobs.list_staged(container));
        for (const std::string& folder : folders) {
            if (owned.contains(folder)) continue;
            LAVANT_TRY_VOID(blobs.drop_staged(container, folder));
            ++dropped;
        }
    }
    if (dropped > 0) log(Level::Info, "staging_swept", {{"folders", std::to_string(dropped)}});
    return {};
}

}  // namespace lavant::app
