#pragma once
// What an agent needs to run a job's command, made once at submission and stored encoded. Expressions in
// `command` are still unresolved: only the agent knows the paths of inputs and outputs on its node.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace lavant {

struct LaunchInput {
    std::string name;
    std::string type;   // "literal", "uri_file", "uri_folder", "mltable", "custom_model", ...
    std::string mode;   // "ro_mount", "download", "direct", ...
    std::string value;  // the literal, or the URI
};

struct LaunchOutput {
    std::string name;
    std::string type;  // "uri_folder", "uri_file", ...
    std::string mode;
    std::string uri;  // where it is kept: azureml://datastores/D/paths/P
    std::string asset_name;
    std::string asset_version;
};

struct LaunchEnvironment {
    std::string kind;         // "host" or "image"
    std::string name;         // as the user wrote it, for the log's first line
    std::string python_home;  // prefix whose bin/ comes first on PATH, empty for the system's
    std::string note;         // what differs from what was asked for, empty if nothing
};

struct Launch {
    std::string workspace;
    std::string subscription;
    std::string resource_group;
    std::string workspace_name;
    std::string user;  // who submitted it
    std::string job_name;
    std::string root_job_name;
    std::string experiment_name;
    std::string experiment_id;
    std::string command;
    std::string code_uri;   // container and folder in the blob store: "code-1f…/src"; empty for none
    std::string code_hash;  // the cache key of the snapshot
    LaunchEnvironment environment;
    std::map<std::string, std::string> environment_variables;
    std::vector<LaunchInput> inputs;
    std::vector<LaunchOutput> outputs;
    std::int64_t timeout_micros = 0;  // 0: none
    std::string distribution;         // "", "pytorch", "mpi", "tensorflow", "ray"
    int process_count = 1;            // per instance
    bool keep_on_failure = false;
    bool confined = true;  // `lavant.sandbox: off` asks for none
    // The blob container behind each datastore that its URIs name.
    std::map<std::string, std::string> containers;
};

// Where the job's logs and ./outputs go.
std::string artifact_container(const Launch& launch);
// "": a datastore that the launch does not know.
std::string container_of(const Launch& launch, const std::string& datastore);

}  // namespace lavant
