// The distributions of a search, and how it samples and stops.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "core/spec/sweep_reading.h"

namespace lavant::spec {
namespace {

const std::vector<std::string>& distribution_types() {
    static const std::vector<std::string> types = {"choice",      "uniform", "quniform", "loguniform",
                                                   "qloguniform", "normal",  "qnormal",  "lognormal",
                                                   "qlognormal",  "randint"};
    return types;
}

std::optional<Document> as_number(const Document& value) {
    if (value.kind == Document::Kind::Integer) return value;
    if (value.kind == Document::Kind::Float && std::isfinite(value.number)) return value;
    if (!value.is_string()) return std::nullopt;
    Document number = value;
    if (const auto whole = parse_integer(trim(value.text))) {
        number.kind = Document::Kind::Integer;
        number.integer = *whole;
        number.number = static_cast<double>(*whole);
        return number;
    }
    char* end = nullptr;
    number.kind = Document::Kind::Float;
    number.number = std::strtod(value.text.c_str(), &end);
    if (value.text.empty() || *end != '\0' || !std::isfinite(number.number)) return std::nullopt;
    return number;
}

// The values of a choice: scalars, or mappings whose values may be distributions again.
Document read_choices(const Document& values, const std::string& path, Problems& problems) {
    Document read = values;
    if (values.items.size() > kChoiceValuesMost) {
        problems.add(path, values.at, "has more than " + std::to_string(kChoiceValuesMost) + " values");
        return read;
    }
    for (std::size_t i = 0; i < read.items.size(); ++i) {
        Document& value = read.items[i];
        const std::string place = path + "[" + std::to_string(i) + "]";
        if (value.is_list() || value.is_null())
            problems.add(place, value.at, "must be a string, a number, a boolean or a mapping");
        for (Document::Entry& entry : value.entries) {
            if (entry.value.is_map())
                entry.value = read_distribution_of(entry, place + "." + entry.key, problems).space;
        }
    }
    return read;
}

void set_entry(Document& map, std::string_view key, Document value) {
    for (Document::Entry& entry : map.entries) {
        if (entry.key == key) entry.value = std::move(value);
    }
}

void check_bounds(Fields& fields, const Document& space) {
    const Document* least = space.find("min_value");
    const Document* most = space.find("max_value");
    if (least != nullptr && most != nullptr && least->number > most->number)
        fields.problem("max_value", "must not be below min_value");
    const Document* step = space.find("q");
    if (step != nullptr && step->number <= 0) fields.problem("q", "must be above 0");
    const Document* upper = space.find("upper");
    if (upper != nullptr && (upper->kind != Document::Kind::Integer || upper->integer < 1))
        fields.problem("upper", "must be a whole number above 0");
}

}  // namespace

const std::vector<std::string>& distribution_arguments(std::string_view type) {
    static const std::vector<std::string> none;
    static const std::vector<std::string> range = {"min_value", "max_value"};
    static const std::vector<std::string> stepped_range = {"min_value", "max_value", "q"};
    static const std::vector<std::string> bell = {"mu", "sigma"};
    static const std::vector<std::string> stepped_bell = {"mu", "sigma", "q"};
    static const std::vector<std::string> upper = {"upper"};
    if (type == "uniform" || type == "loguniform") return range;
    if (type == "quniform" || type == "qloguniform") return stepped_range;
    if (type == "normal" || type == "lognormal") return bell;
    if (type == "qnormal" || type == "qlognormal") return stepped_bell;
    if (type == "randint") return upper;
    return none;
}

std::optional<Document> read_number(Fields& fields, std::string_view key) {
    const Document* value = fields.find(key);
    if (value == nullptr) return std::nullopt;
    auto number = as_number(*value);
    if (!number) fields.problem(key, "must be a number, but is " + std::string(name_of(value->kind)));
    return number;
}

std::optional<std::int64_t> read_count(Fields& fields, std::string_view key, std::int64_t least,
                                       std::int64_t most) {
    const auto count = fields.integer(key);
    if (!count || (*count >= least && *count <= most)) return count;
    fields.problem(key, "must be between " + std::to_string(least) + " and " + std::to_string(most) +
                            ", not " + std::to_string(*count));
    return std::nullopt;
}

SearchSpec read_distribution_of(const Document::Entry& entry, const std::string& path, Problems& problems) {
    SearchSpec search{entry.key, entry.value};
    Fields fields(entry.value, path, problems);
    if (!entry.value.is_map()) return search;
    const std::string type = fields.choice("type", distribution_types());
    if (!fields.has("type")) fields.problem("type", "is missing; it must be " + listed(distribution_types()));
    if (type.empty()) return search;
    set_entry(search.space, "type", Document::string(type, fields.position_of("type")));
    if (type == "choice") {
        const Document* values = fields.find("values");
        if (values == nullptr && !fields.has("values"))
            fields.problem("values", "is missing; list the values");
        if (values != nullptr && (!values->is_list() || values->items.empty())) {
            fields.problem("values", "must be a list with at least one value");
        } else if (values != nullptr) {
            set_entry(search.space, "values", read_choices(*values, fields.path_of("values"), problems));
        }
    }
    for (const std::string& key : distribution_arguments(type)) {
        if (!fields.has(key)) fields.problem(key, "is missing; " + type + " needs it");
        if (auto number = read_number(fields, key)) set_entry(search.space, key, std::move(*number));
    }
    check_bounds(fields, search.space);
    fields.finish();
    return search;
}

SamplingSpec read_sampling(Fields& fields) {
    const std::vector<std::string> types = {"random", "grid", "bayesian"};
    SamplingSpec sampling;
    const Document* value = fields.find("sampling_algorithm");
    if (value == nullptr) return sampling;
    if (!value->is_map()) {
        sampling.type = fields.choice("sampling_algorithm", types);
        return sampling;
    }
    sampling.is_word = false;
    Fields parts(*value, fields.path_of("sampling_algorithm"), fields.problems());
    sampling.type = parts.choice("type", types);
    if (!parts.has("type")) parts.problem("type", "is missing; it must be " + listed(types));
    if (sampling.type == "random") {
        sampling.rule = parts.choice("rule", {"random", "sobol"});
        sampling.seed = parts.integer("seed");
        if (const Document* base = parts.find("logbase")) {
            const auto number = as_number(*base);
            if (number && number->number > 0 && number->number != 1) {
                sampling.logbase = number;
            } else if (base->is_string() && base->text == "e") {
                sampling.logbase = *base;
            } else {
                parts.problem("logbase", "must be e, or a number above 0 other than 1");
            }
        }
    }
    parts.finish();
    return sampling;
}

std::optional<EarlyTerminationSpec> read_early_termination(Fields& fields) {
    const Document* map = fields.find("early_termination");
    if (map == nullptr) return std::nullopt;
    const std::vector<std::string> types = {"bandit", "median_stopping", "truncation_selection"};
    constexpr std::int64_t kIntervals = 1'000'000;
    Fields parts(*map, fields.path_of("early_termination"), fields.problems());
    EarlyTerminationSpec stop;
    stop.type = parts.choice("type", types);
    if (map->is_map() && !parts.has("type")) parts.problem("type", "is missing; it must be " + listed(types));
    stop.evaluation_interval = read_count(parts, "evaluation_interval", 0, kIntervals);
    stop.delay_evaluation = read_count(parts, "delay_evaluation", 0, kIntervals);
    if (stop.type == "bandit") {
        stop.slack_factor = read_number(parts, "slack_factor");
        stop.slack_amount = read_number(parts, "slack_amount");
        for (const auto& [key, slack] :
             {std::pair("slack_factor", &stop.slack_factor), std::pair("slack_amount", &stop.slack_amount)}) {
            if (*slack && (*slack)->number < 0) parts.problem(key, "must not be below 0");
        }
    } else if (stop.type == "truncation_selection") {
        stop.truncation_percentage = read_count(parts, "truncation_percentage", 1, 99);
        if (!parts.has("truncation_percentage"))
            parts.problem("truncation_percentage", "is missing; truncation_selection needs it");
    }
    parts.finish();
    return stop;
}

}  // namespace lavant::spec
