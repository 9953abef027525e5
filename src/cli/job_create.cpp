#include "cli/job_create.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/limits.h"
#include "base/text.h"
#include "cli/code_snapshot.h"
#include "cli/connect.h"
#include "cli/git.h"
#include "cli/job_commands.h"
#include "cli/job_stream.h"
#include "cli/session_resolver.h"
#include "cli/upload.h"
#include "core/spec/job.h"
#include "wire/az_job.h"
#include "wire/job_file.h"
#include "wire/job_to_arm.h"
#include "wire/json.h"

namespace lavant::cli {
namespace {

using spec::CommandJobSpec;
using spec::JobSpec;
using wire::Json;

constexpr const char* kPythonHome = "lavant.python_home";
constexpr std::size_t kExperimentCharsMax = 255;

// The SDK's default: the name of the folder one is in, less blanks and what follows its last dot.
std::string default_experiment() {
    std::string name = base_name_of(working_folder());
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && dot > 0) name.resize(dot);
    std::erase(name, ' ');
    return name.empty() || name == "/" ? "Default" : name.substr(0, kExperimentCharsMax);
}

bool uses_host(const CommandJobSpec& job) {
    const spec::EnvironmentSpec& environment = job.environment;
    const bool named = !environment.image.empty() || !environment.build_path.empty();
    return job.compute == "local" ||
           (!named && (environment.reference.empty() || environment.reference == "host"));
}

// Whatever is wrong with a job file, it is the user's to put right.
Outcome<JobSpec> users_to_mend(Result<JobSpec> job) {
    if (!job) return tl::make_unexpected(Failure(Exit::Usage, std::move(job).error()));
    return std::move(*job);
}

Outcome<JobSpec> load(const Context& context, const std::string& file,
                      const std::vector<std::string>& settings) {
    if (file != "-") return users_to_mend(wire::load_job_file(file, settings));
    const auto text = context.person.read_input(limits::kYamlBytes);
    if (!text) return tl::make_unexpected(Failure(Exit::Usage, text.error()));
    return users_to_mend(wire::load_job_text(*text, "standard input", working_folder(), settings));
}

Outcome<Snapshots> read_code(const JobSpec& job, const Console& console) {
    return read_code_folders([&job](wire::Resolver& resolver) { return wire::to_arm_job(job, resolver); },
                             console);
}

Outcome<void> refuse_existing(Session& session, const std::string& name) {
    const auto known = session.get(session.job_path(name));
    if (known) {
        const std::string status = printable(known->get("properties.status").text());
        return stop(
            Exit::Refused, ErrorCode::AlreadyExists,
            fmt::format("cannot create job '{0}': a job of that name exists and is {1}; choose another "
                        "name, leave it out, or {2} first: lavant job {3} {0}",
                        name, status, is_terminal(status) ? "delete it" : "look at it",
                        is_terminal(status) ? "delete" : "show"));
    }
    if (known.error().error.code == ErrorCode::NotFound) return {};
    return tl::make_unexpected(known.error());
}

// Before anything is sent: a job that runs and a command that failed would contradict each other.
Outcome<void> check_save_as(const std::string& path) {
    if (path.empty()) return {};
    const std::string folder = path.find('/') == std::string::npos ? "." : parent_of(path);
    if (::access(folder.c_str(), W_OK) == 0) return {};
    return tl::make_unexpected(Failure(Exit::Usage, system_error("write '" + path + "'", errno)));
}

struct Prepared {
    JobSpec job;
    Snapshots code;
    GitState git;
};

// Everything that can be wrong on this side, before a server is looked for.
Outcome<Prepared> prepare(Context& context, JobSpec job, const SubmitOptions& options) {
    Prepared prepared{.job = std::move(job), .code = {}, .git = {}};
    LAVANT_TRY(prepared.code, read_code(prepared.job, context.console));
    spec::JobHead& head = spec::head_of(prepared.job);
    if (!options.name.empty()) head.name = options.name;
    if (!head.name.empty() && !spec::is_job_name(head.name))
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot call a job '{}': {}", printable(head.name), spec::kJobNameRule));
    if (head.experiment_name.empty()) head.experiment_name = context.config["experiment_name"];
    if (head.experiment_name.empty()) head.experiment_name = default_experiment();
    LAVANT_TRY_VOID(check_save_as(options.save_as));
    if (!options.save_as.empty() && !std::holds_alternative<CommandJobSpec>(prepared.job))
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "only a command job can be saved as a file; the file that was sent is the definition");
    prepared.git = read_git(options.git_diff && context.config.flag("git_diff"), context.variable);
    for (const auto& [key, value] : prepared.git.properties) head.properties.emplace(key, value);
    return prepared;
}

