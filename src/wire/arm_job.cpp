#include "wire/arm_job.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"
#include "base/time.h"
#include "core/spec/command_job.h"
#include "core/spec/expression.h"
#include "core/spec/fields.h"
#include "core/spec/problems.h"
#include "wire/json.h"

namespace lavant::wire {
namespace {

using spec::Problems;

// Clients of different ages spell the same member in camelCase or snake_case.
const Json& either(const Json& object, std::string_view camel, std::string_view snake) {
    const Json& value = object[camel];
    return value.is_null() ? object[snake] : value;
}

// What a type cannot be without: clients fail to read it back otherwise.
struct JobType {
    std::string_view name;
    std::vector<const char*> objects;
};

const std::vector<JobType>& other_types() {
    static const std::vector<JobType> types = {
        {"Sweep", {"trial", "searchSpace", "objective"}},
        {"Pipeline", {}},
        {"Spark", {"entry"}},
        {"AutoML", {"taskDetails"}},
        {"FineTuning", {"fineTuningDetails"}},
        {"Labeling", {}},
    };
    return types;
}

class Reader {
 public:
    Reader(const Json& job, Problems& problems) : job_(job), problems_(problems) {}

    ArmCommandJob read() {
        ArmCommandJob out = read_common();
        out.command = text("command");
        if (trim(out.command).empty()) problem("command", "is missing or empty; say what to run");
        out.code_id = text("codeId");
        out.environment_id = text("environmentId");
        out.environment_variables = strings("environmentVariables");
        read_inputs(out);
        read_outputs(out);
        read_resources(out);
        read_queue(out);
        read_limits(out);
        read_distribution(out);
        read_identity(out);
        check_expressions(out);
        return out;
    }

    // Of a job that nothing here can run: clients must be able to read it back.
    ArmCommandJob read_other(const JobType& type) {
        ArmCommandJob out = read_common();
        out.kind = spec::folded(type.name);
        for (const char* key : type.objects)
            if (!job_[key].is_object())
                problem(key, "is missing; a " + out.kind + " job has it as an object");
        for (const char* key : {"inputs", "outputs", "resources", "limits", "services", "identity"})
            (void)section(key);
        return out;
    }

 private:
    ArmCommandJob read_common() {
        ArmCommandJob out;
        out.display_name = text("displayName");
        out.description = text("description");
        out.experiment_name = text("experimentName");
        out.tags = strings("tags");
        out.extra = strings("properties");
        out.archived = job_["isArchived"].boolean();
        out.compute_id = text("computeId");
        for (const FieldProblem& wrong : spec::check_lavant_properties(out.extra)) {
            problem(wrong.path, wrong.message);
        }
        return out;
    }

    void problem(const std::string& path, std::string message) {
        problems_.add("properties." + path, {}, std::move(message));
    }

    std::string text(const std::string& key) {
        const Json& value = job_[key];
        if (value.is_string() || value.is_null()) return value.string();
        problem(key, "must be a string, but is of type " + std::string(value.type_name()));
        return "";
    }

    const Json& section(const std::string& key) {
        const Json& value = job_[key];
        if (!value.is_object() && !value.is_null()) {
            problem(key, "must be an object, but is of type " + std::string(value.type_name()));
        }
        return value;
    }

    std::map<std::string, std::string> strings(const std::string& key) {
        std::map<std::string, std::string> out;
        for (const Json::Member& member : section(key).members()) {
            out[member.key] = member.value.is_null() ? "" : member.value.scalar_text();
        }
        return out;
    }

    // Both spellings of a word from a small set: "ReadOnlyMount" and "ro_mount".
    std::string choice(const std::string& path, const Json& value, const std::vector<std::string>& allowed) {
        if (value.is_null()) return "";
        if (auto match = spec::match_choice(value.text(), allowed)) return std::move(*match);
        problem(path, "cannot be " + value.dump().substr(0, 80) + "; it must be " + spec::listed(allowed));
        return "";
    }

    std::string mode(const std::string& path, const Json& value) {
        const std::string folded = spec::folded(value.text());
        if (folded == "readonlymount") return "ro_mount";
        if (folded == "readwritemount" || folded == "mount") return "rw_mount";
        return choice(
            path, value,
            {"ro_mount", "rw_mount", "download", "upload", "direct", "eval_mount", "eval_download"});
    }

