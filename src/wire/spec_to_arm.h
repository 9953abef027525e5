#pragma once
// A checked job specification to the ARM request body that submits it. (The server's direction is arm_job.h.)

#include <map>
#include <string>

#include "core/spec/command_job.h"
#include "wire/json.h"

namespace lavant::wire {

// What the submitter made of local paths and names. What is empty or absent travels as it was written,
// without its `azureml:`.
struct ResolvedJob {
    std::string code_id;
    std::string environment_id;
    std::string compute_id;
    std::map<std::string, std::string> input_uris;  // by input name
};

// A part of a file that travels as it is.
Json to_json(const spec::Document& document);

std::string to_arm_body(const spec::CommandJobSpec& spec, const ResolvedJob& resolved);

// The body that registers an environment defined in the job: an image, or a build context already uploaded.
// The same definition gives the same text, so a hash of it can serve as an anonymous version.
std::string to_arm_environment(const spec::EnvironmentSpec& environment,
                               const std::string& build_context_uri);

}  // namespace lavant::wire
