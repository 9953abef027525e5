#include "api/environments.h"

#include <array>
#include <utility>

#include "api/asset_names.h"
#include "api/assets.h"
#include "base/text.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

// Images whose programs the machine's own python and shell can stand in for.
constexpr std::array<std::string_view, 12> kCatalogue = {
    "python:",
    "library/python:",
    "docker.io/python:",
    "docker.io/library/python:",
    "ubuntu:",
    "debian:",
    "docker.io/library/ubuntu:",
    "docker.io/library/debian:",
    "mcr.microsoft.com/azureml/openmpi",
    "mcr.microsoft.com/azureml/minimal-",
    "mcr.microsoft.com/azureml/base",
    "mcr.microsoft.com/azureml/curated/minimal-",
};

LaunchEnvironment host(std::string name) { return {"host", std::move(name), "", ""}; }

tl::unexpected<Error> refuse(std::string message) {
    return fail(ErrorCode::InvalidArgument, std::move(message));
}

Result<LaunchEnvironment> environment_of_asset(const Asset& asset) {
    const std::string label = asset.key.name + ":" + asset.key.version;
    LAVANT_TRY(const wire::Json body, wire::parse_json(asset.body));
    if (!body["condaFile"].text().empty())
        return refuse("environment '" + label +
                      "' has a conda file, and this server builds none yet; use `environment: host` with the "
                      "interpreter that has the packages, or an image without a conda file");
    if (body["build"].is_object())
        return refuse("environment '" + label +
                      "' has a Docker build context, and this server builds none yet; " +
                      "use `environment: host` or an image of the catalogue (python:3.11-slim, for example)");
    const std::string image = body["image"].string();
    if (image == kHostImage) return host(label);
    LAVANT_TRY(LaunchEnvironment environment, environment_of_image(image));
    return environment;
}

Result<LaunchEnvironment> find_environment(Context& context, const std::string& workspace,
                                           const std::string& id) {
    if (auto known = context.environments.find(workspace + id)) return std::move(*known);
    const std::uint64_t generation = context.environments.generation();
    LAVANT_TRY_VOID(check_scope(context, workspace, id));
    const auto named = parse_asset_name(id, "environments");
    if (id.empty() || id == "host" || id == "azureml:host" || (named && named->name == "host"))
        return host("host");
    if (!named)
        return refuse("environment '" + id +
                      "' is not a registered environment; write azureml:NAME:VERSION, an image, or host");
    LAVANT_TRY(const auto asset, find_version(context, workspace, "environments", *named));
    if (asset) {
        LAVANT_TRY(LaunchEnvironment environment, environment_of_asset(*asset));
        if (!named->version.empty()) context.environments.put(workspace + id, environment, generation);
        return environment;
    }
    if (id.starts_with("azureml://registries/") || named->name.starts_with("AzureML-"))
        return LaunchEnvironment{"image", id, "",
                                 "curated environment '" + named->name +
                                     "' is not available here: the machine's own python3 stands in for it"};
    const std::string version = named->version.empty() ? "@" + named->label : ":" + named->version;
    return fail(ErrorCode::NotFound, "environment '" + named->name + version +
                                         "' is not registered; register it first, or use azureml:base:1");
}

bool is_absolute_and_plain(std::string_view path) {
    return path.starts_with('/') && path.size() <= 4096 && path.find("/../") == std::string_view::npos &&
           !path.ends_with("/..") && path.find('\0') == std::string_view::npos;
}

}  // namespace

Result<LaunchEnvironment> environment_of_image(const std::string& image) {
    for (const std::string_view known : kCatalogue)
        if (image.starts_with(known))
            return LaunchEnvironment{
                "image", image, "",
                "image '" + image + "' is not pulled: the machine's own system and python3 stand in for it"};
    return refuse(
        "image '" + image + "' is not in this server's catalogue and no container engine is used; take " +
        "python:3.11-slim, ubuntu:22.04, an mcr.microsoft.com/azureml/openmpi image, or `environment: host`");
}

Result<LaunchEnvironment> resolve_environment(Context& context, const EnvironmentAsk& ask) {
    if (!ask.python_home.empty() && !is_absolute_and_plain(ask.python_home))
        return refuse("lavant.python_home must be an absolute path");
    auto environment = find_environment(context, ask.workspace, ask.id);
    // A client that names its interpreter wants that one, whatever the environment would have had to be built
    // from.
    if (!environment && !ask.python_home.empty() && environment.error().code == ErrorCode::InvalidArgument)
        environment = LaunchEnvironment{
            "host", "host", "", "the environment is not built: " + ask.python_home + " stands in for it"};
    if (environment) environment->python_home = ask.python_home;
    return environment;
}

}  // namespace lavant::api
