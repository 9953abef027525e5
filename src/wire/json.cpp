#include "wire/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "base/text.h"

namespace lavant::wire {
namespace {

const Json& null_json() {
    static const Json value;
    return value;
}

void write_string(std::string& out, std::string_view text) {
    const auto plain = [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x80 && c != '"' &&
               c != '\\';
    };
    if (!std::all_of(text.begin(), text.end(), plain)) {
        out += json_quote(text);
        return;
    }
    out += '"';
    out += text;
    out += '"';
}

void write_double(std::string& out, double value) {
    if (!std::isfinite(value)) {  // JSON has no word for it.
        out += "null";
        return;
    }
    char buffer[40];
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
    CHECK(error == std::errc{}, "forty characters hold any double");
    const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
    out += text;
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void write_scalar(std::string& out, const Json& value) {
    if (value.is_string()) return write_string(out, value.text());
    if (value.is_integer()) {
        out += std::to_string(value.integer());
    } else if (value.is_number()) {
        write_double(out, value.number());
    } else if (value.is_boolean()) {
        out += value.boolean() ? "true" : "false";
    } else {
        out += "null";
    }
}

void write_pretty(std::string& out, const Json& value, std::size_t indent) {
    if ((!value.is_array() && !value.is_object()) || value.size() == 0) return value.dump_to(out);
    const std::string inner(indent + 2, ' ');
    const bool is_array = value.is_array();
    const char* separator = is_array ? "[\n" : "{\n";
    for (const Json& item : value.items()) {
        (out += std::exchange(separator, ",\n")) += inner;
        write_pretty(out, item, indent + 2);
    }
    for (const Json::Member& member : value.members()) {
        (out += std::exchange(separator, ",\n")) += inner;
        write_string(out, member.key);
        out += ": ";
        write_pretty(out, member.value, indent + 2);
    }
    ((out += '\n').append(indent, ' ')) += is_array ? ']' : '}';
}

bool reads_as_number(std::string_view text) {
    return text.find_first_of("0123456789") != std::string_view::npos &&
           text.find_first_not_of("0123456789+-._eExXoabcdfABCDF:TZ") == std::string_view::npos;
}

// Whether a YAML reader of any version takes this plain text for the same string.
bool is_plain_yaml(std::string_view text) {
    static constexpr std::string_view kWords[] = {"null", "true", "false", "yes", "no",
                                                  "on",   "off",  "y",     "n",   "~"};
    if (text.empty() || text.front() == ' ' || text.back() == ' ' || text.back() == ':') return false;
    if (std::string_view("-?:,[]{}#&*!|>'\"%@`=<.+").find(text.front()) != std::string_view::npos)
        return false;
    if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
    const auto odd = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (std::any_of(text.begin(), text.end(), odd)) return false;
    const std::string lower = to_lower(text);
    return std::find(std::begin(kWords), std::end(kWords), lower) == std::end(kWords) &&
           !reads_as_number(text);
}

// Several lines read best as a literal block; what a block cannot hold is quoted.
bool fits_block(std::string_view text) {
    if (text.find('\n') == std::string_view::npos || text.front() == ' ' || text.front() == '\n')
        return false;
    const auto odd = [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
    };
    return std::none_of(text.begin(), text.end(), odd) && !text.ends_with("\n\n") && text.front() != '\t';
}

// JSON's quotes but for DEL, which no YAML file may hold as it is.
void write_yaml_string(std::string& out, std::string_view text) {
    std::string quoted;
    write_string(quoted, text);
    for (const char c : quoted) c == 0x7f ? out += "\\u007f" : out += c;
}

void write_yaml_scalar(std::string& out, const Json& value, std::size_t indent) {
    if (!value.is_string()) return value.dump_to(out);
    const std::string_view text = value.text();
    if (is_plain_yaml(text)) {
        out += text;
        return;
    }
    if (text.empty() || !fits_block(text)) return write_yaml_string(out, text);
    out += text.back() == '\n' ? "|" : "|-";
    for (std::string_view line : split(text.substr(0, text.size() - (text.back() == '\n' ? 1 : 0)), '\n')) {
        out += '\n';
        if (!line.empty()) out.append(indent, ' ') += line;
    }
}

// Writes the value of a key or list item whose own text ended without a newline.
void write_yaml(std::string& out, const Json& value, std::size_t indent, bool in_list) {
    if (value.size() == 0) {  // Scalars and empty containers stay on the line.
        if (!in_list) out += ' ';
        write_yaml_scalar(out, value, indent);
        out += '\n';
        return;
    }
    bool first = in_list;  // "- a: 1": the first key stands on the dash's line.
    if (!in_list) out += '\n';
    for (const Json& item : value.items()) {
        if (!std::exchange(first, false)) out.append(indent, ' ');
        out += "- ";
        write_yaml(out, item, indent + 2, true);
    }
    for (const Json::Member& member : value.members()) {
        if (!std::exchange(first, false)) out.append(indent, ' ');
        if (is_plain_yaml(member.key)) {
            out += member.key;
        } else {
            write_string(out, member.key);
        }
        out += ':';
        write_yaml(out, member.value, indent + (member.value.is_array() ? 0 : 2), false);
    }
}

}  // namespace

Json Json::object(std::initializer_list<Member> members) { return Json(Object(members)); }
Json Json::array(std::initializer_list<Json> items) { return Json(Array(items)); }

std::string_view Json::type_name() const {
    static constexpr std::string_view kNames[] = {"null",   "boolean", "integer", "number",
                                                  "string", "array",   "object"};
    return kNames[value_.index()];
}

bool Json::boolean(bool otherwise) const {
    const bool* value = std::get_if<bool>(&value_);
    return value != nullptr ? *value : otherwise;
}

std::int64_t Json::integer(std::int64_t otherwise) const {
    if (const auto* value = std::get_if<std::int64_t>(&value_)) return *value;
    const double* value = std::get_if<double>(&value_);
    if (value == nullptr || std::abs(*value) > 9e15 || std::trunc(*value) != *value) return otherwise;
    return static_cast<std::int64_t>(*value);
}

double Json::number(double otherwise) const {
    if (const double* value = std::get_if<double>(&value_)) return *value;
    const auto* value = std::get_if<std::int64_t>(&value_);
    return value != nullptr ? static_cast<double>(*value) : otherwise;
}

std::string Json::string(std::string_view otherwise) const {
    const auto* value = std::get_if<std::string>(&value_);
    return value != nullptr ? *value : std::string(otherwise);
}

std::string_view Json::text() const {
    const auto* value = std::get_if<std::string>(&value_);
    return value != nullptr ? std::string_view(*value) : std::string_view();
}

std::string Json::scalar_text() const { return is_string() ? std::string(text()) : dump(); }

const Json& Json::operator[](std::string_view key) const {
    const Json* found = find(key);
    return found != nullptr ? *found : null_json();
}

const Json& Json::get(std::string_view path) const {
    const Json* at = this;
    for (std::string_view rest = path; at != nullptr;) {
        const std::size_t dot = rest.find('.');
        at = at->find(rest.substr(0, dot));
        if (dot == std::string_view::npos) break;
        rest.remove_prefix(dot + 1);
    }
    return at != nullptr ? *at : null_json();
}

const Json* Json::find(std::string_view key) const {
    for (const Member& member : members()) {
        if (member.key == key) return &member.value;
    }
    return nullptr;
}

const Json::Array& Json::items() const {
    static const Array kNone;
    const Array* items = std::get_if<Array>(&value_);
    return items != nullptr ? *items : kNone;
}

const Json::Object& Json::members() const {
    static const Object kNone;
    const Object* members = std::get_if<Object>(&value_);
    return members != nullptr ? *members : kNone;
}

std::size_t Json::size() const { return is_array() ? items().size() : members().size(); }

Json::Array& Json::mutable_items() {
    if (is_null()) value_ = Array();
    CHECK(is_array(), "only an array has items to change");
    return *std::get_if<Array>(&value_);
}

Json::Object& Json::mutable_members() {
    if (is_null()) value_ = Object();
    CHECK(is_object(), "only an object has members to change");
    return *std::get_if<Object>(&value_);
}

Json& Json::set(std::string_view key, Json value) {
    member(key) = std::move(value);
    return *this;
}

Json& Json::append(Json value) {
    mutable_items().push_back(std::move(value));
    return *this;
}

Json& Json::member(std::string_view key) {
    Object& members = mutable_members();
    for (Member& member : members) {
        if (member.key == key) return member.value;
    }
    return members.emplace_back(Member{std::string(key), Json()}).value;
}

Json& Json::remove(std::string_view key) {
    std::erase_if(mutable_members(), [&](const Member& member) { return member.key == key; });
    return *this;
}

std::string Json::dump() const {
    std::string out;
    dump_to(out);
    return out;
}

void Json::dump_to(std::string& out) const {
    if (is_array()) {
        out += '[';
        bool first = true;
        for (const Json& item : items()) {
            if (!std::exchange(first, false)) out += ',';
            item.dump_to(out);
        }
        out += ']';
    } else if (is_object()) {
        out += '{';
        bool first = true;
        for (const Member& member : members()) {
            if (!std::exchange(first, false)) out += ',';
            write_string(out, member.key);
            out += ':';
            member.value.dump_to(out);
        }
        out += '}';
    } else {
        write_scalar(out, *this);
    }
}

std::string Json::pretty() const {
    std::string out;
    write_pretty(out, *this, 0);
    return out;
}

std::string Json::to_yaml() const {
    std::string out;
    write_yaml(out, *this, 0, true);
    return out;
}

bool Json::operator==(const Json& other) const { return value_ == other.value_; }

std::string pretty_json(std::string_view text) {
    const auto value = parse_json(text);
    return value ? value->pretty() : std::string(text);
}

std::string json_to_yaml(std::string_view text) {
    const auto value = parse_json(text);
    return value ? value->to_yaml() : std::string(text);
}

}  // namespace lavant::wire
