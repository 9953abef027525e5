#include "cli/asset_create.h"

#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/asset_tables.h"
#include "cli/session_resolver.h"
#include "cli/upload.h"
#include "core/spec/asset.h"
#include "core/spec/component.h"
#include "wire/asset_to_arm.h"
#include "wire/component_to_arm.h"
#include "wire/job_file.h"

namespace lavant::cli {
namespace {

using wire::Json;

// Others may take the version that was free a moment ago.
constexpr int kVersionAttempts = 5;

// What was read, before a server is looked for.
struct Prepared {
    std::variant<spec::AssetSpec, spec::EnvironmentFile, spec::ComponentSpec> spec;
    Snapshots code;  // that a component sends
    std::string name;
    std::string version;
    std::vector<std::string> warnings;
};

const std::vector<std::string>& path_keys() {
    static const std::vector<std::string> keys = {"path", "conda_file", "build.path"};
    return keys;
}

Outcome<Prepared> prepare_component(const Console& console, const wire::SpecFile& file) {
    LAVANT_TRY(spec::ComponentSpec read,
               users_to_mend(spec::parse_component(file.root, wire::disk_loader(file.folder)), file.label));
    if (const std::string problem = spec::asset_name_problem(read.name); !problem.empty())
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot register the component: its name {}", printable(problem)));
    const auto make_body = [&read](wire::Resolver& resolver) {
        return wire::to_arm_component(read, wire::ComponentUse::Named, resolver);
    };
    LAVANT_TRY(Snapshots code, read_code_folders(make_body, console));
    Prepared prepared;
    prepared.name = read.name;
    prepared.version = read.version;
    prepared.spec = std::move(read);
    prepared.code = std::move(code);
    return prepared;
}

Outcome<Prepared> prepare(const Context& context, AssetKind kind, const FileOptions& options) {
    const std::string what = fmt::format("{} file", words_of(kind).article);
    LAVANT_TRY(const wire::SpecFile file, read_file_options(context, options, what, path_keys()));
    if (kind == AssetKind::Component) return prepare_component(context.console, file);
    const spec::ComponentLoader loader = wire::disk_loader(file.folder);
    if (kind == AssetKind::Environment) {
        LAVANT_TRY(spec::EnvironmentFile read,
                   users_to_mend(spec::parse_environment_file(file.root, loader), file.label));
        return Prepared{read, {}, read.environment.name, read.environment.version, read.warnings};
    }
    LAVANT_TRY(spec::AssetSpec read,
               users_to_mend(kind == AssetKind::Data ? spec::parse_data(file.root, loader)
                                                     : spec::parse_model(file.root, loader),
                             file.label));
    return Prepared{read, {}, read.name, read.version, read.warnings};
}

// A model's place is written out whole, as azure-ai-ml does.
std::string whole_uri(const Session& session, const std::string& uri) {
    const WorkspaceName& name = session.address().workspace;
    return fmt::format("azureml://subscriptions/{}/resourcegroups/{}/workspaces/{}/{}", name.subscription,
                       name.resource_group, name.name, uri.substr(std::string_view("azureml://").size()));
}

// With code and environment on the server, or without one as the file says it.
Outcome<Json> component_body(Session* session, Context& context, const Prepared& prepared) {
    const auto& component = std::get<spec::ComponentSpec>(prepared.spec);
    if (session == nullptr) {
        wire::Resolver nobody;
        LAVANT_TRY(Json body, wire::to_arm_component(component, wire::ComponentUse::Named, nobody));
        return body;
    }
    SessionResolver resolver(*session, context.crypto, context.console, prepared.code);
    return resolver.outcome(wire::to_arm_component(component, wire::ComponentUse::Named, resolver));
}

// Local paths go up first; without an uploader the body says them as they were written.
Outcome<Json> body_of(Session* session, Uploader* uploader, AssetKind kind, const Prepared& prepared) {
    if (const auto* file = std::get_if<spec::EnvironmentFile>(&prepared.spec)) {
        const std::string& folder = file->environment.build_path;
        const bool local = !folder.empty() && folder.find("://") == std::string::npos;
        if (!local || uploader == nullptr) return wire::to_arm_environment(*file, folder);
        LAVANT_TRY(const Uploader::Uploaded context, uploader->upload_data(folder, file->datastore));
        return wire::to_arm_environment(*file, context.url);
    }
    const auto& asset = std::get<spec::AssetSpec>(prepared.spec);
    std::string uri = asset.local_path;
    if (!uri.empty() && uploader != nullptr) {
        LAVANT_TRY(const Uploader::Uploaded uploaded, uploader->upload_data(uri, asset.datastore));
        uri = kind == AssetKind::Model ? whole_uri(*session, uploaded.uri) : uploaded.uri;
    }
    return kind == AssetKind::Data ? wire::to_arm_data(asset, uri) : wire::to_arm_model(asset, uri);
}

struct Versions {
    std::string latest;  // "": there is none
    std::string next = "1";
};

Outcome<Versions> versions_of(Session& session, AssetKind kind, const std::string& name) {
    const auto container = session.get(container_path(session, kind, name));
    if (container)
        return Versions{container->get("properties.latestVersion").string(),
                        container->get("properties.nextVersion").string("1")};
    if (container.error().error.code == ErrorCode::NotFound) return Versions{};
    return tl::make_unexpected(container.error());
}

// The version that was asked for, or the next one. An environment that is the same as the latest is that one.
Outcome<Json> put_version(Session& session, AssetKind kind, const Prepared& prepared, const Json& body) {
    const auto put = [&](const std::string& version) {
        const AssetName name{prepared.name, version, ""};
        return session.attempt(fmt::format("register {} '{}'", words_of(kind).word, printable(name.text())),
                               "PUT", version_path(session, kind, name), body);
    };
    if (!prepared.version.empty()) return put(prepared.version);
    const auto is_taken = [](const Outcome<Json>& made) {
        return !made && made.error().error.code == ErrorCode::Conflict;
    };
    for (int attempt = 1;; ++attempt) {
        LAVANT_TRY(const Versions versions, versions_of(session, kind, prepared.name));
        if (kind == AssetKind::Environment && !versions.latest.empty()) {
            auto same = put(versions.latest);
            if (!is_taken(same)) return same;
        }
        auto made = put(versions.next);
        if (!is_taken(made) || attempt == kVersionAttempts) return made;
    }
}

std::string in_short(AssetKind kind, const Prepared& prepared) {
    return fmt::format("{} {}{}", words_of(kind).word, prepared.name,
                       prepared.version.empty() ? "" : ":" + prepared.version);
}

}  // namespace

Outcome<Exit> create_asset(Context& context, const ServerChoice& choice, AssetKind kind,
                           const FileOptions& options, const Output& output) {
    const Console& console = context.console;
    LAVANT_TRY(const Prepared prepared, prepare(context, kind, options));
    say_warnings(console, prepared.warnings);
    const auto make_body = [&](Session* session, Uploader* uploader) {
        return kind == AssetKind::Component ? component_body(session, context, prepared)
                                            : body_of(session, uploader, kind, prepared);
    };
    if (options.dry_run) {
        LAVANT_TRY(const Json body, make_body(nullptr, nullptr));
        return print_body(body, console, output);
    }
    LAVANT_TRY(Session session, connect(context, choice));
    Uploader uploader(session, context.crypto, &console);
    LAVANT_TRY(const Json body, make_body(&session, &uploader));
    LAVANT_TRY(const Json made, put_version(session, kind, prepared, body));
    const Json asset = words_of(kind).to_az(made);
    LAVANT_TRY_VOID(print(asset, output, console, [&] { return render_asset_line(kind, asset); }));
    if (output.format == Format::Table && !output.query)
        console.note(fmt::format("use it as azureml:{}:{}", printable(asset["name"].text()),
                                 printable(asset["version"].text())));
    return Exit::Completed;
}

Outcome<Exit> validate_asset(Context& context, AssetKind kind, const FileOptions& options,
                             const Output& output) {
    LAVANT_TRY(const Prepared prepared, prepare(context, kind, options));
    say_warnings(context.console, prepared.warnings);
    return print_valid(
        context.console, output,
        {.file = options.file,
         .kind = words_of(kind).word,
         .name = prepared.name,
         .what = in_short(kind, prepared),
         .for_azure = options.for_azure,
         .findings = std::visit([](const auto& spec) { return spec.beyond_azure; }, prepared.spec)});
}

}  // namespace lavant::cli
