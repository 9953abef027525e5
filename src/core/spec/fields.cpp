#include "core/spec/fields.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace lavant::spec {

Fields::Fields(const Document& map, std::string path, Problems& problems)
    : map_(map), path_(std::move(path)), problems_(problems) {
    if (map.is_map()) return;
    problems_.add(path_, map.at, "must be a mapping, but is " + std::string(name_of(map.kind)));
}

bool Fields::has(std::string_view key) { return find_nullable(key) != nullptr; }

const Document* Fields::find_nullable(std::string_view key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
    return map_.find(key);
}

const Document* Fields::find(std::string_view key) {
    const Document* value = find_nullable(key);
    if (value == nullptr) return nullptr;
    if (!value->is_null()) return value;
    problem(key, "is empty; give it a value or remove the line");
    return nullptr;
}

std::string Fields::string(std::string_view key) {
    const Document* value = find(key);
    if (value == nullptr) return "";
    if (value->is_string()) return value->text;
    wrong_type(key, *value, value->is_scalar() ? "must be a string; put it in quotes" : "must be a string");
    return "";
}

std::string Fields::text(std::string_view key) {
    const Document* value = find(key);
    if (value == nullptr) return "";
    if (value->is_scalar()) return value->kind == Document::Kind::Float ? value->text : value->printed();
    wrong_type(key, *value, "must be a string");
    return "";
}

std::optional<std::int64_t> Fields::integer(std::string_view key) {
    const Document* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind == Document::Kind::Integer && std::abs(value->number) < 9e15) return value->integer;
    if (value->kind == Document::Kind::Float && std::trunc(value->number) == value->number &&
        std::abs(value->number) < 9e15) {
        return static_cast<std::int64_t>(value->number);
    }
    if (value->is_string()) {
        if (const auto number = parse_integer(trim(value->text))) return number;
        problem(key, "must be an integer, not '" + value->text.substr(0, 80) + "'");
        return std::nullopt;
    }
    wrong_type(key, *value, "must be an integer");
    return std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view key) {
    const Document* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (value->kind == Document::Kind::Boolean) return value->boolean;
    wrong_type(key, *value, "must be true or false");
    return std::nullopt;
}

std::string Fields::choice(std::string_view key, const std::vector<std::string>& allowed) {
    const std::string written = string(key);
    if (written.empty()) {
        const Document* value = find_nullable(key);
        if (value != nullptr && value->is_string()) problem(key, "is empty; it must be " + listed(allowed));
        return "";
    }
    if (auto match = match_choice(written, allowed)) return std::move(*match);
    const auto near = nearest(written, allowed);
    problem(key, "cannot be '" + written.substr(0, 80) + "'; " +
                     (near ? "did you mean '" + *near + "'?" : "it must be " + listed(allowed)));
    return "";
}

std::vector<std::string> Fields::strings(std::string_view key) {
    std::vector<std::string> out;
    const Document* value = find(key);
    if (value == nullptr) return out;
    if (!value->is_list()) {
        wrong_type(key, *value, "must be a list of strings");
        return out;
    }
    for (std::size_t i = 0; i < value->items.size(); ++i) {
        const Document& item = value->items[i];
        if (item.is_string()) {
            out.push_back(item.text);
        } else {
            problems_.add(path_of(key) + "[" + std::to_string(i) + "]", item.at, "must be a string");
        }
    }
    return out;
}

std::map<std::string, std::string> Fields::string_map(std::string_view key) {
    std::map<std::string, std::string> out;
    const Document* value = find(key);
    if (value == nullptr) return out;
    if (!value->is_map()) {
        wrong_type(key, *value, "must be a mapping of names to strings");
        return out;
    }
    for (const Document::Entry& entry : value->entries) {
        if (entry.value.is_string() || entry.value.is_null()) {
            out[entry.key] = entry.value.is_string() ? entry.value.text : "";
            continue;
        }
        problems_.add(path_of(key) + "." + entry.key, entry.value.at,
                      "must be a string, but is " + std::string(name_of(entry.value.kind)) +
                          (entry.value.is_scalar() ? "; put it in quotes" : ""));
    }
    return out;
}

void Fields::ignore(std::initializer_list<std::string_view> keys) {
    for (std::string_view key : keys)
        if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.emplace_back(key);
}

void Fields::finish() {
    for (const Document::Entry& entry : map_.entries) {
        if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
        problems_.add(path_of(entry.key), entry.key_at, "unknown key" + suggestion(entry.key, known_));
        if (const auto meant = nearest(entry.key, known_)) problems_.forget_missing(path_of(*meant));
    }
}

std::string Fields::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

Position Fields::position_of(std::string_view key) const {
    for (const Document::Entry& entry : map_.entries) {
        if (entry.key == key) return entry.value.is_null() ? entry.key_at : entry.value.at;
    }
    return map_.at;
}

void Fields::problem(std::string_view key, std::string message) {
    problems_.add(path_of(key), position_of(key), std::move(message));
}

void Fields::wrong_type(std::string_view key, const Document& value, std::string_view wanted) {
    const std::size_t semicolon = wanted.find(';');
    std::string message(wanted.substr(0, semicolon));
    message += ", but is " + std::string(name_of(value.kind));
    if (semicolon != std::string_view::npos) message += wanted.substr(semicolon);
    problem(key, std::move(message));
}

std::string folded(std::string_view word) {
    std::string out;
    for (char c : to_lower(word)) {
        if (c != '_' && c != '-') out += c;
    }
    return out;
}

std::optional<std::string> match_choice(std::string_view word, const std::vector<std::string>& allowed) {
    const std::string wanted = folded(word);
    for (const std::string& candidate : allowed) {
        if (folded(candidate) == wanted) return candidate;
    }
    return std::nullopt;
}

}  // namespace lavant::spec
