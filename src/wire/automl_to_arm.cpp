#include "wire/automl_to_arm.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "wire/kinds_to_arm.h"
#include "wire/sections_to_arm.h"
#include "wire/sweep_to_arm.h"

namespace lavant::wire {
namespace {

using spec::AutoMlFamily;
using spec::AutoMlJobSpec;
using spec::Document;

// uniform(0.001,0.01), choice('a','b'): how automl writes a distribution.
std::string printed_value(const Document& value) {
    return value.is_string() ? "'" + value.text + "'" : value.printed();
}

std::string printed_distribution(const Document& space) {
    if (!space.is_map()) return space.is_string() ? space.text : space.printed();
    const std::string& type = space.find("type")->text;
    std::string arguments;
    const auto add = [&arguments](const Document& value) {
        if (!arguments.empty()) arguments += ',';
        arguments += printed_value(value);
    };
    if (type == "choice") {
        for (const Document& value : space.find("values")->items) add(value);
    }
    for (const std::string& key : spec::distribution_arguments(type)) add(*space.find(key));
    return type + "(" + arguments + ")";
}

Json search_space_of(const Document& list, std::string (*spelled)(std::string_view)) {
    Json spaces = Json::array();
    for (const Document& item : list.items) {
        Json space = Json::object();
        for (const Document::Entry& entry : item.entries)
            space.set(spelled(entry.key), printed_distribution(entry.value));
        spaces.append(std::move(space));
    }
    return spaces;
}

std::string as_written(std::string_view key) { return std::string(key); }

// {"mode": "Auto"} or {"mode": "Custom", "value": 5}
Json auto_or_value(const Document& value) {
    if (value.is_string()) return Json::object({{"mode", "Auto"}});
    if (value.is_list()) return Json::object({{"mode", "Custom"}, {"values", to_json(value)}});
    return Json::object({{"mode", "Custom"}, {"value", to_json(value)}});
}

Json auto_or_values(const Document& value) {
    if (value.is_string() || value.is_list()) return auto_or_value(value);
    return Json::object({{"mode", "Custom"}, {"values", Json::array({to_json(value)})}});
}

Json limits_of(const Document* limits, AutoMlFamily family) {
    Json value = Json::object();
    if (family == AutoMlFamily::Text) value = Json::object({{"maxNodes", 1}, {"maxTrials", 1}});
    if (family == AutoMlFamily::Table)
        value = Json::object({{"sweepConcurrentTrials", 0}, {"sweepTrials", 0}});
    if (limits == nullptr) return value;
    for (const Document::Entry& entry : limits->entries) {
        if (entry.key == "timeout_minutes") {
            value.set("timeout", iso_seconds(entry.value.integer * 60));
        } else if (entry.key == "trial_timeout_minutes") {
            value.set("trialTimeout", iso_seconds(entry.value.integer * 60));
        } else {
            value.set(camel_words(entry.key), to_json(entry.value));
        }
    }
    return value;
}

// Numbers among the parameters of a transformer are floats there.
Json transformers_of(const Document& params) {
    Json all = Json::object();
    for (const Document::Entry& entry : params.entries) {
        Json list = Json::array();
        for (const Document& item : entry.value.items) {
            Json one = to_json(item);
            if (const Document* parameters = item.find("parameters")) {
                Json values = Json::object();
                for (const Document::Entry& parameter : parameters->entries) {
                    const bool whole = parameter.value.kind == Document::Kind::Integer;
                    values.set(parameter.key,
                               whole ? Json(parameter.value.number) : to_json(parameter.value));
                }
                one.set("parameters", std::move(values));
            }
            list.append(std::move(one));
        }
        all.set(pascal_words(entry.key), std::move(list));
    }
    return all;
}

Json featurization_of(const Document& featurization, AutoMlFamily family) {
    Json value = Json::object();
    if (family == AutoMlFamily::Table) value.set("transformerParams", Json::object());
    for (const Document::Entry& entry : featurization.entries) {
        if (entry.key == "transformer_params") {
            value.set("transformerParams", transformers_of(entry.value));
        } else if (entry.key == "blocked_transformers") {
            Json names = Json::array();
            for (const Document& item : entry.value.items) names.append(pascal_words(item.text));
            value.set("blockedTransformers", std::move(names));
        } else {
            value.set(camel_words(entry.key), to_json(entry.value));
        }
    }
    return value;
}

Json forecasting_of(const Document& forecasting) {
    Json value = Json::object();
    for (const Document::Entry& entry : forecasting.entries) {
        const std::string key = camel_words(entry.key);
        if (entry.key == "forecast_horizon" || entry.key == "seasonality" ||
            entry.key == "target_rolling_window_size") {
            value.set(key, auto_or_value(entry.value));
        } else if (entry.key == "target_lags") {
            value.set(key, auto_or_values(entry.value));
        } else if (entry.key == "feature_lags" || entry.key == "use_stl" ||
                   entry.key == "short_series_handling_config" || entry.key == "target_aggregate_function") {
            value.set(key, pascal_words(entry.value.text));
        } else {
            value.set(key, to_json(entry.value));
        }
    }
    return value;
}

Json training_of(const Document& training) {
    Json value = Json::object();
    for (const Document::Entry& entry : training.entries) {
        if (entry.key.ends_with("_training_algorithms")) {
            Json names = Json::array();
            for (const Document& item : entry.value.items) names.append(pascal_words(item.text));
            value.set(camel_words(entry.key), std::move(names));
        } else if (entry.key == "ensemble_model_download_timeout_minutes") {
            value.set("ensembleModelDownloadTimeout", iso_seconds(entry.value.integer * 60));
        } else if (entry.key == "stack_ensemble_settings") {
            Json settings = Json::object();
            for (const Document::Entry& one : entry.value.entries)
                settings.set(camel_words(one.key),
                             one.key == "stack_meta_learner_type" && one.value.is_string()
                                 ? Json(pascal_words(one.value.text))
                                 : to_json(one.value));
            value.set("stackEnsembleSettings", std::move(settings));
        } else if (entry.key == "training_mode") {
            value.set("trainingMode", pascal_words(entry.value.text));
        } else {
            value.set(camel_words(entry.key), to_json(entry.value));
        }
    }
    return value;
}

Json early_termination(const Document& stop) {
    const std::string type = stop.find("type") == nullptr ? "" : stop.find("type")->text;
    Json value = Json::object({{"delayEvaluation", 0}, {"evaluationInterval", default_interval(type)}});
    if (type == "bandit") {
        value.set("slackAmount", 0);
        value.set("slackFactor", 0);
    }
    for (const Document::Entry& entry : stop.entries) {
        if (entry.key == "type") {
            value.set("policyType", pascal_words(entry.value.text));
        } else {
            value.set(camel_words(entry.key), to_json(entry.value));
        }
    }
    return value;
}

Json sweep_settings(const Document& sweep) {
    Json value = Json::object();
    for (const Document::Entry& entry : sweep.entries) {
        if (entry.key == "early_termination") {
            value.set("earlyTermination", early_termination(entry.value));
        } else {
            const Document* type = entry.value.is_map() ? entry.value.find("type") : nullptr;
            value.set(camel_words(entry.key), type != nullptr ? type->text : to_json(entry.value));
        }
    }
    return value;
}

Json parameters_of(const Document& parameters) {
    Json value = Json::object();
    for (const Document::Entry& entry : parameters.entries) {
        const bool is_word = entry.key == "learning_rate_scheduler" || entry.key == "optimizer" ||
                             entry.key == "model_size" || entry.key == "validation_metric_type";
        value.set(camel_words(entry.key),
                  is_word ? Json(pascal_words(entry.value.text)) : to_json(entry.value));
    }
    return value;
}

void set_setting(Json& details, const Document::Entry& entry, AutoMlFamily family) {
    const std::string& key = entry.key;
    const Document& value = entry.value;
    if (key == "limits") return;  // set for every job
    if (key == "primary_metric" || key == "log_verbosity") {
        details.set(camel_words(key), pascal_words(value.text));
    } else if (key == "featurization") {
        details.set("featurizationSettings", featurization_of(value, family));
    } else if (key == "forecasting") {
        details.set("forecastingSettings", forecasting_of(value));
    } else if (key == "training") {
        details.set("trainingSettings", training_of(value));
    } else if (key == "training_parameters") {
        details.set(family == AutoMlFamily::Text ? "fixedParameters" : "modelSettings", parameters_of(value));
    } else if (key == "sweep") {
        details.set("sweepSettings", sweep_settings(value));
    } else if (key == "search_space") {
        details.set("searchSpace", search_space_of(value, camel_words));
    } else if (key == "n_cross_validations") {
        details.set("nCrossValidations", auto_or_value(value));
    } else {
        details.set(camel_words(key), to_json(value));
    }
}

}  // namespace

std::string pascal_words(std::string_view snake) {
    constexpr std::array<std::string_view, 9> kInitials = {"sgd", "svm", "knn", "tcn", "gbm",
                                                           "xg",  "auc", "ner", "iou"};
    std::string out;
    for (const std::string_view word : split(snake, '_')) {
        const bool initials = std::ranges::find(kInitials, word) != kInitials.end();
        for (std::size_t i = 0; i < word.size(); ++i) {
            const bool raise = (i == 0 || initials) && word[i] >= 'a' && word[i] <= 'z';
            out += raise ? static_cast<char>(word[i] - 'a' + 'A') : word[i];
        }
    }
    return out;
}

std::string camel_words(std::string_view snake) {
    std::string out;
    bool raise = false;
    for (const char c : snake) {
        if (c == '_') {
            raise = !out.empty();
            continue;
        }
        out += raise && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        raise = false;
    }
    return out;
}

Result<Json> automl_step(const AutoMlJobSpec& job, Resolver& resolver) {
    Json node = Json::object({{"task", job.task}});
    for (const spec::InputSpec& data : job.data) {
        if (data.path.starts_with("${{")) {
            node.set(data.name, data.path);
            continue;
        }
        LAVANT_TRY(std::string uri, resolver.data(data));
        node.set(data.name, Json::object({{"type", data.type}, {"path", std::move(uri)}}));
    }
    for (const Document::Entry& entry : job.settings.entries) {
        Json value = to_json(entry.value);
        if (entry.key == "search_space") value = search_space_of(entry.value, as_written);
        if (entry.key == "sweep" && value.has("early_termination")) {
            Json& stop = value.member("early_termination");
            const bool bandit = stop["type"].text() == "bandit";
            for (const char* slack : {"slack_amount", "slack_factor"}) {
                if (bandit && !stop.has(slack)) stop.set(slack, 0.0);
            }
        }
        node.set(entry.key, std::move(value));
    }
    if (spec::automl_family(job.task) == AutoMlFamily::Text) {
        Json& limits = node.member("limits");
        for (const char* key : {"max_nodes", "max_trials"}) {
            if (!limits.has(key)) limits.set(key, 1);
        }
    }
    if (job.resources) node.set("resources", with_snake_keys(resources_of(*job.resources)));
    if (job.identity) node.set("identity", with_snake_keys(identity_of(*job.identity)));
    return node;
}

Result<Json> automl_to_arm(const AutoMlJobSpec& job, Resolver& resolver) {
    LAVANT_TRY(Json body, head_of(job, "AutoML", resolver));
    const AutoMlFamily family = spec::automl_family(job.task);
    Json details = Json::object({{"taskType", pascal_words(job.task)}});
    for (const spec::InputSpec& data : job.data) {
        LAVANT_TRY(Json value, input_of(data, resolver));
        details.set(camel_words(data.name), std::move(value));
    }
    details.set("limitSettings", limits_of(job.settings.find("limits"), family));
    for (const Document::Entry& entry : job.settings.entries) set_setting(details, entry, family);
    body.set("taskDetails", std::move(details));
    body.set("outputs", outputs_of(job.outputs));
    if (job.resources) body.set("resources", resources_of(*job.resources));
    if (job.queue) body.set("queueSettings", queue_of(*job.queue));
    if (job.identity) body.set("identity", identity_of(*job.identity));
    if (!job.environment_variables.empty())
        body.set("environmentVariables", to_json(job.environment_variables));
    return body;
}

}  // namespace lavant::wire
