#pragma once
// A search for a model by itself, as a job or as a step of a pipeline. Its many settings stay a document, in
// which every key is known and every value of its type: wire/automl_to_arm.cpp knows how they are spelled
// there.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/sections.h"

namespace lavant::spec {

inline constexpr std::size_t kSubspacesMost = 100;  // mappings in search_space

enum class AutoMlFamily { Table, Text, Image };
AutoMlFamily automl_family(std::string_view task);

struct AutoMlJobSpec : JobHead {
    std::string task;             // classification, forecasting, text_ner, image_object_detection, …
    std::vector<InputSpec> data;  // training_data, validation_data, test_data, by those names
    // The rest by the file's own keys: primary_metric, log_verbosity, target_column_name, limits, …
    Document settings = Document::map();
    std::vector<OutputSpec> outputs;
    std::optional<ResourcesSpec> resources;
    std::optional<QueueSpec> queue;
    std::optional<IdentitySpec> identity;
    std::map<std::string, std::string> environment_variables;
};

[[nodiscard]] Result<AutoMlJobSpec> parse_automl_job(const Document& document, const ComponentLoader& loader);

// Internal to core/spec: the same of a step, whose data may be bound to the pipeline.
class Fields;
struct Reading;
std::shared_ptr<const AutoMlJobSpec> read_automl_step(Fields& fields, Reading& reading);

}  // namespace lavant::spec
