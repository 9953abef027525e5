// What runs on many mini batches of one input, as a component or as a step.

#include "base/limits.h"
#include "base/text.h"
#include "core/spec/component_reading.h"
#include "core/spec/sweep_reading.h"

namespace lavant::spec {
namespace {

constexpr std::int64_t kMiniBatchMost = 1'000'000'000'000;
constexpr std::int64_t kErrorsMost = 1'000'000'000;
constexpr std::int64_t kTimeoutMost = 259'200;  // three days for one mini batch

// "5", 5 or "10kb", which are bytes.
std::optional<std::int64_t> read_mini_batch_size(Fields& fields) {
    const std::string written = to_lower(trim(fields.text("mini_batch_size")));
    if (written.empty()) return std::nullopt;
    std::string_view digits = written;
    std::int64_t unit = 1;
    for (const auto& [suffix, bytes] : {std::pair("kb", 1LL << 10), {"mb", 1LL << 20}, {"gb", 1LL << 30}}) {
        if (!digits.ends_with(suffix)) continue;
        digits.remove_suffix(2);
        unit = bytes;
        break;
    }
    const auto number = parse_integer(trim(digits));
    if (number && *number > 0 && *number <= kMiniBatchMost / unit) return *number * unit;
    fields.problem("mini_batch_size", "must be a number of files, or of bytes like 10kb, 1mb or 2gb");
    return std::nullopt;
}

void read_retry_settings(Fields& fields, ParallelSpec& parallel) {
    const Document* map = fields.find("retry_settings");
    if (map == nullptr) return;
    Fields parts(*map, fields.path_of("retry_settings"), fields.problems());
    parallel.retry_timeout_seconds = read_count(parts, "timeout", 1, kTimeoutMost);
    parallel.max_retries = read_count(parts, "max_retries", 0, 1'000);
    parts.finish();
}

ParallelTaskSpec read_task(const Document& map, const std::string& path, Reading& reading) {
    ParallelTaskSpec task;
    Fields parts(map, path, reading.problems);
    if (!map.is_map()) return task;
    task.type = parts.choice("type", {"run_function", "function", "model"});
    if (!parts.has("type")) parts.problem("type", "is missing; it must be run_function");
    read_code(parts, reading, task.code, task.code_local);
    task.entry_script = parts.string("entry_script");
    task.program_arguments = parts.string("program_arguments");
    task.append_row_to = parts.string("append_row_to");
    task.model = parts.string("model");
    task.environment = read_environment(parts, reading);
    if (task.type == "run_function" && !parts.has("entry_script"))
        parts.problem("entry_script", "is missing; name the script with the function to run");
    if (!parts.has("environment"))
        parts.problem("environment", "is missing; write azureml:NAME@latest or {image: IMAGE}");
    parts.finish();
    return task;
}

// An older way of writing: `parallel` holds a command, `mini_batch` says which input is split.
ParallelTaskSpec read_older_task(Fields& fields, const Document& map, Reading& reading,
                                 ParallelSpec& parallel) {
    ParallelTaskSpec task;
    Fields parts(map, fields.path_of("parallel"), reading.problems);
    if (!map.is_map()) return task;
    task.type = "command";
    parts.choice("type", {"command"});
    read_code(parts, reading, task.code, task.code_local);
    task.command = parts.string("command");
    if (!parts.has("command")) parts.problem("command", "is missing; say what to run");
    task.environment = read_environment(parts, reading);
    if (!parts.has("environment"))
        parts.problem("environment", "is missing; write azureml:NAME@latest or {image: IMAGE}");
    parts.ignore({"inputs", "outputs"});  // The step names them once more.
    parts.finish();
    reading.beyond_azure.push_back(refused_there(fields.path_of("parallel"), "write task and input_data"));
    if (const Document* batch = fields.find("mini_batch")) {
        Fields split(*batch, fields.path_of("mini_batch"), reading.problems);
        const std::string input = split.string("split_inputs");
        if (!input.empty()) parallel.input_data = "${{inputs." + input + "}}";
        parallel.mini_batch_size = read_mini_batch_size(split);
        split.finish();
    }
    return task;
}

}  // namespace

ParallelSpec read_parallel(Fields& fields, Reading& reading) {
    ParallelSpec parallel;
    parallel.input_data = fields.string("input_data");
    parallel.mini_batch_size = read_mini_batch_size(fields);
    parallel.partition_keys = fields.strings("partition_keys");
    parallel.max_concurrency_per_instance = read_count(fields, "max_concurrency_per_instance", 1, 1'000);
    parallel.error_threshold = read_count(fields, "error_threshold", -1, kErrorsMost);
    parallel.mini_batch_error_threshold = read_count(fields, "mini_batch_error_threshold", -1, kErrorsMost);
    parallel.logging_level = fields.choice("logging_level", {"DEBUG", "INFO", "WARNING"});
    parallel.environment_variables = read_variables(fields);
    read_retry_settings(fields, parallel);
    if (const Document* task = fields.find("task"))
        parallel.task = read_task(*task, fields.path_of("task"), reading);
    if (const Document* older = fields.find("parallel"))
        parallel.task = read_older_task(fields, *older, reading, parallel);
    return parallel;
}

}  // namespace lavant::spec
