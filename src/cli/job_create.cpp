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
#include "cli/upload.h"
#include "core/spec/command_job.h"
#include "wire/az_job.h"
#include "wire/job_file.h"
#include "wire/json.h"
#include "wire/spec_to_arm.h"

namespace lavant::cli {
namespace {

using spec::CommandJobSpec;
using spec::EnvironmentSpec;
using wire::Json;

constexpr const char* kAnonymousEnvironment = "CliV2AnonymousEnvironment";
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
    const EnvironmentSpec& environment = job.environment;
    const bool named = !environment.image.empty() || !environment.build_path.empty();
    return job.compute == "local" ||
           (!named && (environment.reference.empty() || environment.reference == "host"));
}

// The SDK joins digests in an unusual way; the same image must get the same version from both clients.
std::string anonymous_version(const EnvironmentSpec& environment, const std::string& conda,
                              ports::Crypto& crypto) {
    const auto digest = [&crypto](std::string_view text) { return to_hex(crypto.sha256(text)); };
    std::string joined = digest(environment.image);
    if (!conda.empty()) {
        std::string woven;
        for (const char c : digest(conda)) {
            if (!woven.empty()) woven += joined;
            woven += c;
        }
        joined = std::move(woven);
    }
    return digest(joined);
}

// Puts one version; true if it was taken, false if another definition has that version already.
Outcome<bool> put_environment(Session& session, const std::string& path, const Json& body) {
    const auto made = session.put(path, body);
    if (made) return true;
    if (made.error().error.code == ErrorCode::Conflict) return false;
    return tl::make_unexpected(made.error());
}

// A named environment without a version: the latest one if it is the same, else the next.
Outcome<std::string> put_next_version(Session& session, const std::string& container, const Json& body) {
    std::string latest = "1";
    std::string next = "1";
    const auto known = session.get(container);
    if (known) {
        latest = known->get("properties.latestVersion").string("1");
        next = known->get("properties.nextVersion").string("1");
    } else if (known.error().error.code != ErrorCode::NotFound) {
        return tl::make_unexpected(known.error());
    }
    LAVANT_TRY(const bool same,
               put_environment(session, container + "/versions/" + percent_encode(latest), body));
    if (same) return latest;
    LAVANT_TRY(const bool made,
               put_environment(session, container + "/versions/" + percent_encode(next), body));
    if (made) return next;
    return stop(Exit::Refused, ErrorCode::Conflict,
                "cannot register the environment: somebody else did at the same time; try again");
}

class Submission {
 public:
    Submission(Session& session, Context& context)
        : session_(session), context_(context), uploader_(session, context.crypto, &context.console) {}

    Uploader& uploader() { return uploader_; }
    // `code` was read before, so that a broken folder starts no server.
    Outcome<Json> submit(CommandJobSpec job, const std::optional<Snapshot>& code) {
        wire::ResolvedJob resolved;
        if (code) {
            LAVANT_TRY(resolved.code_id, uploader_.upload_code(*code));
        }
        for (const spec::InputSpec& input : job.inputs) {
            if (input.local_path.empty()) continue;
            LAVANT_TRY(const Uploader::Uploaded uploaded, uploader_.upload_data(input.local_path));
            resolved.input_uris[input.name] = uploaded.uri;
        }
        LAVANT_TRY(resolved.environment_id, resolve_environment(job));
        if (!job.compute.empty() && job.compute != "local" && job.compute.find('/') == std::string::npos) {
            resolved.compute_id = session_.workspace_path("/computes/" + percent_encode(job.compute));
        }
        if (uses_host(job) && !job.properties.contains(kPythonHome) &&
            is_loopback_url(session_.address().url)) {
            const std::string home = active_python_home(context_);
            if (!home.empty()) job.properties[kPythonHome] = home;
        }
        LAVANT_TRY(const Json body, wire::parse_json(wire::to_arm_body(job, resolved)));
        return session_.create(session_.job_path(job.name), body);
    }

 private:
    Outcome<std::string> resolve_environment(const CommandJobSpec& job) {
        const EnvironmentSpec& environment = job.environment;
        if (environment.image.empty() && environment.build_path.empty())
            return std::string{};  // as it was written
        std::string context_uri;
        if (!environment.build_path.empty()) {
            LAVANT_TRY(const Uploader::Uploaded context, uploader_.upload_data(environment.build_path));
            context_uri = context.url;
        }
        LAVANT_TRY(const Json body, wire::parse_json(wire::to_arm_environment(environment, context_uri)));
        std::string name = environment.name;
        std::string version = environment.version;
        if (name.empty()) {
            name = kAnonymousEnvironment;
            const std::string conda = body.get("properties.condaFile").string();
            version = context_uri.empty() ? anonymous_version(environment, conda, context_.crypto)
                                          : to_hex(context_.crypto.sha256(body.dump()));
        }
        const std::string container = session_.workspace_path("/environments/" + percent_encode(name));
        if (version.empty()) {
            LAVANT_TRY(version, put_next_version(session_, container, body));
            return container + "/versions/" + percent_encode(version);
        }
        LAVANT_TRY(const bool made,
                   put_environment(session_, container + "/versions/" + percent_encode(version), body));
        if (!made && !environment.name.empty()) {
            return stop(
                Exit::Refused, ErrorCode::Conflict,
                fmt::format(
                    "environment '{}:{}' is registered with another definition; choose another version", name,
                    version));
        }
        return container + "/versions/" + percent_encode(version);
    }