// A job without an environment of its own runs with the interpreter of who submits it, if the server is here.
void add_python_home(JobSpec& job, const Session& session, const Context& context) {
    auto* command = std::get_if<CommandJobSpec>(&job);
    if (command == nullptr || !uses_host(*command) || command->properties.contains(kPythonHome)) return;
    if (!is_loopback_url(session.address().url)) return;
    const std::string home = active_python_home(context);
    if (!home.empty()) command->properties[kPythonHome] = home;
}

// Beside the job's logs, where a download finds it.
void keep_diff(Uploader& uploader, const Console& console, const std::string& name, const GitState& git) {
    if (git.diff_too_large)
        console.err << "the diff of the dirty git tree is above 1 MiB and is not kept; commit what you run\n";
    if (git.diff.empty()) return;
    const auto kept = uploader.upload_artifact(artifact_prefix(name) + "system_logs/git.diff", git.diff);
    if (!kept) console.err << "warning: the git diff is not kept: " << kept.error().error.message << "\n";
}

Outcome<void> save_definition(const std::string& path, const Json& az_job) {
    LAVANT_TRY_VOID(write_file_atomically(path, wire::to_job_file(az_job).to_yaml(), 0644));
    return {};
}

void say_web(const Console& console, const Json& az_job) {
    const std::string_view url = az_job.get("services.Studio.endpoint").text();
    if (!url.empty()) console.err << "web: " << printable(url) << "\n";
}

// The name that was asked for, if it is free, or a new one.
Outcome<std::string> choose_name(Session& session, Context& context, const std::string& wanted) {
    if (wanted.empty()) return make_job_name(context.crypto);
    LAVANT_TRY_VOID(refuse_existing(session, wanted));
    return wanted;
}

// What is said and done with a job that the server has taken.
Outcome<Exit> follow(Session& session, Context& context, const Json& made, const SubmitOptions& options,
                     const Output& output) {
    const Console& console = context.console;
    const std::string name = made["name"].string();
    const std::string warning = made.get("properties.lavant.warning").string();
    if (!warning.empty()) console.note("warning: " + printable(warning), Colour::Yellow);
    const Json job = wire::to_az_job(made);
    if (!options.save_as.empty()) {
        LAVANT_TRY_VOID(save_definition(options.save_as, job));
        console.err << "wrote " << options.save_as << "\n";
    }
    if (options.web) say_web(console, job);
    if (!options.stream) {
        LAVANT_TRY_VOID(print(job, output, console,
                              [&] { return name + "  " + printable(job["status"].text()) + "\n"; }));
        if (output.format == Format::Table)
            console.err << "follow it with: lavant job stream " << name << "\n";
        return Exit::Completed;
    }
    console.err << "job " << name << "\n";
    console.err.flush();
    LAVANT_TRY(const Exit exit, stream_job(session, context, name));
    if (output.format != Format::Table) {
        LAVANT_TRY(const Json ended, session.get(session.job_path(name)));
        LAVANT_TRY_VOID(print(wire::to_az_job(ended), output, console, [] { return std::string(); }));
    }
    return exit;
}

Outcome<Exit> submit(Session& session, Context& context, Prepared prepared, const SubmitOptions& options,
                     const Output& output) {
    const Console& console = context.console;
    LAVANT_TRY(const std::string name, choose_name(session, context, spec::head_of(prepared.job).name));
    // As the SDK has it; a command job's is made up by the server in the same way.
    spec::JobHead& head = spec::head_of(prepared.job);
    if (head.display_name.empty() && !std::holds_alternative<CommandJobSpec>(prepared.job))
        head.display_name = name;
    add_python_home(prepared.job, session, context);
    SessionResolver resolver(session, context.crypto, console, std::move(prepared.code));
    LAVANT_TRY(const Json body, resolver.outcome(wire::to_arm_job(prepared.job, resolver)));
    LAVANT_TRY(const Json made, session.create(session.job_path(name), body));
    keep_diff(resolver.uploader(), console, name, prepared.git);
    return follow(session, context, made, options, output);
}

// A job of another kind is sent again as the server has it: its steps have their components there already.
Outcome<Exit> rerun_other_kind(Session& session, Context& context, const Json& arm,
                               const RerunOptions& options, const Output& output) {
    if (!options.settings.empty() || !options.save_as.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "only a command job can be changed or saved on the way; submit the job file instead");
    LAVANT_TRY(const std::string name, choose_name(session, context, options.name));
    Json body = wire::definition_of(arm);
    Json& properties = body.member("properties");
    if (!properties.has("displayName")) properties.set("displayName", name);
    properties.member("properties").set("lavant.rerun_of", options.of);
    LAVANT_TRY(const Json made, session.create(session.job_path(name), body));
    return follow(session, context, made, options, output);
}

