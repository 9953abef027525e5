#include "wire/spark_to_arm.h"

#include "base/text.h"
#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

constexpr const char* kExecutors = "spark.executor.instances";
constexpr const char* kDynamic = "spark.dynamicAllocation.enabled";

// Whole numbers and booleans as Python prints them: the wire has text only.
Json as_texts(const spec::SparkSpec& spark) {
    Json texts = Json::object();
    const Json conf = spark_conf(spark);
    for (const Json::Member& member : conf.members()) {
        const spec::Document* written = spark.conf.find(member.key);
        // What is off is not mentioned.
        if (member.key == kDynamic && written != nullptr && !equals_ignoring_case(written->printed(), "true"))
            continue;
        texts.set(member.key, written != nullptr ? written->printed() : member.value.scalar_text());
    }
    return texts;
}

}  // namespace

Json spark_entry(const spec::SparkSpec& spark) {
    if (!spark.entry_class.empty())
        return Json::object({{"sparkJobEntryType", "SparkJobScalaEntry"}, {"className", spark.entry_class}});
    return Json::object({{"sparkJobEntryType", "SparkJobPythonEntry"}, {"file", spark.entry_file}});
}

Json spark_conf(const spec::SparkSpec& spark) {
    Json conf = to_json(spark.conf);
    const spec::Document* dynamic = spark.conf.find(kDynamic);
    const spec::Document* least = spark.conf.find("spark.dynamicAllocation.minExecutors");
    const bool is_dynamic = dynamic != nullptr && equals_ignoring_case(dynamic->printed(), "true");
    if (is_dynamic && least != nullptr && !conf.has(kExecutors)) conf.set(kExecutors, to_json(*least));
    return conf;
}

Result<Json> spark_to_arm(const spec::SparkJobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json body, head_of(job, "Spark", resolver));
    const spec::SparkSpec& spark = job.spark;
    if (!spark.code.empty()) {
        LAVANT_TRY(std::string code, resolver.code({spark.code, spark.code_local}));
        set_text(body, "codeId", code);
    }
    body.set("entry", spark_entry(spark));
    if (!spark.py_files.empty()) body.set("pyFiles", to_json(spark.py_files));
    if (!spark.jars.empty()) body.set("jars", to_json(spark.jars));
    if (!spark.files.empty()) body.set("files", to_json(spark.files));
    if (!spark.archives.empty()) body.set("archives", to_json(spark.archives));
    body.set("conf", as_texts(spark));
    set_text(body, "args", spark.args);
    if (spark.has_environment) {
        LAVANT_TRY(std::string environment, resolver.environment(spark.environment));
        set_text(body, "environmentId", environment);
    }
    LAVANT_TRY(Json inputs, inputs_of(job.inputs, resolver));
    body.set("inputs", std::move(inputs));
    body.set("outputs", outputs_of(job.outputs));
    if (spark.instance_type)
        body.set("resources", Json::object({{"instanceType", *spark.instance_type},
                                            {"runtimeVersion", spark.runtime_version}}));
    if (job.identity) {
        body.set("identity", identity_of(*job.identity));
    } else if (!job.compute.empty()) {
        body.set("identity", Json::object({{"identityType", "Managed"}}));
    } else if (spark.instance_type) {
        body.set("identity", Json::object({{"identityType", "UserIdentity"}}));
    }
    return body;
}

}  // namespace lavant::wire