    Session& session_;
    Context& context_;
    Uploader uploader_;
};

// Whatever is wrong with a job file, it is the user's to put right.
Outcome<CommandJobSpec> users_to_mend(Result<CommandJobSpec> job) {
    if (!job) return tl::make_unexpected(Failure(Exit::Usage, std::move(job).error()));
    return std::move(*job);
}

Outcome<CommandJobSpec> load(const Context& context, const std::string& file,
                             const std::vector<std::string>& settings) {
    if (file != "-") return users_to_mend(wire::load_job_file(file, settings));
    const auto text = context.person.read_input(limits::kYamlBytes);
    if (!text) return tl::make_unexpected(Failure(Exit::Usage, text.error()));
    return users_to_mend(wire::load_job_text(*text, "standard input", working_folder(), settings));
}

Outcome<std::optional<Snapshot>> read_code(const CommandJobSpec& job, const Console& console) {
    if (job.code_local.empty()) return std::nullopt;
    auto snapshot = take_snapshot(job.code_local);
    if (!snapshot)
        return tl::make_unexpected(Failure(Exit::Usage, in("cannot send the code")(snapshot.error())));
    if (snapshot->files.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    "cannot send the code: there is no file in '" + job.code_local +
                        "', or .amlignore leaves none; remove `code` if the command needs none");
    const std::string warning = size_warning(*snapshot);
    if (!warning.empty()) console.err << console.painted(warning, Colour::Yellow) << "\n";
    return std::optional<Snapshot>(std::move(*snapshot));
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
    CommandJobSpec job;
    std::optional<Snapshot> code;
    GitState git;
};

// Everything that can be wrong on this side, before a server is looked for.
Outcome<Prepared> prepare(Context& context, CommandJobSpec job, const SubmitOptions& options) {
    Prepared prepared{.job = std::move(job), .code = {}, .git = {}};
    LAVANT_TRY(prepared.code, read_code(prepared.job, context.console));
    if (!options.name.empty()) prepared.job.name = options.name;
    if (!prepared.job.name.empty() && !spec::is_job_name(prepared.job.name))
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            fmt::format("cannot call a job '{}': {}", printable(prepared.job.name), spec::kJobNameRule));
    if (prepared.job.experiment_name.empty())
        prepared.job.experiment_name = context.config["experiment_name"];
    if (prepared.job.experiment_name.empty()) prepared.job.experiment_name = default_experiment();
    LAVANT_TRY_VOID(check_save_as(options.save_as));
    prepared.git = read_git(options.git_diff && context.config.flag("git_diff"), context.variable);
    for (const auto& [key, value] : prepared.git.properties) prepared.job.properties.emplace(key, value);
    return prepared;
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

Outcome<Exit> submit(Session& session, Context& context, Prepared prepared, const SubmitOptions& options,
                     const Output& output) {
    const Console& console = context.console;
    if (prepared.job.name.empty()) {
        prepared.job.name = make_job_name(context.crypto);
    } else {
        LAVANT_TRY_VOID(refuse_existing(session, prepared.job.name));
    }
    const std::string name = prepared.job.name;
    Submission submission(session, context);
    LAVANT_TRY(const Json made, submission.submit(std::move(prepared.job), prepared.code));
    keep_diff(submission.uploader(), console, name, prepared.git);
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

}  // namespace

Outcome<Exit> create_job(Context& context, const ServerChoice& choice, const CreateOptions& options,
                         const Output& output) {
    LAVANT_TRY(CommandJobSpec job, load(context, options.file, options.settings));
    LAVANT_TRY(Prepared prepared, prepare(context, std::move(job), options));
    LAVANT_TRY(Session session, connect(context, choice));
    return submit(session, context, std::move(prepared), options, output);
}

Outcome<Exit> create_job_from(Context& context, const ServerChoice& choice, const JobText& job,
                              const SubmitOptions& options, const Output& output) {
    LAVANT_TRY(CommandJobSpec spec,
               users_to_mend(wire::load_job_text(job.text, job.label, job.folder, job.settings)));
    LAVANT_TRY(Prepared prepared, prepare(context, std::move(spec), options));
    LAVANT_TRY(Session session, connect(context, choice));
    return submit(session, context, std::move(prepared), options, output);
}

Outcome<Exit> rerun_job(Session& session, Context& context, const RerunOptions& options,
                        const Output& output) {
    LAVANT_TRY(const Json arm, session.get(session.job_path(options.of)));
    const std::string text = wire::to_job_file(wire::to_az_job(arm)).to_yaml();
    LAVANT_TRY(CommandJobSpec job, users_to_mend(wire::load_foreign_job_text(text, "job '" + options.of + "'",
                                                                             options.settings)));
    if (!options.name.empty()) job.name = options.name;
    if (job.display_name == options.of) job.display_name.clear();  // It was its name.
    job.properties["lavant.rerun_of"] = options.of;
    return submit(session, context, {.job = std::move(job), .code = {}, .git = {}}, options, output);
}

Outcome<Exit> validate_job(Context& context, const ValidateOptions& options, const Output& output) {
    const Console& console = context.console;
    LAVANT_TRY(const CommandJobSpec job, load(context, options.file, options.settings));
    LAVANT_TRY(const auto code, read_code(job, console));
    Json result = Json::object({{"valid", true}});
    if (code) {
        LAVANT_TRY(const std::string hash, content_hash(*code, context.crypto));
        result.set("code",
                   Json::object({{"files", code->files.size()}, {"bytes", code->bytes}, {"sha256", hash}}));
    }
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
        if (code)
            text += fmt::format("; code: {} file{}, {} bytes", code->files.size(),
                                code->files.size() == 1 ? "" : "s", code->bytes);
        text += "\n";
        if (options.for_azure && findings.empty()) text += "Azure would take it as it is\n";
        for (const std::string& finding : findings) text += "  azure: " + printable(finding) + "\n";
        return text;
    }));
    return refused ? Exit::Usage : Exit::Completed;
}

}  // namespace lavant::cli
