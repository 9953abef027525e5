#include "core/spec/automl.h"

#include <algorithm>

#include "base/text.h"
#include "core/spec/automl_shapes.h"
#include "core/spec/sweep_reading.h"

namespace lavant::spec {
namespace {

void put(Document& map, std::string_view key, Document value) {
    map.entries.push_back({std::string(key), {}, std::move(value)});
}

Document texts_of(const Document& value, Fields& fields, std::string_view key) {
    Document list;
    list.kind = Document::Kind::List;
    list.at = value.at;
    if (value.is_string()) {
        list.items.push_back(value);
        return list;
    }
    for (const std::string& text : fields.strings(key)) list.items.push_back(Document::string(text));
    return list;
}

// A list of words out of `allowed`, each spelled as there.
Document words_of(const Document& value, const std::vector<std::string>& allowed, Fields& fields,
                  std::string_view key) {
    Document list = texts_of(value, fields, key);
    for (Document& item : list.items) {
        if (auto match = match_choice(item.text, allowed)) {
            item.text = std::move(*match);
        } else {
            fields.problem(key,
                           "cannot have '" + item.text.substr(0, 80) + "'" + suggestion(item.text, allowed));
        }
    }
    return list;
}

bool is_auto(const Document& value) { return value.is_string() && equals_ignoring_case(value.text, "auto"); }

void read_shape(Fields& fields, const Shape& shape, Document& into) {
    const Document* value = fields.find(shape.key);
    if (value == nullptr) return;
    Document read = *value;
    switch (shape.kind) {
        case Shape::Kind::Text:
            read = Document::string(fields.text(shape.key), value->at);
            break;
        case Shape::Kind::Flag:
            if (!fields.boolean(shape.key)) return;
            break;
        case Shape::Kind::WholeOrAuto:
        case Shape::Kind::WholesOrAuto:
            if (is_auto(*value)) {
                read = Document::string("auto", value->at);
                break;
            }
            if (shape.kind == Shape::Kind::WholesOrAuto && value->is_list()) {
                const bool whole = std::ranges::all_of(
                    value->items, [](const Document& one) { return one.kind == Document::Kind::Integer; });
                if (!whole) fields.problem(shape.key, "must be auto, a whole number or a list of them");
                break;
            }
            [[fallthrough]];
        case Shape::Kind::Whole:
            if (!fields.integer(shape.key)) return;
            if (const auto number = read_number(fields, shape.key)) read = *number;
            break;
        case Shape::Kind::Number:
            if (const auto number = read_number(fields, shape.key)) read = *number;
            break;
        case Shape::Kind::Word: {
            // `off` and `none` are words here, though YAML reads the first as a boolean.
            if (value->kind == Document::Kind::Boolean) {
                const bool has_off = std::ranges::find(shape.words, "off") != shape.words.end();
                if (has_off && !value->boolean) read = Document::string("off", value->at);
                if (!has_off || value->boolean) fields.problem(shape.key, "must be " + listed(shape.words));
                break;
            }
            read = Document::string(fields.choice(shape.key, shape.words), value->at);
            break;
        }
        case Shape::Kind::Texts:
            read = texts_of(*value, fields, shape.key);
            break;
        case Shape::Kind::Words:
            read = words_of(*value, shape.words, fields, shape.key);
            break;
        case Shape::Kind::Texted:
            fields.string_map(shape.key);
            break;
        case Shape::Kind::Any:
            if (!value->is_map())
                fields.problem(shape.key, "must be a mapping, but is " + std::string(name_of(value->kind)));
            break;
    }
    put(into, shape.key, std::move(read));
}

void read_section(Fields& fields, std::string_view key, const Shapes& shapes, Document& settings) {
    const Document* map = fields.find(key);
    if (map == nullptr) return;
    Fields parts(*map, fields.path_of(key), fields.problems());
    Document read = Document::map(map->at);
    for (const Shape& shape : shapes) read_shape(parts, shape, read);
    parts.finish();
    put(settings, key, std::move(read));
}

// {imputer: [{fields: [...], parameters: {...}}]}
void check_transformers(Fields& fields, const Document& settings) {
    const Document* featurization = settings.find("featurization");
    const Document* params = featurization != nullptr ? featurization->find("transformer_params") : nullptr;
    if (params == nullptr) return;
    const std::string path = fields.path_of("featurization.transformer_params");
    for (const Document::Entry& entry : params->entries) {
        if (!entry.value.is_list())
            fields.problems().add(path + "." + entry.key, entry.value.at, "must be a list");
        for (const Document& item : entry.value.items) {
            Fields parts(item, path + "." + entry.key, fields.problems());
            parts.strings("fields");
            parts.find("parameters");
            parts.finish();
        }
    }
}

void read_sweep_section(Fields& fields, Document& settings) {
    const Document* map = fields.find("sweep");
    if (map == nullptr) return;
    Fields parts(*map, fields.path_of("sweep"), fields.problems());
    read_sampling(parts);
    if (map->is_map() && !parts.has("sampling_algorithm"))
        parts.problem("sampling_algorithm", "is missing; it must be random, grid or bayesian");
    read_early_termination(parts);
    parts.finish();
    put(settings, "sweep", *map);
}

// A list of mappings: each is one space of parameters, whose values are distributions or single values.
void read_subspaces(Fields& fields, const Shapes& known, Document& settings) {
    const Document* list = fields.find("search_space");
    if (list == nullptr) return;
    if (!list->is_list() || list->items.empty() || list->items.size() > kSubspacesMost) {
        fields.problem("search_space",
                       "must be a list of 1 to " + std::to_string(kSubspacesMost) + " mappings");
        return;
    }
    Document read = *list;
    for (std::size_t i = 0; i < read.items.size(); ++i) {
        const std::string path = fields.path_of("search_space") + "[" + std::to_string(i) + "]";
        Fields parts(list->items[i], path, fields.problems());
        for (const Shape& shape : known) parts.has(shape.key);
        parts.finish();
        for (Document::Entry& entry : read.items[i].entries) {
            if (entry.value.is_map())
                entry.value = read_distribution_of(entry, path + "." + entry.key, fields.problems()).space;
            if (entry.value.is_list() || entry.value.is_null())
                fields.problems().add(path + "." + entry.key, entry.value.at,
                                      "must be a distribution or a single value");
        }
    }
    put(settings, "search_space", std::move(read));
}

void read_data(Fields& fields, Reading& reading, AutoMlJobSpec& job, bool is_step) {
    for (const char* key : {"training_data", "validation_data", "test_data"}) {
        const Document* value = fields.find(key);
        if (value == nullptr) continue;
        InputSpec input;
        if (value->is_map()) {
            Fields parts(*value, fields.path_of(key), reading.problems);
            if (const Document* at = parts.find("path"))
                input = read_path(*at, parts.path_of("path"), reading);
            if (!parts.has("path")) parts.problem("path", "is missing; say where the data is");
            input.type = parts.choice("type", {"mltable"});
            input.mode = parts.choice("mode", input_modes());
            parts.finish();
        } else {
            input = read_path(*value, fields.path_of(key), reading);
            if (value->is_string() && !input.local_path.empty() && is_step)
                fields.problem(key, "must be a mapping or be bound to the pipeline");
        }
        input.type = "mltable";
        input.name = key;
        job.data.push_back(std::move(input));
    }
    if (!fields.has("training_data"))
        fields.problem("training_data", "is missing; write {type: mltable, path: FOLDER}");
}

void read_table_settings(Fields& fields, Document& settings, const std::string& task) {
    static const Shapes shapes = {{"n_cross_validations", Shape::Kind::WholeOrAuto},
                                  {"cv_split_column_names", Shape::Kind::Texts},
                                  {"weight_column_name", Shape::Kind::Text}};
    for (const Shape& shape : shapes) read_shape(fields, shape, settings);
    if (task == "classification") read_shape(fields, {"positive_label", Shape::Kind::Text}, settings);
    read_section(fields, "training", training_shapes(task), settings);
    if (task == "forecasting") read_section(fields, "forecasting", forecasting_shapes(), settings);
    check_transformers(fields, settings);
}

void read_all(Fields& fields, Reading& reading, AutoMlJobSpec& job, bool is_step) {
    job.task = fields.choice("task", automl_tasks());
    if (!fields.has("task")) fields.problem("task", "is missing; it must be " + listed(automl_tasks()));
    if (job.task.empty()) return;
    const AutoMlFamily family = automl_family(job.task);
    const std::vector<std::string> levels = {"not_set", "debug", "info", "warning", "error", "critical"};
    read_data(fields, reading, job, is_step);
    read_shape(fields, {"primary_metric", Shape::Kind::Word, primary_metrics(job.task)}, job.settings);
    if (fields.has("log_verbosity")) {
        read_shape(fields, {"log_verbosity", Shape::Kind::Word, levels}, job.settings);
    } else {
        put(job.settings, "log_verbosity", Document::string("info"));
    }
    read_shape(fields, {"target_column_name", Shape::Kind::Text}, job.settings);
    if (!fields.has("target_column_name") && job.task != "text_ner")
        fields.problem("target_column_name", "is missing; name the column to predict");
    if (family != AutoMlFamily::Text) {
        read_shape(fields, {"validation_data_size", Shape::Kind::Number}, job.settings);
        read_shape(fields, {"test_data_size", Shape::Kind::Number}, job.settings);
    }
    read_section(fields, "limits", limit_shapes(family), job.settings);
    if (family != AutoMlFamily::Image)
        read_section(fields, "featurization", featurization_shapes(family), job.settings);
    if (family == AutoMlFamily::Table) {
        read_table_settings(fields, job.settings, job.task);
    } else {
        const Shapes& parameters = training_parameter_shapes(job.task);
        read_section(fields, "training_parameters", parameters, job.settings);
        read_sweep_section(fields, job.settings);
        read_subspaces(fields, parameters, job.settings);
    }
    job.resources = read_resources(fields, reading);
    job.queue = read_queue(fields, reading);
    job.identity = read_identity(fields);
    job.environment_variables = read_variables(fields);
}

}  // namespace

std::shared_ptr<const AutoMlJobSpec> read_automl_step(Fields& fields, Reading& reading) {
    auto job = std::make_shared<AutoMlJobSpec>();
    read_all(fields, reading, *job, true);
    return job;
}

Result<AutoMlJobSpec> parse_automl_job(const Document& document, const ComponentLoader& loader) {
    AutoMlJobSpec job;
    Problems problems;
    Reading reading{loader, loader.folder, problems, job.beyond_azure};
    Fields fields(document, "", problems);
    read_head(fields, job, "automl");
    read_all(fields, reading, job, false);
    job.outputs = read_outputs(fields, reading);
    fields.ignore({"environment_id", "inputs"});
    if (!job.task.empty()) fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the job"));
    return job;
}

}  // namespace lavant::spec
