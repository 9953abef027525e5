#include "base/text.h"
#include "wire/automl_to_arm.h"
#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

std::string upper(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

// Azure's client sends the key here, and reads no connection that has none.
Json connection_of(const spec::TeacherSpec& teacher) {
    return Json::object({{"name", teacher.connection_name},
                         {"tags", Json::object()},
                         {"type", teacher.connection_type},
                         {"target", teacher.endpoint},
                         {"credentials", Json::object({{"type", "api_key"}, {"key", ""}})},
                         {"is_shared", true},
                         {"metadata", Json::object()},
                         {"api_key", ""},
                         {"endpoint", teacher.endpoint}});
}

// A distillation is a fine-tuning whose properties say where its labels come from.
void add_teacher(Json& properties, const spec::TeacherSpec& teacher) {
    const auto set = [&properties](const std::string& key, const std::string& value) {
        set_text(properties, "azureml." + key, value);
    };
    const auto flag = [](bool on) { return std::string(on ? "True" : "False"); };
    set("enable_distillation", "True");
    set("data_generation_type", teacher.generation_type);
    set("data_generation_task_type", upper(teacher.generation_task));
    set("connection_information", connection_of(teacher).dump());
    set("teacher_model.endpoint_name", teacher.connection_name);
    for (const auto& [key, value] : teacher.inference) set("teacher_model." + key, value);
    for (const auto& [key, value] : teacher.requests) set(key, value);
    set("enable_chain_of_thought", flag(teacher.chain_of_thought));
    set("enable_chain_of_density", flag(teacher.chain_of_density));
    set("max_len_summary", teacher.summary_length);
    set("instance_type.data_generation", teacher.instance_type);
}

}  // namespace

Result<Json> finetuning_to_arm(const spec::FineTuningJobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json body, head_of(job, "FineTuning", resolver));
    if (job.teacher) add_teacher(body.member("properties"), *job.teacher);
    const bool openai = job.provider == "azure_openai";
    Json details = Json::object();
    details.set("taskType", job.teacher ? pascal_words(job.task) : camel_words(job.task));
    details.set("modelProvider", openai ? "AzureOpenAI" : "Custom");
    LAVANT_TRY(Json model, input_of(job.model, resolver));
    details.set("model", std::move(model));
    LAVANT_TRY(Json training, input_of(job.training_data, resolver));
    details.set("trainingData", std::move(training));
    if (job.validation_data) {
        LAVANT_TRY(Json validation, input_of(*job.validation_data, resolver));
        details.set("validationData", std::move(validation));
    }
    Json parameters = Json::object();
    for (const auto& [key, value] : job.hyperparameters)
        parameters.set(openai ? camel_words(key) : key, value);
    if (parameters.size() > 0) details.set("hyperParameters", std::move(parameters));
    body.set("fineTuningDetails", std::move(details));
    body.set("outputs", outputs_of(job.outputs));
    if (!job.instance_types.empty())
        body.set("resources", Json::object({{"instanceTypes", to_json(job.instance_types)}}));
    if (job.queue) body.set("queueSettings", queue_of(*job.queue));
    return body;
}

}  // namespace lavant::wire
