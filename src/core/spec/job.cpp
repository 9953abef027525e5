#include "core/spec/job.h"

#include "base/text.h"
#include "core/spec/reading.h"

namespace lavant::spec {
namespace {

const std::vector<std::string>& job_types() {
    static const std::vector<std::string> types = {"command", "sweep",      "pipeline",    "spark",
                                                   "automl",  "finetuning", "distillation"};
    return types;
}

// ".../sweepJob.schema.json" and "http://azureml/sdk-2-0/SweepJob.json" both mean sweep.
std::string type_of_schema(std::string_view schema) {
    const std::size_t slash = schema.rfind('/');
    const std::string file = to_lower(slash == std::string_view::npos ? schema : schema.substr(slash + 1));
    for (const std::string& type : job_types()) {
        if (file.starts_with(type + "job.")) return type;
    }
    return "";
}

template <class Spec>
Result<JobSpec> any(Result<Spec> job) {
    if (!job) return fail(std::move(job).error());
    return JobSpec(std::move(*job));
}

}  // namespace

std::string job_type_of(const Document& document) {
    if (!document.is_map()) return "command";
    if (const Document* type = document.find("type"); type != nullptr && type->is_string()) return type->text;
    if (const Document* schema = document.find("$schema"); schema != nullptr && schema->is_string()) {
        if (std::string type = type_of_schema(schema->text); !type.empty()) return type;
    }
    return "command";
}

Result<JobSpec> parse_job(const Document& document, const ComponentLoader& loader) {
    const std::string type = job_type_of(document);
    if (type == "command") return any(parse_command_job(document, loader));
    if (type == "sweep") return any(parse_sweep_job(document, loader));
    if (type == "pipeline") return any(parse_pipeline_job(document, loader));
    if (type == "spark") return any(parse_spark_job(document, loader));
    if (type == "automl") return any(parse_automl_job(document, loader));
    if (type == "finetuning") return any(parse_finetuning_job(document, loader));
    if (type == "distillation") return any(parse_distillation_job(document, loader));
    Problems problems;
    problems.add("type", document.find("type")->at,
                 "there is no kind of job '" + type.substr(0, 80) + "'" + suggestion(type, job_types()));
    return fail(problems.to_error("the job"));
}

std::string_view type_of(const JobSpec& job) {
    struct Types {
        std::string_view operator()(const CommandJobSpec&) { return "command"; }
        std::string_view operator()(const SweepJobSpec&) { return "sweep"; }
        std::string_view operator()(const PipelineJobSpec&) { return "pipeline"; }
        std::string_view operator()(const SparkJobSpec&) { return "spark"; }
        std::string_view operator()(const AutoMlJobSpec&) { return "automl"; }
        std::string_view operator()(const FineTuningJobSpec& one) {
            return one.teacher ? "distillation" : "finetuning";
        }
    };
    return std::visit(Types{}, job);
}

JobHead& head_of(JobSpec& job) {
    return std::visit([](auto& one) -> JobHead& { return one; }, job);
}

const JobHead& head_of(const JobSpec& job) {
    return std::visit([](const auto& one) -> const JobHead& { return one; }, job);
}

}  // namespace lavant::spec
