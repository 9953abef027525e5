#pragma once
// A compute as its author wrote it, checked: clusters, instances, and records of attached machines. Only
// parse_compute makes one. What the author left out stays empty: wire/compute_to_arm.h knows the defaults.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/model/compute.h"
#include "core/model/quota.h"
#include "core/spec/document.h"
#include "core/spec/finding.h"

namespace lavant::spec {

// Of everything a compute can hold many of, and of every text in it.
inline constexpr std::size_t kComputeTagsMost = 50;
inline constexpr std::size_t kComputeTagNameBytes = 512;
inline constexpr std::size_t kComputeTagValueBytes = 256;
inline constexpr std::size_t kComputeDescriptionBytes = 4'096;
inline constexpr std::size_t kComputeTextBytes = 2'048;  // an ARM id, a path, a command
inline constexpr std::size_t kComputeKeyBytes = 16'384;  // a public key
inline constexpr std::size_t kComputeItemsMost = 100;    // identities, schedules, applications
inline constexpr std::int64_t kShutdownMinutesMost = 30LL * 24 * 60;
// Behind the place where somebody wrote one.
inline constexpr std::string_view kPasswordNotKept =
    ": is not sent and not kept; passwords have no place in a compute";

struct NetworkSpec {
    std::string vnet_name;
    std::string subnet;  // a name in that network, or a whole ARM id
};

struct ComputeSshSpec {
    std::string admin_username;
    std::string public_key;
    std::string private_key_file;  // of a virtual machine; not read
    std::optional<int> port;       // likewise
    bool gave_password = false;    // the password itself is not kept, not even here
};

struct ComputeIdentitySpec {
    std::string type;  // system_assigned, user_assigned, none, "system_assigned,user_assigned"
    std::vector<std::string> user_assigned;  // resource ids
};

struct ScriptSpec {
    std::string path;
    std::string command;
    std::optional<int> timeout_minutes;
};

// When an instance is started or stopped by itself.
struct PowerScheduleSpec {
    std::string action;  // start, stop
    bool enabled = true;
    std::string trigger;  // cron, recurrence
    std::string start_time;
    std::string time_zone;
    std::string expression;  // of cron
    std::string frequency;   // minute, hour, day, week, month
    std::optional<int> interval;
    bool has_pattern = false;  // the next three
    std::vector<std::string> week_days;
    std::vector<int> hours;
    std::vector<int> minutes;
};

struct ApplicationSpec {
    struct Endpoint {
        int target = 0;
        int published = 0;
    };
    struct Mount {
        std::string source;
        std::string target;
    };
    std::string name;
    std::string image;
    std::vector<Endpoint> endpoints;
    std::map<std::string, std::string> variables;
    std::vector<Mount> mounts;
};

struct InstanceSpec {
    std::string user_tenant_id;  // create_on_behalf_of
    std::string user_object_id;
    std::string idle_before_shutdown;  // ISO 8601, as PT30M
    std::vector<PowerScheduleSpec> schedules;
    std::optional<ScriptSpec> creation_script;
    std::optional<ScriptSpec> startup_script;
    std::vector<ApplicationSpec> applications;
    std::optional<bool> sso;
    std::optional<bool> root_access;
    std::optional<bool> release_quota_on_stop;
    std::optional<bool> os_patching;
};

struct ComputeSpec {
    ComputeKind kind = ComputeKind::Cluster;
    std::string name;
    std::optional<std::string> description;
    std::string location;  // a region's name, "" the workspace's
    std::optional<std::map<std::string, std::string>> tags;
    std::optional<ComputeIdentitySpec> identity;
    // clusters and instances
    std::string size;
    std::optional<NetworkSpec> network;
    std::optional<ComputeSshSpec> ssh;
    std::optional<bool> ssh_public_access;
    std::optional<bool> node_public_ip;
    // clusters
    std::optional<Tier> tier;
    Scale scale;
    std::string node_sharing;  // "" or exclusive, packed
    InstanceSpec instance;
    // attached
    std::string resource_id;
    std::string kube_namespace;
    std::optional<Document> kube_properties;

    std::vector<std::string> warnings;  // what has no effect, one sentence each
    std::vector<Finding> beyond_azure;  // what Azure's own tools would refuse or ignore
};

// Whole: what a compute is made from. Changes: what is to be different about one that is there; only its
// name and type are needed.
enum class ComputeText { Whole, Changes };
// All problems at once in Error::fields, with paths, lines and columns.
[[nodiscard]] Result<ComputeSpec> parse_compute(const Document& document, ComputeText text);

// The rules for tags, wherever they come from: pairs of a tag's name and what is wrong with it; an empty name
// stands for all of them.
std::vector<std::pair<std::string, std::string>> check_tags(const std::map<std::string, std::string>& tags);

}  // namespace lavant::spec
