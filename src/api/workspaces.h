#pragma once
// Which workspace a request is about. Every workspace has a key, under which its jobs, assets and computes
// are stored; names are found here, and made where the server is set to make what an owner names.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/model/asset.h"
#include "core/model/workspace.h"
#include "ports/blobs.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/store.h"

namespace lavant::api {

struct Workspace {
    std::string key;
    std::string id;  // a GUID: clients cache by it
    WorkspaceName name;
    std::string location;
    bool deleted = false;
    std::string created_by;
    Instant created_at{};
    bool operator==(const Workspace&) const = default;
};

struct WorkspacePorts {
    ports::Reader& reader;
    ports::BlobStore& blobs;
    ports::Crypto& crypto;
    ports::Clock& clock;
};

[[nodiscard]] Result<Workspace> parse_workspace(const Asset& row);
AssetWrite workspace_row(const Workspace& workspace, std::int64_t expected, Instant now);
// The assets that every workspace has from the start.
[[nodiscard]] Result<std::vector<AssetWrite>> first_assets(const std::string& key, Instant now);
std::string make_guid(ports::Crypto& crypto);
[[nodiscard]] Result<void> check_workspace_name(const WorkspaceName& name);

class Workspaces {
 public:
    explicit Workspaces(WorkspacePorts ports) : ports_(ports) {}

    // nullopt: there is none, and never was. One that was deleted is found as such. Any thread.
    [[nodiscard]] Result<std::optional<Workspace>> find(const WorkspaceName& name);
    [[nodiscard]] Result<std::vector<Workspace>> list() const;  // not deleted

    struct Plan {
        Workspace workspace;
        std::vector<AssetWrite> writes;  // the workspace first
    };
    // A workspace of that name, new or in the place of a deleted one. Its containers are made here: without
    // the rows nobody sees them.
    [[nodiscard]] Result<Plan> plan(const WorkspaceName& name, const std::string& location,
                                    const std::string& who);
    void forget(const WorkspaceName& name);  // its row has changed

    // Of several who want one at the same time, the first makes it (true) and tells the others with `made`.
    using Made = std::function<void(const Result<Workspace>&)>;
    [[nodiscard]] bool begin_making(const WorkspaceName& name, Made then);
    void made(const WorkspaceName& name, const Result<Workspace>& workspace);

 private:
    WorkspacePorts ports_;
    std::mutex mutex_;  // guards what follows
    std::unordered_map<std::string, Workspace> known_;
    std::uint64_t generation_ = 0;  // counts what was forgotten
    std::unordered_map<std::string, std::vector<Made>> making_;
};

}  // namespace lavant::api
