#include "core/spec/finetuning.h"

#include "base/text.h"
#include "core/spec/reading.h"

namespace lavant::spec {
namespace {

// A place, alone or with its type: both ways of writing mean the same.
std::optional<InputSpec> read_place(Fields& fields, Reading& reading, std::string_view key,
                                    const char* type_otherwise) {
    const Document* value = fields.find(key);
    if (value == nullptr) return std::nullopt;
    InputSpec input;
    std::string type;
    if (value->is_map()) {
        Fields parts(*value, fields.path_of(key), reading.problems);
        if (const Document* at = parts.find("path")) input = read_path(*at, parts.path_of("path"), reading);
        if (!parts.has("path")) parts.problem("path", "is missing; say where it is");
        type = parts.choice("type", asset_types());
        input.mode = parts.choice("mode", input_modes());
        parts.finish();
    } else {
        input = read_path(*value, fields.path_of(key), reading);
    }
    input.name = key;
    input.type = type.empty() ? type_otherwise : type;
    return input;
}

std::map<std::string, std::string> read_printed(Fields& fields, std::string_view key) {
    std::map<std::string, std::string> values;
    const Document* map = fields.find(key);
    if (map == nullptr) return values;
    if (!map->is_map()) {
        fields.problem(key, "must be a mapping, but is " + std::string(name_of(map->kind)));
        return values;
    }
    for (const Document::Entry& entry : map->entries) {
        if (entry.value.is_scalar() && !entry.value.is_null()) {
            values[entry.key] = entry.value.printed();
        } else {
            fields.problems().add(fields.path_of(key) + "." + entry.key, entry.value.at,
                                  "must be a string or a number");
        }
    }
    return values;
}

void read_common(Fields& fields, Reading& reading, FineTuningJobSpec& job) {
    if (auto data = read_place(fields, reading, "training_data", "uri_file")) job.training_data = *data;
    if (fields.map().is_map() && !fields.has("training_data"))
        fields.problem("training_data", "is missing; say where the examples are");
    job.validation_data = read_place(fields, reading, "validation_data", "uri_file");
    job.hyperparameters = read_printed(fields, "hyperparameters");
    job.outputs = read_outputs(fields, reading);
    job.queue = read_queue(fields, reading);
}

TeacherSpec read_teacher(Fields& fields) {
    TeacherSpec teacher;
    teacher.generation_type = fields.choice("data_generation_type", {"label_generation", "data_generation"});
    teacher.generation_task = fields.choice("data_generation_task_type",
                                            {"nli", "nlu_qa", "conversation", "math", "summarization"});
    if (const Document* map = fields.find("teacher_model_endpoint_connection")) {
        Fields parts(*map, fields.path_of("teacher_model_endpoint_connection"), fields.problems());
        teacher.connection_type = parts.choice("type", {"serverless", "custom"});
        teacher.connection_name = parts.string("name");
        teacher.endpoint = parts.string("endpoint");
        parts.ignore({"api_key"});
        parts.finish();
    } else if (!fields.has("teacher_model_endpoint_connection")) {
        fields.problem("teacher_model_endpoint_connection", "is missing; name the teacher's endpoint");
    }
    if (const Document* map = fields.find("teacher_model_settings")) {
        Fields parts(*map, fields.path_of("teacher_model_settings"), fields.problems());
        teacher.inference = read_printed(parts, "inference_parameters");
        teacher.requests = read_printed(parts, "endpoint_request_settings");
        parts.finish();
    }
    if (const Document* map = fields.find("prompt_settings")) {
        Fields parts(*map, fields.path_of("prompt_settings"), fields.problems());
        teacher.chain_of_thought = parts.boolean("enable_chain_of_thought").value_or(false);
        teacher.chain_of_density = parts.boolean("enable_chain_of_density").value_or(false);
        teacher.summary_length = parts.text("max_len_summary");
        parts.finish();
    }
    if (const Document* map = fields.find("resources")) {
        Fields parts(*map, fields.path_of("resources"), fields.problems());
        teacher.instance_type = parts.string("instance_type");
        parts.finish();
    }
    return teacher;
}

}  // namespace

Result<FineTuningJobSpec> parse_finetuning_job(const Document& document, const ComponentLoader& loader) {
    FineTuningJobSpec job;
    Problems problems;
    Reading reading{loader, loader.folder, problems, job.beyond_azure};
    Fields fields(document, "", problems);
    read_head(fields, job, "finetuning");
    job.task = fields.choice(
        "task", {"chat_completion", "text_completion", "text_classification", "question_answering",
                 "text_summarization", "token_classification", "text_translation", "image_classification",
                 "image_instance_segmentation", "image_object_detection", "video_multi_object_tracking"});
    if (!fields.has("task")) fields.problem("task", "is missing; write chat_completion or text_completion");
    job.provider = fields.choice("model_provider", {"custom", "azure_openai"});
    if (!fields.has("model_provider")) fields.problem("model_provider", "is missing; write custom");
    if (auto model = read_place(fields, reading, "model", "mlflow_model")) job.model = *model;
    if (!fields.has("model")) fields.problem("model", "is missing; name the model to start from");
    read_common(fields, reading, job);
    if (const Document* map = fields.find("resources")) {
        Fields parts(*map, fields.path_of("resources"), problems);
        job.instance_types = parts.strings("instance_types");
        parts.finish();
    }
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the job"));
    return job;
}

Result<FineTuningJobSpec> parse_distillation_job(const Document& document, const ComponentLoader& loader) {
    FineTuningJobSpec job;
    Problems problems;
    Reading reading{loader, loader.folder, problems, job.beyond_azure};
    Fields fields(document, "", problems);
    read_head(fields, job, "distillation");
    job.task = "chat_completion";
    job.provider = "custom";
    if (auto model = read_place(fields, reading, "student_model", "mlflow_model")) job.model = *model;
    if (!fields.has("student_model")) fields.problem("student_model", "is missing; name the model to teach");
    job.teacher = read_teacher(fields);
    read_common(fields, reading, job);
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the job"));
    return job;
}

}  // namespace lavant::spec
