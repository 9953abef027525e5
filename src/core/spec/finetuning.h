#pragma once
// A job that fine-tunes a model, or distils one from a teacher that labels the data: nothing here runs them
// yet, they are read, checked and kept.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/spec/sections.h"

namespace lavant::spec {

// The part of a distillation that a fine-tuning has not. The teacher's key stays in the file: a job's body is
// kept and shown, which is no place for it.
struct TeacherSpec {
    std::string connection_name;
    std::string connection_type;  // serverless, custom
    std::string endpoint;
    std::string generation_type;                   // label_generation, data_generation
    std::string generation_task;                   // nlu_qa, summarization, …
    std::map<std::string, std::string> inference;  // temperature, max_tokens, … as printed
    std::map<std::string, std::string> requests;   // request_batch_size, min_endpoint_success_ratio
    bool chain_of_thought = false;
    bool chain_of_density = false;
    std::string summary_length;  // max_len_summary
    std::string instance_type;   // where the data is made
};

struct FineTuningJobSpec : JobHead {
    std::string task;      // chat_completion, text_completion, …
    std::string provider;  // custom, azure_openai
    InputSpec model;
    InputSpec training_data;
    std::optional<InputSpec> validation_data;
    std::map<std::string, std::string> hyperparameters;
    std::vector<OutputSpec> outputs;
    std::vector<std::string> instance_types;
    std::optional<QueueSpec> queue;
    std::optional<TeacherSpec> teacher;
};

[[nodiscard]] Result<FineTuningJobSpec> parse_finetuning_job(const Document& document,
                                                             const ComponentLoader& loader);
[[nodiscard]] Result<FineTuningJobSpec> parse_distillation_job(const Document& document,
                                                               const ComponentLoader& loader);

}  // namespace lavant::spec