// One folder as an object of its own, several as a list.
Outcome<void> add_code(Json& result, const Snapshots& code, ports::Crypto& crypto) {
    Json all = Json::array();
    for (const auto& [key, snapshot] : code) {
        const std::string folder = key.substr(0, key.find('\n'));
        LAVANT_TRY(const std::string hash, content_hash(snapshot, crypto));
        Json one =
            Json::object({{"files", snapshot.files.size()}, {"bytes", snapshot.bytes}, {"sha256", hash}});
        if (code.size() > 1) one.set("folder", folder);
        all.append(std::move(one));
    }
    if (code.size() == 1) result.set("code", all.items()[0]);
    if (code.size() > 1) result.set("code", std::move(all));
    return {};
}

std::string code_summary(const Snapshots& code) {
    std::size_t files = 0;
    std::uint64_t bytes = 0;
    for (const auto& [folder, snapshot] : code) {
        files += snapshot.files.size();
        bytes += snapshot.bytes;
    }
    if (code.empty()) return "";
    return fmt::format("; code: {} file{}, {} bytes", files, files == 1 ? "" : "s", bytes);
}

}  // namespace

Outcome<Exit> create_job(Context& context, const ServerChoice& choice, const CreateOptions& options,
                         const Output& output) {
    LAVANT_TRY(JobSpec job, load(context, options.file, options.settings));
    LAVANT_TRY(Prepared prepared, prepare(context, std::move(job), options));
    LAVANT_TRY(Session session, connect(context, choice));
    return submit(session, context, std::move(prepared), options, output);
}

Outcome<Exit> create_job_from(Context& context, const ServerChoice& choice, const JobText& job,
                              const SubmitOptions& options, const Output& output) {
    LAVANT_TRY(JobSpec spec,
               users_to_mend(wire::load_job_text(job.text, job.label, job.folder, job.settings)));
    LAVANT_TRY(Prepared prepared, prepare(context, std::move(spec), options));
    LAVANT_TRY(Session session, connect(context, choice));
    return submit(session, context, std::move(prepared), options, output);
}

Outcome<Exit> rerun_job(Session& session, Context& context, const RerunOptions& options,
                        const Output& output) {
    LAVANT_TRY(const Json arm, session.get(session.job_path(options.of)));
    const std::string_view kind = arm.get("properties.jobType").text();
    if (!kind.empty() && kind != "Command") return rerun_other_kind(session, context, arm, options, output);
    const std::string text = wire::to_job_file(wire::to_az_job(arm)).to_yaml();
    LAVANT_TRY(JobSpec job, users_to_mend(wire::load_foreign_job_text(text, "job '" + options.of + "'",
                                                                      options.settings)));
    spec::JobHead& head = spec::head_of(job);
    if (!options.name.empty()) head.name = options.name;
    if (head.display_name == options.of) head.display_name.clear();  // It was its name.
    head.properties["lavant.rerun_of"] = options.of;
    return submit(session, context, {.job = std::move(job), .code = {}, .git = {}}, options, output);
}

Outcome<Exit> validate_job(Context& context, const ValidateOptions& options, const Output& output) {
    const Console& console = context.console;
    LAVANT_TRY(const JobSpec job, load(context, options.file, options.settings));
    LAVANT_TRY(const auto code, read_code(job, console));
    Json result = Json::object({{"valid", true}});
    LAVANT_TRY_VOID(add_code(result, code, context.crypto));
    std::vector<std::string> findings;
    if (options.for_azure) {
        findings = wire::azure_findings(job);
        Json list = Json::array();
        for (const std::string& finding : findings) list.append(finding);
        result.set("azure", std::move(list));
    }
    const bool refused = std::ranges::any_of(
        findings, [](const std::string& one) { return one.find(": refused") != std::string::npos; });
    LAVANT_TRY_VOID(print(result, output, console, [&] {
        std::string text = options.file + " is valid";
        text += code_summary(code);
        text += "\n";
        if (options.for_azure && findings.empty()) text += "Azure would take it as it is\n";
        for (const std::string& finding : findings) text += "  azure: " + printable(finding) + "\n";
        return text;
    }));
    return refused ? Exit::Usage : Exit::Completed;
}

}  // namespace lavant::cli
