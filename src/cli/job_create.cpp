#include "cli/job_create.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"
#include "cli/code_snapshot.h"
#include "cli/connect.h"
#include "cli/job_commands.h"
#include "cli/upload.h"
#include "core/spec/command_job.h"
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
    std::string here(4096, '\0');
    if (::getcwd(here.data(), here.size()) == nullptr) return "Default";
    here.resize(here.find('\0'));
    std::string name = base_name_of(here);
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && dot > 0) name.resize(dot);
    std::erase(name, ' ');
    return name.empty() || name == "/" ? "Default" : name.substr(0, kExperimentCharsMax);
}

bool is_on_this_machine(const std::string& url) {
    return url.starts_with("https://127.") || url.starts_with("https://localhost") ||
           url.starts_with("https://[::1]");
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
        : session_(session), context_(context), uploader_(session, context.crypto) {}

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
            is_on_this_machine(session_.address().url)) {
            const std::string home = active_python_home(context_);
            if (!home.empty()) job.properties[kPythonHome] = home;
        }
        LAVANT_TRY(const Json body, wire::parse_json(wire::to_arm_body(job, resolved)));
        return session_.put(session_.job_path(job.name), body);
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
Outcome<CommandJobSpec> load(const std::string& file, const std::vector<std::string>& settings) {
    auto job = wire::load_job_file(file, settings);
    if (!job) return tl::make_unexpected(Failure(Exit::Usage, std::move(job).error()));
    return std::move(*job);
}

Outcome<std::optional<Snapshot>> read_code(const CommandJobSpec& job, const Console& console) {
    if (job.code_local.empty()) return std::nullopt;
    auto snapshot = take_snapshot(job.code_local);
    if (!snapshot)
        return tl::make_unexpected(Failure(Exit::Usage, in("cannot send the code")(snapshot.error())));
    const std::string warning = size_warning(*snapshot);
    if (!warning.empty()) console.err << console.painted(warning, Colour::Yellow) << "\n";
    return std::optional<Snapshot>(std::move(*snapshot));
}

Outcome<void> refuse_existing(Session& session, const std::string& name) {
    const auto known = session.get(session.job_path(name));
    if (known) {
        return stop(Exit::Refused, ErrorCode::AlreadyExists,
                    "cannot create job '" + name +
                        "': a job of that name exists; choose another name or leave it out");
    }
    if (known.error().error.code == ErrorCode::NotFound) return {};
    return tl::make_unexpected(known.error());
}

}  // namespace

Outcome<Exit> create_job(Context& context, const ServerChoice& choice, const CreateOptions& options,
                         const Output& output) {
    const Console& console = context.console;
    LAVANT_TRY(CommandJobSpec job, load(options.file, options.settings));
    LAVANT_TRY(const auto code, read_code(job, console));
    if (!options.name.empty()) job.name = options.name;
    if (job.experiment_name.empty()) job.experiment_name = context.config["experiment_name"];
    if (job.experiment_name.empty()) job.experiment_name = default_experiment();
    LAVANT_TRY(Session session, connect(context, choice));
    if (job.name.empty()) {
        job.name = make_job_name(context.crypto);
    } else {
        LAVANT_TRY_VOID(refuse_existing(session, job.name));
    }
    const std::string name = job.name;
    Submission submission(session, context);
    LAVANT_TRY(const Json made, submission.submit(std::move(job), code));
    const std::string warning = made.get("properties.lavant.warning").string();
    if (!warning.empty())
        console.err << console.painted("warning: " + printable(warning), Colour::Yellow) << "\n";
    if (!options.stream) {
        LAVANT_TRY_VOID(print(made, output, console, [&] {
            return name + "  " + printable(made.get("properties.status").text()) + "\n";
        }));
        if (output.format == Format::Table)
            console.err << "follow it with: lavant job stream " << name << "\n";
        return Exit::Completed;
    }
    console.err << "job " << name << "\n";
    console.err.flush();
    LAVANT_TRY(const Exit exit, stream_job(session, console, name));
    if (output.format != Format::Table) {
        LAVANT_TRY(const Json ended, session.get(session.job_path(name)));
        LAVANT_TRY_VOID(print(ended, output, console, [] { return std::string(); }));
    }
    return exit;
}

Outcome<Exit> validate_job(Context& context, const ValidateOptions& options, const Output& output) {
    const Console& console = context.console;
    LAVANT_TRY(const CommandJobSpec job, load(options.file, options.settings));
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
    return Exit::Completed;
}

}  // namespace lavant::cli
