#include "wire/python_json.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "core/spec/document.h"

namespace lavant::wire {
namespace {

// Text is valid UTF-8 by now: parsers refuse the rest. A broken end reads as far as it goes.
std::uint32_t next_code_point(std::string_view& text) {
    const auto byte = [&text](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = byte(0);
    std::size_t length = 1;
    std::uint32_t code = first;
    if (first >= 0xF0) {
        length = 4;
        code = first & 0x07U;
    } else if (first >= 0xE0) {
        length = 3;
        code = first & 0x0FU;
    } else if (first >= 0xC0) {
        length = 2;
        code = first & 0x1FU;
    }
    for (std::size_t i = 1; i < length; ++i) code = (code << 6U) | (byte(i) & 0x3FU);
    text.remove_prefix(std::min(length, text.size()));
    return code;
}

void add_escape(std::uint32_t unit, std::string& out) {
    char buffer[8];
    std::snprintf(buffer, sizeof buffer, "\\u%04x", unit & 0xFFFFU);
    out += buffer;
}

void add_text(std::string_view text, std::string& out) {
    out += '"';
    while (!text.empty()) {
        const std::uint32_t code = next_code_point(text);
        switch (code) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            case '\b':
                out += "\\b";
                break;
            case '\f':
                out += "\\f";
                break;
            default:
                if (code >= 0x20 && code < 0x7F) {
                    out += static_cast<char>(code);
                } else if (code < 0x10000) {
                    add_escape(code, out);
                } else {
                    add_escape(0xD800U + ((code - 0x10000U) >> 10U), out);
                    add_escape(0xDC00U + ((code - 0x10000U) & 0x3FFU), out);
                }
        }
    }
    out += '"';
}

void add(const Json& value, std::string& out) {
    if (value.is_string()) {
        add_text(value.text(), out);
    } else if (value.is_array()) {
        out += '[';
        for (std::size_t i = 0; i < value.items().size(); ++i) {
            if (i > 0) out += ", ";
            add(value.items()[i], out);
        }
        out += ']';
    } else if (value.is_object()) {
        std::vector<const Json::Member*> members;
        for (const Json::Member& member : value.members()) members.push_back(&member);
        std::ranges::sort(members, {},
                          [](const Json::Member* member) { return std::string_view(member->key); });
        out += '{';
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0) out += ", ";
            add_text(members[i]->key, out);
            out += ": ";
            add(members[i]->value, out);
        }
        out += '}';
    } else if (value.is_number() && !value.is_integer()) {
        out += spec::python_float(value.number());
    } else {
        out += value.dump();
    }
}

}  // namespace

std::string python_json(const Json& value) {
    std::string out;
    add(value, out);
    return out;
}

std::string component_fingerprint_text(const Json& component_spec) {
    Json spec = component_spec;
    for (const char* key : {"name", "version", "id", "_source"}) spec.remove(key);
    return python_json(spec);
}

}  // namespace lavant::wire
