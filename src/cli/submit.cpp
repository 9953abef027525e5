#include "cli/submit.h"

#include <sys/stat.h>

#include <filesystem>

#include <fmt/format.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "wire/job_file.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace lavant::cli {
namespace {

using wire::Json;

constexpr const char* kSchema = "https://azuremlschemas.azureedge.net/latest/commandJob.schema.json";
constexpr const char* kDefaultImage = "mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04";

// Words that a shell would read as they are stay without quotes: the command is shown to people.
std::string as_command(const std::vector<std::string>& words) {
    if (words.size() == 1) return words.front();  // `lavant submit -- 'a | b'`: a line for the shell
    std::string line;
    for (const std::string& word : words) {
        const bool plain = !word.empty() && word.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_-+=./:,@%") == std::string::npos;
        if (!line.empty()) line += ' ';
        line += plain ? word : shell_quote(word);
    }
    return line;
}

bool is_empty_folder(const std::string& path) {
    std::error_code error;
    return std::filesystem::is_directory(path, error) && std::filesystem::is_empty(path, error);
}

// Everything of a home folder, or of the machine, is hardly what somebody means by "the code".
Outcome<void> check_code(const Context& context, const std::string& code) {
    std::error_code error;
    const std::string whole = std::filesystem::weakly_canonical(code, error).string();
    const std::string home = context.variable("HOME");
    if (error ||
        (whole != "/" && (home.empty() || whole != std::filesystem::weakly_canonical(home, error).string())))
        return {};
    return stop(
        Exit::Usage, ErrorCode::InvalidArgument,
        fmt::format("cannot send '{}' as code: it is {}; go to the folder of your script, name it with "
                    "--code DIR, or send nothing with --code none",
                    code, whole == "/" ? "the whole machine" : "your home folder"));
}

// A job file's paths start from the folder that it is in.
std::string seen_from_folder(const std::string& path, const std::string& folder) {
    if (path.starts_with("/")) return path;
    std::error_code error;
    const auto from = std::filesystem::absolute(folder.empty() ? "." : folder, error).lexically_normal();
    const auto to = std::filesystem::absolute(path, error).lexically_normal();
    const std::string seen = to.lexically_relative(from).string();
    if (error || seen.empty()) return path;
    return seen.size() > 1 && seen.ends_with('/') ? seen.substr(0, seen.size() - 1) : seen;
}

Outcome<Json> environment_of(const std::string& given, const std::string& folder) {
    if (given == "host" || given.starts_with("azureml:") || given.starts_with("azureml://"))
        return Json(given);
    struct ::stat about {};
    if (::stat(given.c_str(), &about) != 0)
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            fmt::format("cannot use --env {0}: it is neither 'host', nor azureml:NAME:VERSION, nor a file",
                        given));
    LAVANT_TRY(const std::string text, read_file(given, limits::kYamlBytes));
    LAVANT_TRY(const spec::Document file, wire::parse_yaml(text, given));
    const bool is_definition =
        file.find("image") != nullptr || file.find("build") != nullptr || file.find("conda_file") != nullptr;
    if (is_definition) return Json("file:" + seen_from_folder(given, folder));
    if (file.find("dependencies") == nullptr)
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            fmt::format("cannot use --env {}: it is neither an environment (image, build or conda_file) "
                        "nor a conda file (dependencies)",
                        given));
    return Json::object({{"image", kDefaultImage}, {"conda_file", seen_from_folder(given, folder)}});
}

Outcome<Json> pairs_of(const std::vector<std::string>& given, const char* flag) {
    Json pairs = Json::object();
    for (const std::string& pair : given) {
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos || equals == 0)
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        fmt::format("cannot use {0} {1}: write it as {0} KEY=VALUE", flag, pair));
        pairs.set(pair.substr(0, equals), pair.substr(equals + 1));
    }
    return pairs;
}

}  // namespace

Outcome<std::string> to_job_text(const QuickJob& job, const std::string& folder) {
    Json file = Json::object({{"$schema", kSchema}, {"command", as_command(job.words)}});
    // An empty folder has nothing to send; the command may not need any.
    if (job.code != "none" && !(job.code == "." && is_empty_folder(".")))
        file.set("code", seen_from_folder(job.code, folder));
    LAVANT_TRY(Json environment, environment_of(job.environment, folder));
    file.set("environment", std::move(environment));
    const auto set_text = [&file](const char* key, const std::string& value) {
        if (!value.empty()) file.set(key, value);
    };
    set_text("compute", job.compute);
    set_text("display_name", job.display_name);
    set_text("experiment_name", job.experiment);
    if (job.instances > 1) file.member("resources").set("instance_count", job.instances);
    if (!job.size.empty()) file.member("resources").set("instance_type", job.size);
    if (job.timeout_s > 0) file.set("limits", Json::object({{"timeout", job.timeout_s}}));
    LAVANT_TRY(Json variables, pairs_of(job.variables, "--env-var"));
    if (variables.size() > 0) file.set("environment_variables", std::move(variables));
    LAVANT_TRY(Json tags, pairs_of(job.tags, "--tag"));
    if (tags.size() > 0) file.set("tags", std::move(tags));
    return file.to_yaml();
}

Outcome<Exit> submit_command(Context& context, const ServerChoice& choice, const QuickJob& job,
                             const Output& output) {
    if (job.code != "none") LAVANT_TRY_VOID(check_code(context, job.code));
    if (trim(as_command(job.words)).empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "the command after '--' is empty; say what to run");
    LAVANT_TRY(const std::string text, to_job_text(job, "."));
    SubmitOptions options = job;
    if (!options.save_as.empty()) {
        const auto checked = wire::load_job_text(text, "the command line", working_folder(), {});
        if (!checked) return tl::make_unexpected(Failure(Exit::Usage, checked.error()));
        LAVANT_TRY(const std::string saved, to_job_text(job, parent_of(options.save_as)));
        LAVANT_TRY_VOID(write_file_atomically(options.save_as, saved, 0644));
        options.save_as.clear();
        context.console.err << "wrote " << job.save_as << "; the same job: lavant job create -f "
                            << job.save_as << "\n";
    }
    return create_job_from(context, choice, {text, "the command line", working_folder(), {}}, options,
                           output);
}

}  // namespace lavant::cli
