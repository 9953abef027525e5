#include "wire/jmespath/functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace lavant::wire::jmespath {
namespace {

using Arguments = std::vector<Argument>;

const Json& at(const Arguments& arguments, std::size_t place) { return *arguments[place].value; }

// Whole numbers stay whole where they fit.
Json from_double(double value) {
    constexpr double kExact = 9007199254740992.0;
    if (std::trunc(value) == value && std::abs(value) <= kExact)
        return Json(static_cast<std::int64_t>(value));
    return Json(value);
}

std::size_t count_characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

Result<Value> do_abs(const Arguments& arguments, const Caller&) {
    const Json& value = at(arguments, 0);
    if (value.is_integer() && value.integer() != std::numeric_limits<std::int64_t>::min())
        return own(Json(std::abs(value.integer())));
    return own(Json(std::abs(value.number())));
}

Result<Value> do_ceil(const Arguments& arguments, const Caller&) {
    if (at(arguments, 0).is_integer()) return arguments[0].value;
    return own(from_double(std::ceil(at(arguments, 0).number())));
}

Result<Value> do_floor(const Arguments& arguments, const Caller&) {
    if (at(arguments, 0).is_integer()) return arguments[0].value;
    return own(from_double(std::floor(at(arguments, 0).number())));
}

Json sum_of(const Json& numbers) {
    std::int64_t whole = 0;
    double sum = 0;
    bool is_whole = true;
    for (const Json& item : numbers.items()) {
        is_whole = is_whole && item.is_integer() && !__builtin_add_overflow(whole, item.integer(), &whole);
        sum += item.number();
    }
    return is_whole ? Json(whole) : Json(sum);
}

Result<Value> do_sum(const Arguments& arguments, const Caller&) { return own(sum_of(at(arguments, 0))); }

Result<Value> do_avg(const Arguments& arguments, const Caller&) {
    const Json& numbers = at(arguments, 0);
    if (numbers.size() == 0) return own(Json());
    return own(Json(sum_of(numbers).number() / static_cast<double>(numbers.size())));
}

Result<Value> do_contains(const Arguments& arguments, const Caller& caller) {
    const Json& subject = at(arguments, 0);
    const Json& wanted = at(arguments, 1);
    LAVANT_TRY_VOID(caller.spend(weight(subject)));
    if (subject.is_string())
        return own(Json(wanted.is_string() && subject.text().find(wanted.text()) != std::string_view::npos));
    return own(
        Json(std::ranges::any_of(subject.items(), [&](const Json& item) { return equal(item, wanted); })));
}

Result<Value> do_starts_with(const Arguments& arguments, const Caller&) {
    return own(Json(at(arguments, 0).text().starts_with(at(arguments, 1).text())));
}

Result<Value> do_ends_with(const Arguments& arguments, const Caller&) {
    return own(Json(at(arguments, 0).text().ends_with(at(arguments, 1).text())));
}

Result<Value> do_join(const Arguments& arguments, const Caller& caller) {
    std::string out;
    bool first = true;
    LAVANT_TRY_VOID(caller.spend(weight(at(arguments, 1))));
    LAVANT_TRY_VOID(caller.spend(at(arguments, 1).size() * (at(arguments, 0).text().size() / 64)));
    for (const Json& item : at(arguments, 1).items()) {
        if (!std::exchange(first, false)) out += at(arguments, 0).text();
        out += item.text();
    }
    return own(Json(std::move(out)));
}

Result<Value> do_keys(const Arguments& arguments, const Caller& caller) {
    LAVANT_TRY_VOID(caller.spend(weight(at(arguments, 0))));
    Json::Array keys;
    for (const Json::Member& member : at(arguments, 0).members()) keys.emplace_back(member.key);
    return own(Json(std::move(keys)));
}

Result<Value> do_values(const Arguments& arguments, const Caller& caller) {
    LAVANT_TRY_VOID(caller.spend(weight(at(arguments, 0))));
    Json::Array values;
    for (const Json::Member& member : at(arguments, 0).members()) values.push_back(member.value);
    return own(Json(std::move(values)));
}

Result<Value> do_length(const Arguments& arguments, const Caller&) {
    const Json& value = at(arguments, 0);
    return own(Json(value.is_string() ? count_characters(value.text()) : value.size()));
}

Result<Value> do_merge(const Arguments& arguments, const Caller& caller) {
    Json merged = Json::object();
    for (const Argument& argument : arguments) {
        // Every key is looked for among those that are there.
        LAVANT_TRY_VOID(caller.spend(weight(*argument.value) + argument.value->size() * merged.size() / 16));
        for (const Json::Member& member : argument.value->members()) merged.set(member.key, member.value);
    }
    return own(std::move(merged));
}

Result<Value> do_not_null(const Arguments& arguments, const Caller&) {
    const auto found =
        std::ranges::find_if(arguments, [](const Argument& argument) { return !argument.value->is_null(); });
    return found != arguments.end() ? found->value : own(Json());
}

Result<Value> do_reverse(const Arguments& arguments, const Caller& caller) {
    const Json& value = at(arguments, 0);
    LAVANT_TRY_VOID(caller.spend(weight(value)));
    if (value.is_array()) return own(Json(Json::Array(value.items().rbegin(), value.items().rend())));
    // Character by character: the bytes of one stay in order.
    std::string out;
    const std::string_view text = value.text();
    for (std::size_t end = text.size(); end > 0;) {
        std::size_t begin = end - 1;
        while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
        out += text.substr(begin, end - begin);
        end = begin;
    }
    return own(Json(std::move(out)));
}

Result<Value> do_to_array(const Arguments& arguments, const Caller& caller) {
    if (at(arguments, 0).is_array()) return arguments[0].value;
    LAVANT_TRY_VOID(caller.spend(weight(at(arguments, 0))));
    return own(Json::array({at(arguments, 0)}));
}

Result<Value> do_to_number(const Arguments& arguments, const Caller&) {
    const Json& value = at(arguments, 0);
    if (value.is_number()) return arguments[0].value;
    if (!value.is_string()) return own(Json());
    auto number = parse_json(value.text());
    return own(number && number->is_number() ? std::move(*number) : Json());
}

Result<Value> do_to_string(const Arguments& arguments, const Caller& caller) {
    if (at(arguments, 0).is_string()) return arguments[0].value;
    Json text(at(arguments, 0).dump());
    LAVANT_TRY_VOID(caller.spend(weight(at(arguments, 0)) + weight(text)));
    return own(std::move(text));
}

Result<Value> do_type(const Arguments& arguments, const Caller&) {
    return own(Json(type_of(at(arguments, 0))));
}

// --- order ---

Result<Value> do_max(const Arguments& arguments, const Caller&) {
    const Json::Array& items = at(arguments, 0).items();
    const auto found = std::ranges::max_element(items, less);
    return found != items.end() ? Value(arguments[0].value, &*found) : own(Json());
}

Result<Value> do_min(const Arguments& arguments, const Caller&) {
    const Json::Array& items = at(arguments, 0).items();
    const auto found = std::ranges::min_element(items, less);
    return found != items.end() ? Value(arguments[0].value, &*found) : own(Json());
}

std::size_t sorting_steps(std::size_t items) {
    return items * static_cast<std::size_t>(std::log2(static_cast<double>(items) + 1)) / 4;
}

Result<Value> do_sort(const Arguments& arguments, const Caller& caller) {
    LAVANT_TRY_VOID(caller.spend(weight(at(arguments, 0)) + sorting_steps(at(arguments, 0).size())));
    Json::Array items = at(arguments, 0).items();
    std::ranges::stable_sort(items, less);
    return own(Json(std::move(items)));
}

tl::unexpected<Error> wrong_key(const Caller& caller, std::string_view first, const Json& key) {
    const std::string wanted = first.empty() ? "numbers or strings" : std::string(first) + "s throughout";
    return fail_at(caller.column, std::string(caller.name) + "() orders by " + wanted +
                                      "; here the expression gives " + std::string(type_of(key)));
}

// The key of each item: all numbers or all strings.
Result<std::vector<Value>> keys_of(const Arguments& arguments, const Caller& caller) {
    std::vector<Value> keys;
    for (const Json& item : at(arguments, 0).items()) {
        LAVANT_TRY(Value key, caller.evaluate(*arguments[1].reference, item));
        const std::string_view first = keys.empty() ? std::string_view() : type_of(*keys.front());
        const bool fits = first.empty() ? key->is_number() || key->is_string() : type_of(*key) == first;
        if (!fits) return wrong_key(caller, first, *key);
        keys.push_back(std::move(key));
    }
    return keys;
}

bool less_key(const Value& a, const Value& b) { return less(*a, *b); }

Result<Value> item_at(const Arguments& arguments, std::size_t place) {
    return Value(arguments[0].value, &at(arguments, 0).items()[place]);
}

Result<Value> do_max_by(const Arguments& arguments, const Caller& caller) {
    LAVANT_TRY(const std::vector<Value> keys, keys_of(arguments, caller));
    if (keys.empty()) return own(Json());
    return item_at(arguments,
                   static_cast<std::size_t>(std::ranges::max_element(keys, less_key) - keys.begin()));
}

Result<Value> do_min_by(const Arguments& arguments, const Caller& caller) {
    LAVANT_TRY(const std::vector<Value> keys, keys_of(arguments, caller));
    if (keys.empty()) return own(Json());
    return item_at(arguments,
                   static_cast<std::size_t>(std::ranges::min_element(keys, less_key) - keys.begin()));
}

Result<Value> do_sort_by(const Arguments& arguments, const Caller& caller) {
    LAVANT_TRY(const std::vector<Value> keys, keys_of(arguments, caller));
    LAVANT_TRY_VOID(caller.spend(weight(at(arguments, 0)) + sorting_steps(keys.size())));
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return less_key(keys[a], keys[b]); });
    Json::Array items;
    for (std::size_t place : order) items.push_back(at(arguments, 0).items()[place]);
    return own(Json(std::move(items)));
}