    void read_inputs(ArmCommandJob& out) {
        static const std::vector<std::string> types = {
            "literal", "uri_file", "uri_folder", "mltable", "custom_model", "mlflow_model", "triton_model"};
        for (const Json::Member& member : section("inputs").members()) {
            const Json& value = member.value;
            if (value.is_null()) continue;
            const std::string path = "inputs." + member.key;
            LaunchInput input;
            input.name = member.key;
            input.type =
                choice(path + ".jobInputType", either(value, "jobInputType", "job_input_type"), types);
            if (input.type.empty() && either(value, "jobInputType", "job_input_type").is_null()) {
                problem(path + ".jobInputType", "is missing");
            }
            const Json& content = input.type == "literal" ? value["value"] : value["uri"];
            input.value = content.is_null() ? "" : content.scalar_text();
            if (input.type != "literal" && !input.type.empty() && input.value.empty()) {
                problem(path + ".uri", "is missing; say where the data is");
            }
            input.mode = mode(path + ".mode", value["mode"]);
            out.inputs.push_back(std::move(input));
        }
    }

    void read_outputs(ArmCommandJob& out) {
        static const std::vector<std::string> types = {"uri_file",     "uri_folder",   "mltable",
                                                       "custom_model", "mlflow_model", "triton_model"};
        for (const Json::Member& member : section("outputs").members()) {
            const Json& value = member.value;
            const std::string path = "outputs." + member.key;
            LaunchOutput output;
            output.name = member.key;
            output.type =
                choice(path + ".jobOutputType", either(value, "jobOutputType", "job_output_type"), types);
            if (output.type.empty()) output.type = "uri_folder";
            output.mode = mode(path + ".mode", value["mode"]);
            output.uri = value["uri"].string();
            output.asset_name = either(value, "assetName", "asset_name").string();
            const Json& version = either(value, "assetVersion", "asset_version");
            output.asset_version = version.is_null() ? "" : version.scalar_text();
            out.outputs.push_back(std::move(output));
        }
    }

    void read_resources(ArmCommandJob& out) {
        const Json& resources = section("resources");
        const Json& count = either(resources, "instanceCount", "instance_count");
        if (!count.is_null()) {
            const std::int64_t number = count.integer(-1);
            if (number < 1 || number > limits::kInstancesPerJob) {
                problem("resources.instanceCount", "must be between 1 and " +
                                                       std::to_string(limits::kInstancesPerJob) + ", not " +
                                                       count.dump().substr(0, 40));
            } else {
                out.instance_count = static_cast<int>(number);
            }
        }
        out.instance_type = either(resources, "instanceType", "instance_type").string();
    }

    void read_queue(ArmCommandJob& out) {
        const Json& queue = section("queueSettings");
        out.job_tier = choice("queueSettings.jobTier", either(queue, "jobTier", "job_tier"),
                              {"Null", "Spot", "Basic", "Standard", "Premium"});
        if (out.job_tier == "Null") out.job_tier.clear();
        const Json& priority = queue["priority"];
        if (!priority.is_number()) {
            out.priority = choice("queueSettings.priority", priority, {"low", "medium", "high"});
            return;
        }
        const std::int64_t number = priority.integer(0);
        if (number < 1 || number > 3)
            return problem("queueSettings.priority", "must be 1 (low), 2 (medium) or 3 (high)");
        out.priority = number == 1 ? "low" : number == 2 ? "medium" : "high";
    }

    void read_limits(ArmCommandJob& out) {
        const Json& timeout = section("limits")["timeout"];
        if (timeout.is_null()) return;
        std::optional<Duration> length;
        constexpr std::int64_t kTenYears = 315'360'000;
        if (timeout.is_integer() && timeout.integer() <= kTenYears)
            length = std::chrono::seconds(timeout.integer());
        if (timeout.is_string()) length = parse_iso_duration(timeout.text());
        if (!length || length->count() <= 0) {
            return problem("limits.timeout",
                           "must be a duration above zero like PT1H30M, not " + timeout.dump().substr(0, 80));
        }
        out.timeout_micros = length->count();
    }

