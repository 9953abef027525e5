#include "cli/session_resolver.h"

#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/code_snapshot.h"
#include "wire/job_to_arm.h"
#include "wire/json.h"
#include "wire/python_json.h"

namespace lavant::cli {
namespace {

using spec::EnvironmentSpec;
using wire::Json;

constexpr const char* kAnonymousEnvironment = "CliV2AnonymousEnvironment";

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
Outcome<bool> put_version(Session& session, const std::string& path, const Json& body) {
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
               put_version(session, container + "/versions/" + percent_encode(latest), body));
    if (same) return latest;
    LAVANT_TRY(const bool made, put_version(session, container + "/versions/" + percent_encode(next), body));
    if (made) return next;
    return stop(Exit::Refused, ErrorCode::Conflict,
                "cannot register the environment: somebody else did at the same time; try again");
}

class CodeFolders : public wire::Resolver {
 public:
    std::set<std::string> found;
    Result<std::string> code(const std::string& written, const std::string& local) override {
        if (!local.empty()) found.insert(local);
        return Resolver::code(written, local);
    }
};

}  // namespace

Outcome<Snapshots> read_code_folders(const MakeBody& make_body, const Console& console) {
    CodeFolders folders;
    LAVANT_TRY_VOID(make_body(folders));
    Snapshots snapshots;
    for (const std::string& folder : folders.found) {
        auto snapshot = take_snapshot(folder);
        if (!snapshot)
            return tl::make_unexpected(Failure(Exit::Usage, in("cannot send the code")(snapshot.error())));
        if (snapshot->files.empty())
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        "cannot send the code: there is no file in '" + folder +
                            "', or .amlignore leaves none; remove `code` if the command needs none");
        const std::string warning = size_warning(*snapshot);
        if (!warning.empty()) console.err << console.painted(warning, Colour::Yellow) << "\n";
        snapshots.emplace(folder, std::move(*snapshot));
    }
    return snapshots;
}

Result<std::string> SessionResolver::keep(Outcome<std::string> made) {
    if (made) return std::move(*made);
    failure_ = std::move(made).error();
    return fail(failure_->error);
}

Result<std::string> SessionResolver::code(const std::string& written, const std::string& local) {
    if (local.empty()) return Resolver::code(written, local);
    if (const auto known = codes_.find(local); known != codes_.end()) return known->second;
    LAVANT_TRY(std::string id, keep(upload_code(local)));
    return codes_[local] = std::move(id);
}

Outcome<std::string> SessionResolver::upload_code(const std::string& folder) {
    if (const auto known = snapshots_.find(folder); known != snapshots_.end())
        return uploader_.upload_code(known->second);
    LAVANT_TRY(const Snapshot snapshot, take_snapshot(folder));
    return uploader_.upload_code(snapshot);
}

Result<std::string> SessionResolver::data(const spec::InputSpec& input) {
    if (input.local_path.empty()) return Resolver::data(input);
    if (const auto known = data_.find(input.local_path); known != data_.end()) return known->second;
    Outcome<Uploader::Uploaded> uploaded = uploader_.upload_data(input.local_path);
    if (!uploaded) return keep(tl::make_unexpected(std::move(uploaded).error()));
    return data_[input.local_path] = uploaded->uri;
}

Result<std::string> SessionResolver::environment(const EnvironmentSpec& environment) {
    return keep(put_environment(environment));
}

Outcome<std::string> SessionResolver::put_environment(const EnvironmentSpec& environment) {
    if (environment.image.empty() && environment.build_path.empty()) return environment.reference;
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
        version = context_uri.empty() ? anonymous_version(environment, conda, crypto_)
                                      : to_hex(crypto_.sha256(body.dump()));
    }
    const std::string container = session_.workspace_path("/environments/" + percent_encode(name));
    if (version.empty()) {
        LAVANT_TRY(version, put_next_version(session_, container, body));
        return container + "/versions/" + percent_encode(version);
    }
    LAVANT_TRY(const bool made,
               put_version(session_, container + "/versions/" + percent_encode(version), body));
    if (!made && !environment.name.empty()) {
        return stop(
            Exit::Refused, ErrorCode::Conflict,
            fmt::format("environment '{}:{}' is registered with another definition; choose another version",
                        name, version));
    }
    return container + "/versions/" + percent_encode(version);
}

Result<std::string> SessionResolver::component(const Json& body) { return keep(put_component(body)); }

Outcome<std::string> SessionResolver::put_component(const Json& body) {
    const std::string path =
        session_.workspace_path("/components/azureml_anonymous/versions/" +
                                component_guid(body.get("properties.componentSpec"), crypto_));
    LAVANT_TRY_VOID(session_.put(path, body));
    return path;
}

Result<std::string> SessionResolver::component_environment(const EnvironmentSpec& environment) {
    const bool defined = !environment.image.empty() || !environment.build_path.empty();
    if (defined || environment.reference == "host") return this->environment(environment);
    return keep(id_of("environments", environment.reference));
}

Result<std::string> SessionResolver::component_named(const std::string& reference) {
    return keep(id_of("components", Resolver::component_named(reference).value_or(reference)));
}

// "NAME:VERSION" and "NAME@latest" as ids of the workspace. Whole ids and registries' URIs stay as they are,
// and so does another label: the server knows those.
Outcome<std::string> SessionResolver::id_of(const char* kind, const std::string& reference) {
    if (reference.find('/') != std::string::npos) return reference;
    const std::size_t mark = reference.find_first_of(":@");
    const std::string name = reference.substr(0, mark);
    const std::string container = session_.workspace_path(fmt::format("/{}/{}", kind, percent_encode(name)));
    std::string version = mark == std::string::npos ? "" : reference.substr(mark + 1);
    const bool labelled = mark == std::string::npos || reference[mark] == '@';
    if (labelled) {
        if (!version.empty() && version != "latest" && version != "default") return reference;
        const auto known = session_.get(container);
        if (!known && known.error().error.code != ErrorCode::NotFound)
            return tl::make_unexpected(known.error());
        // What is not registered may be one that the server knows by itself.
        version = known ? known->get("properties.latestVersion").string() : "";
        if (version.empty()) return reference;
    }
    return container + "/versions/" + percent_encode(version);
}

std::string SessionResolver::compute(const std::string& name) {
    if (name == "local" || name.find('/') != std::string::npos || name.starts_with("${{")) return name;
    return session_.workspace_path("/computes/" + percent_encode(name));
}

std::string component_guid(const Json& component_spec, ports::Crypto& crypto) {
    std::string hex = to_hex(crypto.sha256(wire::component_fingerprint_text(component_spec))).substr(0, 32);
    for (const std::size_t at : {8U, 13U, 18U, 23U}) hex.insert(at, "-");
    return hex;
}

}  // namespace lavant::cli