Result<Value> do_map(const Arguments& arguments, const Caller& caller) {
    Json::Array items;
    for (const Json& item : at(arguments, 1).items()) {
        LAVANT_TRY(const Value made, caller.evaluate(*arguments[0].reference, item));
        LAVANT_TRY_VOID(caller.spend(weight(*made)));
        items.push_back(*made);
    }
    return own(Json(std::move(items)));
}

const std::vector<Function>& functions() {
    static const std::vector<Function> kFunctions = {
        {"abs", {kNumber}, false, do_abs},
        {"avg", {kNumbers}, false, do_avg},
        {"ceil", {kNumber}, false, do_ceil},
        {"contains", {kArray | kString, kAny}, false, do_contains},
        {"ends_with", {kString, kString}, false, do_ends_with},
        {"floor", {kNumber}, false, do_floor},
        {"join", {kString, kStrings}, false, do_join},
        {"keys", {kObject}, false, do_keys},
        {"length", {kString | kArray | kObject}, false, do_length},
        {"map", {kReference, kArray}, false, do_map},
        {"max", {kNumbers | kStrings}, false, do_max},
        {"max_by", {kArray, kReference}, false, do_max_by},
        {"merge", {kObject}, true, do_merge},
        {"min", {kNumbers | kStrings}, false, do_min},
        {"min_by", {kArray, kReference}, false, do_min_by},
        {"not_null", {kAny}, true, do_not_null},
        {"reverse", {kString | kArray}, false, do_reverse},
        {"sort", {kNumbers | kStrings}, false, do_sort},
        {"sort_by", {kArray, kReference}, false, do_sort_by},
        {"starts_with", {kString, kString}, false, do_starts_with},
        {"sum", {kNumbers}, false, do_sum},
        {"to_array", {kAny}, false, do_to_array},
        {"to_number", {kAny}, false, do_to_number},
        {"to_string", {kAny}, false, do_to_string},
        {"type", {kAny}, false, do_type},
        {"values", {kObject}, false, do_values},
    };
    return kFunctions;
}

