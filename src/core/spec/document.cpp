#include "core/spec/document.h"

#include <charconv>
#include <cmath>

#include "base/text.h"

namespace lavant::spec {

const Document* Document::find(std::string_view key) const {
    for (const Entry& entry : entries) {
        if (entry.key == key) return &entry.value;
    }
    return nullptr;
}

std::string Document::printed() const {
    switch (kind) {
        case Kind::Boolean:
            return boolean ? "True" : "False";
        // Integers beyond 64 bits keep their digits: they are only passed on.
        case Kind::Integer:
            return number > 9e18 || number < -9e18 ? text : std::to_string(integer);
        case Kind::Float:
            return python_float(number);
        case Kind::Null:
            return "None";
        case Kind::String:
        case Kind::List:
        case Kind::Map:
            break;
    }
    return text;
}

Document Document::string(std::string text, Position at) {
    Document document;
    document.kind = Kind::String;
    document.text = std::move(text);
    document.at = at;
    return document;
}

Document Document::map(Position at) {
    Document document;
    document.kind = Kind::Map;
    document.at = at;
    return document;
}

std::string_view name_of(Document::Kind kind) {
    switch (kind) {
        case Document::Kind::Null:
            return "empty";
        case Document::Kind::Boolean:
            return "a boolean";
        case Document::Kind::Integer:
            return "an integer";
        case Document::Kind::Float:
            return "a number";
        case Document::Kind::String:
            return "a string";
        case Document::Kind::List:
            return "a list";
        case Document::Kind::Map:
            break;
    }
    return "a mapping";
}

std::string python_float(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    const double size = std::abs(value);
    const bool plain = value == 0 || (size >= 1e-4 && size < 1e16);
    char buffer[400];
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, format).ptr;
    std::string text(buffer, end);
    if (plain && text.find('.') == std::string::npos) text += ".0";
    return text;
}

bool set_at(Document& root, std::string_view path, Document value) {
    Document* at = &root;
    for (std::string_view key : split(path, '.')) {
        if (key.empty()) return false;
        if (at->is_null()) *at = Document::map(at->at);
        if (!at->is_map()) return false;
        Document* next = nullptr;
        for (Document::Entry& entry : at->entries) {
            if (entry.key == key) next = &entry.value;
        }
        if (next == nullptr)
            next = &at->entries.emplace_back(Document::Entry{std::string(key), {}, {}}).value;
        at = next;
    }
    *at = std::move(value);
    return true;
}

}  // namespace lavant::spec
