// What runs on Spark, as a job, a component or a step.

#include "core/spec/spark.h"

#include "base/text.h"
#include "core/spec/component_reading.h"
#include "core/spec/expression.h"

namespace lavant::spec {
namespace {

void read_entry(Fields& fields, SparkSpec& spark) {
    const Document* entry = fields.find("entry");
    if (entry == nullptr) {
        if (!fields.has("entry")) fields.problem("entry", "is missing; write {file: SCRIPT.py}");
        return;
    }
    Fields parts(*entry, fields.path_of("entry"), fields.problems());
    spark.entry_file = parts.string("file");
    spark.entry_class = parts.string("class_name");
    parts.finish();
    if (!entry->is_map()) return;
    if (spark.entry_file.empty() == spark.entry_class.empty())
        fields.problem("entry", "needs a file or a class_name, one of the two");
}

void read_conf(Fields& fields, SparkSpec& spark) {
    const Document* conf = fields.find("conf");
    if (conf == nullptr) return;
    if (!conf->is_map()) {
        fields.problem("conf", "must be a mapping, but is " + std::string(name_of(conf->kind)));
        return;
    }
    spark.conf = *conf;
    for (const Document::Entry& entry : conf->entries) {
        if (!entry.value.is_scalar() || entry.value.is_null())
            fields.problems().add(fields.path_of("conf") + "." + entry.key, entry.value.at,
                                  "must be a string, a number or a boolean");
    }
}

void check_args(const SparkJobSpec& job, Fields& fields) {
    for (const Reference& reference : find_references(job.spark.args)) {
        std::vector<std::string> names;
        if (reference.scope == "inputs") {
            for (const InputSpec& input : job.inputs) names.push_back(input.name);
        } else if (reference.scope == "outputs") {
            for (const OutputSpec& output : job.outputs) names.push_back(output.name);
        } else {
            continue;
        }
        bool known = false;
        for (const std::string& name : names) known = known || name == reference.name;
        if (!known)
            fields.problem("args", reference.written() + " names nothing of this job" +
                                       suggestion(reference.name, names));
    }
}

}  // namespace

SparkSpec read_spark(Fields& fields, Reading& reading) {
    SparkSpec spark;
    read_code(fields, reading, spark.code, spark.code_local);
    read_entry(fields, spark);
    spark.py_files = fields.strings("py_files");
    spark.jars = fields.strings("jars");
    spark.files = fields.strings("files");
    spark.archives = fields.strings("archives");
    read_conf(fields, spark);
    spark.args = fields.string("args");
    spark.has_environment = fields.has("environment");
    spark.environment = read_environment(fields, reading);
    return spark;
}

void read_spark_resources(Fields& fields, SparkSpec& spark) {
    const Document* map = fields.find("resources");
    if (map == nullptr) return;
    Fields parts(*map, fields.path_of("resources"), fields.problems());
    spark.instance_type = parts.string("instance_type");
    spark.runtime_version = parts.text("runtime_version");
    if (map->is_map() && !parts.has("instance_type"))
        parts.problem("instance_type", "is missing; name the size of the machines");
    if (map->is_map() && !parts.has("runtime_version"))
        parts.problem("runtime_version", "is missing; write the version of Spark, like \"3.4\"");
    parts.finish();
}

Result<SparkJobSpec> parse_spark_job(const Document& document, const ComponentLoader& loader) {
    SparkJobSpec job;
    Problems problems;
    Reading reading{loader, loader.folder, problems, job.beyond_azure};
    Fields fields(document, "", problems);
    read_head(fields, job, "spark");
    job.inputs = read_inputs(fields, reading);
    job.outputs = read_outputs(fields, reading);
    job.spark = read_spark(fields, reading);
    read_spark_resources(fields, job.spark);
    job.identity = read_identity(fields);
    if (!job.compute.empty() && job.spark.instance_type)
        fields.problem("resources", "cannot stand beside compute, which has its own");
    check_args(job, fields);
    fields.ignore({"services", "queue_settings"});
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the job"));
    return job;
}

}  // namespace lavant::spec