bool accepted(unsigned accepts, const Json& value) {
    if (value.is_number()) return (accepts & kNumber) != 0;
    if (value.is_string()) return (accepts & kString) != 0;
    if (value.is_boolean()) return (accepts & kBoolean) != 0;
    if (value.is_null()) return (accepts & kNull) != 0;
    if (value.is_object()) return (accepts & kObject) != 0;
    if ((accepts & kArray) != 0) return true;
    const auto all = [&](bool (Json::*is)() const) {
        return std::ranges::all_of(value.items(), [&](const Json& item) { return (item.*is)(); });
    };
    return ((accepts & kNumbers) != 0 && all(&Json::is_number)) ||
           ((accepts & kStrings) != 0 && all(&Json::is_string));
}

std::string describe(unsigned accepts) {
    static constexpr std::pair<unsigned, std::string_view> kWords[] = {{kNumber, "a number"},
                                                                       {kString, "a string"},
                                                                       {kBoolean, "a boolean"},
                                                                       {kNull, "null"},
                                                                       {kArray, "an array"},
                                                                       {kObject, "an object"},
                                                                       {kNumbers, "an array of numbers"},
                                                                       {kStrings, "an array of strings"}};
    std::string out;
    for (const auto& [bit, word] : kWords) {
        if ((accepts & bit) != 0) (out += out.empty() ? "" : " or ") += word;
    }
    return out;
}

}  // namespace

const Function* find_function(std::string_view name) {
    const auto found = std::ranges::find(functions(), name, &Function::name);
    return found != functions().end() ? &*found : nullptr;
}

std::vector<std::string> function_names() {
    std::vector<std::string> names;
    for (const Function& function : functions()) names.emplace_back(function.name);
    return names;
}

Result<Value> call(const Function& function, const std::vector<Argument>& arguments, const Caller& caller) {
    for (std::size_t place = 0; place < arguments.size(); ++place) {
        if (arguments[place].reference != nullptr) continue;
        const unsigned accepts = function.accepts[std::min(place, function.accepts.size() - 1)];
        const Json& value = *arguments[place].value;
        LAVANT_TRY_VOID(caller.spend(value.items().size() / 16));
        if (accepted(accepts, value)) continue;
        return fail_at(caller.column, "argument " + std::to_string(place + 1) + " of " +
                                          std::string(function.name) + "() is " + describe(accepts) +
                                          "; here it is " + std::string(type_of(value)) +
                                          (value.is_array() ? " of other things" : ""));
    }
    return function.body(arguments, caller);
}

}  // namespace lavant::wire::jmespath
