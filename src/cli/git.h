#pragma once
// What git knows of the folder one is in, recorded with a job as azure-ai-ml does.

#include <functional>
#include <map>
#include <string>

namespace lavant::cli {

struct GitState {
    std::map<std::string, std::string> properties;  // mlflow.source.git.*, azureml.git.*
    std::string diff;                               // of a dirty tree, if asked for
    bool diff_too_large = false;
};

// Empty outside of a repository or without git. Never runs what the repository's own configuration names.
GitState read_git(bool with_diff, const std::function<std::string(const std::string&)>& variable);

// Without user name, password and token: "https://TOKEN@host/x" and "https://host/TOKEN@x/y".
std::string without_credentials(std::string url);

}  // namespace lavant::cli