    void read_distribution(ArmCommandJob& out) {
        const Json& distribution = section("distribution");
        if (distribution.is_null()) return;
        out.distribution = choice("distribution.distributionType",
                                  either(distribution, "distributionType", "distribution_type"),
                                  {"pytorch", "mpi", "tensorflow", "ray"});
        const Json& count = either(distribution, "processCountPerInstance", "process_count_per_instance");
        if (count.is_null()) return;
        const std::int64_t number = count.integer(-1);
        if (number < 1 || number > 4096) {
            return problem("distribution.processCountPerInstance", "must be between 1 and 4096");
        }
        out.process_count = static_cast<int>(number);
    }

    void read_identity(ArmCommandJob& out) {
        const Json& identity = section("identity");
        out.identity = choice("identity.identityType", either(identity, "identityType", "identity_type"),
                              {"user_identity", "managed", "aml_token"});
    }

    void check_expressions(const ArmCommandJob& out) {
        if (const auto open = spec::find_unclosed(out.command))
            problem("command", "'" + *open + "' is never closed");
        for (const spec::Reference& reference : spec::find_references(out.command)) {
            if (reference.in_optional || is_defined(reference, out)) continue;
            problem("command", reference.written() + " is not defined by this job");
        }
    }

    static bool is_defined(const spec::Reference& reference, const ArmCommandJob& out) {
        const auto named = [&](const auto& item) { return item.name == reference.name; };
        if (reference.scope == "inputs") return std::any_of(out.inputs.begin(), out.inputs.end(), named);
        if (reference.scope == "outputs") return std::any_of(out.outputs.begin(), out.outputs.end(), named);
        return (reference.scope == "name" || reference.scope == "default_datastore") &&
               reference.name.empty();
    }

    const Json& job_;
    Problems& problems_;
};

// Clients break on null where they expect an object.
void drop_nulls(Json& value) {
    if (value.is_array()) {
        for (Json& item : value.mutable_items()) drop_nulls(item);
    }
    if (!value.is_object()) return;
    std::erase_if(value.mutable_members(), [](const Json::Member& member) { return member.value.is_null(); });
    for (Json::Member& member : value.mutable_members()) drop_nulls(member.value);
}

}  // namespace

Json normalised_job(Json job) {
    drop_nulls(job);
    for (const char* key : {"tags", "properties", "services", "inputs", "outputs"}) {
        Json& section = job.member(key);
        if (!section.is_object()) section = Json::object();
    }
    if (job["jobType"].text() == "Command" && !job["environmentVariables"].is_object())
        job.set("environmentVariables", Json::object());
    for (Json::Member& input : job.member("inputs").mutable_members()) {
        const bool literal =
            equals_ignoring_case(either(input.value, "jobInputType", "job_input_type").text(), "literal");
        if (!literal && input.value.is_object() && !input.value.has("mode"))
            input.value.set("mode", "ReadOnlyMount");
    }
    for (Json::Member& output : job.member("outputs").mutable_members()) {
        if (output.value.is_object() && !output.value.has("mode")) output.value.set("mode", "ReadWriteMount");
    }
    if (!job.has("isArchived")) job.set("isArchived", false);
    return job;
}

Result<ArmCommandJob> parse_arm_job(std::string_view body) {
    LAVANT_TRY(Json root, parse_json(body));
    const Json* job = root.find("properties");
    if (job == nullptr || !job->is_object()) {
        return fail(ErrorCode::InvalidArgument,
                    "the body must be an object with the object 'properties' in it");
    }
    const std::string type = either(*job, "jobType", "job_type").string();
    const auto other = std::ranges::find_if(
        other_types(), [&](const JobType& known) { return equals_ignoring_case(known.name, type); });
    const bool is_command = equals_ignoring_case(type, "Command");
    if (!is_command && other == other_types().end()) {
        const std::string message =
            (type.empty() ? "the job has no jobType"
                          : "there are no jobs of type '" + type.substr(0, 80) + "'") +
            std::string("; it is one of Command, Sweep, Pipeline, Spark, AutoML");
        return fail(Error{ErrorCode::InvalidArgument, message, {{"properties.jobType", message}}});
    }
    Problems problems;
    Reader reader(*job, problems);
    ArmCommandJob out = is_command ? reader.read() : reader.read_other(*other);
    if (!problems.empty()) return fail(problems.to_error("the job"));
    Json& properties = root.member("properties");
    properties.remove("job_type");
    properties.set("jobType", is_command ? std::string_view("Command") : other->name);
    out.properties = normalised_job(std::move(properties)).dump();
    return out;
}

}  // namespace lavant::wire
