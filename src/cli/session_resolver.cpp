#include "cli/session_resolver.h"

#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/code_snapshot.h"
#include "wire/job_to_arm.h"
#include "wire/json.h"
#include "wire/python_json.h"
#include "wire/sections_to_arm.h"

namespace lavant::cli {
namespace {

using spec::EnvironmentSpec;
using wire::Json;

constexpr const char* kAnonymousEnvironment = "CliV2AnonymousEnvironment";
constexpr const char* kCuratedPrefix = "AzureML-";

// "azureml:NAME:VERSION" or "azureml:NAME@LABEL", not a URI and not a whole id.
bool is_short_name(const std::string& path) {
    return path.starts_with("azureml:") && path.find('/') == std::string::npos;
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

bool is_here(const wire::CodeAsk& ask) { return !ask.local.empty() || !ask.includes.empty(); }

class CodeFolders : public wire::Resolver {
 public:
    std::map<std::string, wire::CodeAsk> found;
    Result<std::string> code(const wire::CodeAsk& ask) override {
        if (is_here(ask)) found.emplace(key_of(ask), ask);
        return Resolver::code(ask);
    }
};

Result<Snapshot> read_code(const wire::CodeAsk& ask) {
    if (!ask.of_component) return take_snapshot(ask.local);
    return take_component_snapshot({ask.local, ask.includes.local, ask.includes.folder});
}

}  // namespace

std::string key_of(const wire::CodeAsk& ask) {
    std::string key = ask.local;
    for (const std::string& include : ask.includes.local) (key += '\n') += include;
    return key;
}

Outcome<Snapshots> read_code_folders(const MakeBody& make_body, const Console& console) {
    CodeFolders folders;
    LAVANT_TRY_VOID(make_body(folders));
    Snapshots snapshots;
    for (const auto& [key, ask] : folders.found) {
        auto snapshot = read_code(ask);
        if (!snapshot)
            return tl::make_unexpected(Failure(Exit::Usage, in("cannot send the code")(snapshot.error())));
        if (snapshot->files.empty())
            return stop(Exit::Usage, ErrorCode::InvalidArgument,
                        "cannot send the code: there is no file in '" +
                            (ask.local.empty() ? ask.includes.local.front() : ask.local) +
                            "', or .amlignore leaves none; remove `code` if the command needs none");
        const std::string warning = size_warning(*snapshot);
        if (!warning.empty()) console.err << console.painted(warning, Colour::Yellow) << "\n";
        snapshots.emplace(key, std::move(*snapshot));
    }
    return snapshots;
}

Result<std::string> SessionResolver::keep(Outcome<std::string> made) {
    if (made) return std::move(*made);
    failure_ = std::move(made).error();
    return fail(failure_->error);
}

Result<std::string> SessionResolver::code(const wire::CodeAsk& ask) {
    if (!is_here(ask)) return Resolver::code(ask);
    const std::string key = key_of(ask);
    if (const auto known = codes_.find(key); known != codes_.end()) return known->second;
    LAVANT_TRY(std::string id, keep(upload_code(ask)));
    return codes_[key] = std::move(id);
}

Outcome<std::string> SessionResolver::upload_code(const wire::CodeAsk& ask) {
    if (const auto known = snapshots_.find(key_of(ask)); known != snapshots_.end())
        return uploader_.upload_code(known->second);
    LAVANT_TRY(const Snapshot snapshot, read_code(ask));
    return uploader_.upload_code(snapshot);
}

Result<std::string> SessionResolver::data(const spec::InputSpec& input) {
    if (!input.local_path.empty()) {
        LAVANT_TRY(std::string uri, keep(upload_data(input)));
        // Only a uri_folder says that it is one: the clients of Azure have it so, and jobs are to be alike.
        if (input.type != "uri_folder" && uri.ends_with('/')) uri.pop_back();
        return uri;
    }
    if (input.path.empty())
        return keep(stop(Exit::Usage, ErrorCode::InvalidArgument,
                         "input '" + input.name + "' has no path; write one, or give it with --set inputs." +
                             input.name + ".path=..."));
    if (!is_short_name(input.path)) return Resolver::data(input);
    return keep(id_of(input.type.ends_with("_model") ? "models" : "data", wire::without_scheme(input.path)));
}

Outcome<std::string> SessionResolver::upload_data(const spec::InputSpec& input) {
    const std::string key = input.datastore + ":" + input.local_path;
    if (const auto known = data_.find(key); known != data_.end()) return known->second;
    LAVANT_TRY(const Uploader::Uploaded uploaded,
               uploader_.upload_data(input.local_path, wire::without_scheme(input.datastore)));
    return data_[key] = uploaded.uri;
}

Result<std::string> SessionResolver::environment(const EnvironmentSpec& environment) {
    return keep(put_environment(environment));
}

// The server knows what a curated name stands for, and keeps it as the clients of Azure send it.
Outcome<std::string> SessionResolver::environment_id(const std::string& reference) {
    if (reference.empty() || reference == "host") return reference;
    if (reference.starts_with(kCuratedPrefix)) return "azureml:" + reference;
    return id_of("environments", reference);
}

Outcome<std::string> SessionResolver::put_environment(const EnvironmentSpec& environment) {
    if (environment.image.empty() && environment.build_path.empty())
        return environment_id(environment.reference);
    std::string context_uri;
    if (!environment.build_path.empty()) {
        LAVANT_TRY(const Uploader::Uploaded context, uploader_.upload_data(environment.build_path));
        context_uri = context.url;
    }
    LAVANT_TRY(const Json body, wire::parse_json(wire::to_arm_environment(environment, context_uri)));
    const std::string conda = body.get("properties.condaFile").string();
    const std::string version = context_uri.empty() ? anonymous_version(environment, conda, crypto_)
                                                    : to_hex(crypto_.sha256(body.dump()));
    const std::string path = session_.workspace_path(
        fmt::format("/environments/{}/versions/{}", kAnonymousEnvironment, percent_encode(version)));
    const auto made = session_.put(path, body);
    // The version is a hash of the definition: what has it already is the same.
    if (!made && made.error().error.code != ErrorCode::Conflict) return tl::make_unexpected(made.error());
    return path;
}

Result<std::string> SessionResolver::component(const Json& body) { return keep(put_component(body)); }

Outcome<std::string> SessionResolver::put_component(const Json& body) {
    const std::string path =
        session_.workspace_path("/components/azureml_anonymous/versions/" +
                                component_guid(body.get("properties.componentSpec"), crypto_));
    LAVANT_TRY_VOID(session_.put(path, body));
    return path;
}

Result<std::string> SessionResolver::component_named(const std::string& reference) {
    return keep(id_of("components", wire::without_scheme(reference)));
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
    return name == "local" ? name : id_of_named("computes", name);
}

std::string SessionResolver::datastore(const std::string& name) { return id_of_named("datastores", name); }

std::string SessionResolver::id_of_named(const char* kind, const std::string& name) {
    if (name.find('/') != std::string::npos || name.starts_with("${{")) return name;
    return session_.workspace_path(fmt::format("/{}/{}", kind, percent_encode(name)));
}

std::string component_guid(const Json& component_spec, ports::Crypto& crypto) {
    std::string hex = to_hex(crypto.sha256(wire::component_fingerprint_text(component_spec))).substr(0, 32);
    for (const std::size_t at : {8U, 13U, 18U, 23U}) hex.insert(at, "-");
    return hex;
}

}  // namespace lavant::cli
