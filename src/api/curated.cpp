#include "api/curated.h"

#include <array>

#include "api/asset_names.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::string_view kSklearn = "scikit-learn for training on CPUs";
constexpr std::string_view kPytorch = "PyTorch for training on GPUs";
constexpr std::string_view kTensorflow = "TensorFlow for training on GPUs";
constexpr std::string_view kMinimal = "a Python interpreter and little else";

constexpr std::array kEnvironments = {
    CuratedEnvironment{"AzureML-sklearn-0.24-ubuntu18.04-py37-cpu", 60,
                       "mcr.microsoft.com/azureml/curated/sklearn-0.24-ubuntu18.04-py37-cpu", kSklearn},
    CuratedEnvironment{"AzureML-sklearn-1.0-ubuntu20.04-py38-cpu", 90,
                       "mcr.microsoft.com/azureml/curated/sklearn-1.0-ubuntu20.04-py38-cpu", kSklearn},
    CuratedEnvironment{"AzureML-sklearn-1.5", 30, "mcr.microsoft.com/azureml/curated/sklearn-1.5", kSklearn},
    CuratedEnvironment{"AzureML-pytorch-1.9-ubuntu18.04-py37-cuda11-gpu", 30,
                       "mcr.microsoft.com/azureml/curated/pytorch-1.9-ubuntu18.04-py37-cuda11-gpu", kPytorch},
    CuratedEnvironment{"AzureML-pytorch-1.10-ubuntu18.04-py38-cuda11-gpu", 60,
                       "mcr.microsoft.com/azureml/curated/pytorch-1.10-ubuntu18.04-py38-cuda11-gpu",
                       kPytorch},
    CuratedEnvironment{"AzureML-ACPT-pytorch-1.13-py38-cuda11.7-gpu", 30,
                       "mcr.microsoft.com/azureml/curated/acpt-pytorch-1.13-py38-cuda11.7-gpu", kPytorch},
    CuratedEnvironment{"AzureML-acpt-pytorch-2.2-cuda12.1", 50,
                       "mcr.microsoft.com/azureml/curated/acpt-pytorch-2.2-cuda12.1", kPytorch},
    CuratedEnvironment{"AzureML-tensorflow-2.7-ubuntu20.04-py38-cuda11-gpu", 40,
                       "mcr.microsoft.com/azureml/curated/tensorflow-2.7-ubuntu20.04-py38-cuda11-gpu",
                       kTensorflow},
    CuratedEnvironment{"AzureML-tensorflow-2.16-cuda11", 20,
                       "mcr.microsoft.com/azureml/curated/tensorflow-2.16-cuda11", kTensorflow},
    CuratedEnvironment{"AzureML-lightgbm-3.2-ubuntu18.04-py37-cpu", 60,
                       "mcr.microsoft.com/azureml/curated/lightgbm-3.2-ubuntu18.04-py37-cpu",
                       "LightGBM for training on CPUs"},
    CuratedEnvironment{"AzureML-minimal-ubuntu18.04-py37-cpu-inference", 60,
                       "mcr.microsoft.com/azureml/curated/minimal-ubuntu18.04-py37-cpu-inference", kMinimal},
    CuratedEnvironment{"AzureML-Minimal", 100, "mcr.microsoft.com/azureml/curated/minimal", kMinimal},
    CuratedEnvironment{"sklearn-1.5", 30, "mcr.microsoft.com/azureml/curated/sklearn-1.5", kSklearn},
    CuratedEnvironment{"acpt-pytorch-2.2-cuda12.1", 50,
                       "mcr.microsoft.com/azureml/curated/acpt-pytorch-2.2-cuda12.1", kPytorch},
    CuratedEnvironment{"tensorflow-2.16-cuda12", 20,
                       "mcr.microsoft.com/azureml/curated/tensorflow-2.16-cuda12", kTensorflow},
    CuratedEnvironment{"minimal-py311-inference", 30,
                       "mcr.microsoft.com/azureml/curated/minimal-py311-inference", kMinimal},
    CuratedEnvironment{"python-sdk-v2", 30, "mcr.microsoft.com/azureml/curated/python-sdk-v2",
                       "azure-ai-ml for steps that call the service"},
};

Json frame(std::string id, std::string name, std::string_view type, Json properties) {
    const std::string since = "2024-01-01T00:00:00.000000Z";
    return Json::object({{"id", std::move(id)},
                         {"name", std::move(name)},
                         {"type", type},
                         {"systemData", Json::object({{"createdAt", since},
                                                      {"createdBy", "lavant"},
                                                      {"createdByType", "Application"},
                                                      {"lastModifiedAt", since}})},
                         {"properties", std::move(properties)}});
}

Json shared_properties(const CuratedEnvironment& environment) {
    return Json::object({{"description", environment.description},
                         {"tags", Json::object()},
                         {"properties", Json::object()},
                         {"isArchived", false},
                         {"provisioningState", "Succeeded"}});
}

}  // namespace

std::span<const CuratedEnvironment> curated_environments() { return kEnvironments; }

const CuratedEnvironment* find_curated(std::string_view name) {
    for (const CuratedEnvironment& environment : kEnvironments)
        if (equals_ignoring_case(environment.name, name)) return &environment;
    return nullptr;
}

std::optional<std::string> curated_version(const CuratedEnvironment& environment,
                                           std::string_view version_or_label) {
    if (version_or_label == "latest" || version_or_label == "default")
        return std::to_string(environment.latest);
    const auto number = parse_integer(version_or_label);
    if (!number || *number < 1 || *number > environment.latest) return std::nullopt;
    return std::to_string(*number);
}

std::string curated_id(std::string_view name, std::string_view version) {
    std::string id = "azureml://registries/";
    ((((id += kCuratedRegistry) += "/environments/") += name) += "/versions/") += version;
    return id;
}

Json curated_version_view(const CuratedEnvironment& environment, const std::string& version) {
    Json properties = shared_properties(environment);
    properties.set("isAnonymous", false);
    properties.set("environmentType", "Curated");
    properties.set("osType", "Linux");
    properties.set("image", std::string(environment.image) + ":" + version);
    return frame(curated_id(environment.name, version), version,
                 "Microsoft.MachineLearningServices/registries/environments/versions", std::move(properties));
}

Json curated_container_view(const CuratedEnvironment& environment) {
    Json properties = shared_properties(environment);
    properties.set("latestVersion", std::to_string(environment.latest));
    properties.set("nextVersion", std::to_string(environment.latest + 1));
    return frame("azureml://registries/" + std::string(kCuratedRegistry) + "/environments/" +
                     std::string(environment.name),
                 std::string(environment.name), "Microsoft.MachineLearningServices/registries/environments",
                 std::move(properties));
}

std::string to_registry_reference(std::string_view reference) {
    if (reference.starts_with("azureml://")) return std::string(reference);
    const auto named = parse_asset_name(reference, "environments");
    if (!named || !named->name.starts_with(kCuratedPrefix)) return std::string(reference);
    if (!named->version.empty()) return curated_id(named->name, named->version);
    const CuratedEnvironment* known = find_curated(named->name);
    if (const auto version = known != nullptr ? curated_version(*known, named->label) : std::nullopt)
        return curated_id(named->name, *version);
    return "azureml://registries/" + std::string(kCuratedRegistry) + "/environments/" + named->name +
           "/labels/" + named->label;
}

}  // namespace lavant::api
