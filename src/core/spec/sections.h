#pragma once
// What job files of every kind are made of: inputs, outputs, environments, resources, as their author wrote
// them, checked. Local paths stay local here: who submits the job uploads them (wire/resolver.h).

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/spec/document.h"

namespace lavant::spec {

struct InputSpec {
    std::string name;
    std::string
        type;  // "literal", or uri_file, uri_folder, mltable, custom_model, mlflow_model, triton_model
    std::string value;       // of a literal, as the server gets it
    std::string value_type;  // of a literal: string, integer, number, boolean
    std::string path;        // of others, as written
    std::string local_path;  // where that is on this machine; empty if it is not a local path
    std::string mode;        // "" or ro_mount, rw_mount, download, direct, eval_mount, eval_download
    std::string datastore;   // where to upload a local path, empty for the default
};

struct OutputSpec {
    std::string name;
    std::string type = "uri_folder";
    std::string mode;  // "" or rw_mount, upload, direct
    std::string path;
    std::string asset_name;
    std::string asset_version;
    std::string binding;        // of a step: "${{parent.outputs.x}}" instead of everything else
    bool has_settings = false;  // something was written, not only the name
};

struct EnvironmentSpec {
    // An existing one: "NAME:VERSION", "NAME@LABEL", "azureml://registries/…" or an ARM id, without
    // `azureml:`.
    std::string reference;
    // Or a definition; exactly one of image and build_path is set.
    std::string name;  // empty: anonymous
    std::string version;
    std::string description;
    std::map<std::string, std::string> tags;
    std::string image;
    std::string conda_file;         // its path on this machine, empty if inline or none
    std::string conda_text;         // its content as text, when it came from a file
    std::optional<Document> conda;  // its content, when it was written inline
    std::string build_path;         // on this machine
    std::string dockerfile_path;    // inside build_path
    std::string os_type;            // "", "linux", "windows"
};

// Files and folders of this machine that travel with a component's code, each under its own name.
struct IncludesSpec {
    std::vector<std::string> written;
    std::vector<std::string> local;  // where they are
    std::string folder;              // of the file that names them

    bool empty() const { return written.empty(); }
};

struct ResourcesSpec {
    std::optional<int> instance_count;
    std::string instance_type;
    std::vector<std::string> locations;
    std::optional<Document> properties;
    std::string shm_size;
    std::string docker_args;
    std::vector<std::string> docker_args_list;
    std::optional<int> max_instance_count;
};

struct QueueSpec {
    std::string job_tier;  // "" or Spot, Basic, Standard, Premium
    std::string priority;  // "" or low, medium, high
};

struct DistributionSpec {
    std::string type;  // pytorch, mpi, tensorflow, ray
    std::optional<int> process_count_per_instance;
    std::optional<int> worker_count;
    std::optional<int> parameter_server_count;
    // ray
    std::optional<int> port;
    std::string address;
    std::optional<bool> include_dashboard;
    std::optional<int> dashboard_port;
    std::string head_node_additional_args;
    std::string worker_node_additional_args;
};

struct IdentitySpec {
    std::string type;  // user_identity, managed, aml_token
    std::string client_id;
    std::string object_id;
    std::string resource_id;
};

struct ServiceSpec {
    std::string name;
    std::string type;  // ssh, vs_code, jupyter_lab, tensor_board, custom
    bool on_all_nodes = false;
    std::optional<int> port;
    std::map<std::string, std::string> properties;  // with logDir and sshPublicKeys where given
    bool uses_seed_spelling = false;                // job_service_type, properties.logDir
};

// What jobs of every kind say about themselves.
struct JobHead {
    std::string name;
    std::string display_name;
    std::string experiment_name;
    std::string description;
    std::string parent_job_name;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::string> properties;
    std::string compute;  // without `azureml:`; empty means serverless
    std::vector<std::string>
        beyond_azure;  // what in the file Azure's own tools would refuse, one sentence each
};

bool is_job_name(std::string_view name);
extern const std::string kJobNameRule;

enum class PathKind { Absent, File, Folder };

// How a document's references to other files are followed. Core touches no disk: wire/job_file.cpp reads real
// files, tests hand out what they like. Paths are joined to the folder of the file that names them.
struct ComponentLoader {
    std::string folder;  // of the job file
    std::function<Result<Document>(const std::string& path)> load;
    std::function<Result<std::string>(const std::string& path)> read_text;
    std::function<PathKind(const std::string& path)> kind_of;
};

}  // namespace lavant::spec
