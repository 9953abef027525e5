#include "wire/python_yaml.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "wire/yaml.h"

namespace lavant::wire {
namespace {

using spec::Document;

constexpr std::size_t kBestWidth = 80;

// What the text's characters allow it to be written as.
struct Allowed {
    bool plain = true;
    bool single_quoted = true;
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

bool has_indicator(std::string_view text) {
    if (text.starts_with("---") || text.starts_with("...")) return true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        const bool before_blank = i + 1 == text.size() || is_blank(text[i + 1]);
        const bool after_blank = i == 0 || is_blank(text[i - 1]);
        if (i == 0 && std::string_view("#,[]{}&*!|>'\"%@`").find(c) != std::string_view::npos) return true;
        if (i == 0 && (c == '?' || c == '-') && before_blank) return true;
        if (c == ':' && before_blank) return true;
        if (c == '#' && after_blank) return true;
    }
    return false;
}

Allowed analyse(std::string_view text) {
    const bool special =
        std::ranges::any_of(text, [](char c) { return c != '\n' && (c < 0x20 || c > 0x7e); });
    const bool lines = text.find('\n') != std::string_view::npos;
    const bool space_break = text.find(" \n") != std::string_view::npos;
    const bool break_space = text.find("\n ") != std::string_view::npos;
    const bool edges = text.empty() || text.front() == ' ' || text.back() == ' ';
    Allowed allowed;
    allowed.single_quoted = !special && !space_break && !break_space;
    allowed.plain = allowed.single_quoted && !lines && !edges && !has_indicator(text) &&
                    plain_scalar(std::string(text), {}).is_string();
    return allowed;
}

// Code points above ASCII, as escapes.
void escape_rest(std::string& out, std::string_view text, std::size_t& at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    std::uint32_t code = length == 1 ? byte : byte & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length && at + i < text.size(); ++i)
        code = code << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fU);
    at += std::min(length, text.size() - at) - 1;
    out += code <= 0xff     ? fmt::format("\\x{:02X}", code)
           : code <= 0xffff ? fmt::format("\\u{:04X}", code)
                            : fmt::format("\\U{:08X}", code);
}

std::string double_quoted(std::string_view text) {
    constexpr std::pair<char, const char*> kShort[] = {
        {'\0', "\\0"}, {'\a', "\\a"}, {'\b', "\\b"},   {'\t', "\\t"}, {'\n', "\\n"}, {'\v', "\\v"},
        {'\f', "\\f"}, {'\r', "\\r"}, {'\x1b', "\\e"}, {'"', "\\\""}, {'\\', "\\\\"}};
    std::string out = "\"";
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto* found = std::ranges::find(kShort, text[at], &std::pair<char, const char*>::first);
        if (found != std::end(kShort)) {
            out += found->second;
        } else if (text[at] >= 0x20 && text[at] <= 0x7e) {
            out += text[at];
        } else {
            escape_rest(out, text, at);
        }
    }
    return out + "\"";
}

class Writer {
 public:
    std::string take() { return std::move(out_); }

    // The value of a key (`after_key`) or of a list's dash; `indent` is that of the collection it stands in.
    void write(const Document& value, std::size_t indent, bool after_key) {
        if (value.is_map() && !value.entries.empty()) return write_map(value, indent, after_key);
        if (value.is_list() && !value.items.empty()) return write_list(value, indent, after_key);
        if (after_key) out_ += ' ';
        if (value.is_map() || value.is_list()) {
            out_ += value.is_map() ? "{}" : "[]";
        } else {
            write_scalar(value, indent + 2);
        }
        out_ += '\n';
    }

    void write_map(const Document& map, std::size_t indent, bool after_key) {
        std::vector<const Document::Entry*> entries;
        for (const Document::Entry& entry : map.entries) entries.push_back(&entry);
        std::ranges::sort(entries, {},
                          [](const Document::Entry* entry) { return std::string_view(entry->key); });
        const std::size_t own = indent + (after_key || in_list_ ? 2 : 0);
        bool on_line = in_list_ && !after_key;
        if (after_key) out_ += '\n';
        for (const Document::Entry* entry : entries) {
            if (!on_line) out_.append(own, ' ');
            on_line = false;
            write_text(entry->key, own + 2, false);
            out_ += ':';
            in_list_ = false;
            write(entry->value, own, true);
        }
    }

    void write_list(const Document& list, std::size_t indent, bool after_key) {
        // A list that is a key's value stands below the key, not further in.
        const std::size_t own = indent + (in_list_ && !after_key ? 2 : 0);
        bool on_line = in_list_ && !after_key;
        if (after_key) out_ += '\n';
        for (const Document& item : list.items) {
            if (!on_line) out_.append(own, ' ');
            on_line = false;
            out_ += "- ";
            in_list_ = true;
            write(item, own, false);
        }
        in_list_ = false;
    }

 private:
    void write_scalar(const Document& value, std::size_t indent) {
        switch (value.kind) {
            case Document::Kind::Null:
                out_ += "null";
                break;
            case Document::Kind::Boolean:
                out_ += value.boolean ? "true" : "false";
                break;
            case Document::Kind::Integer:
                out_ += value.printed();
                break;
            case Document::Kind::Float:
                write_float(value.number);
                break;
            case Document::Kind::String:
            case Document::Kind::List:
            case Document::Kind::Map:
                write_text(value.text, indent, true);
        }
    }

    void write_float(double number) {
        std::string text = spec::python_float(number);
        if (text == "nan" || text == "inf" || text == "-inf") {
            text.insert(text.starts_with('-') ? 1 : 0, ".");
        } else if (const std::size_t e = text.find('e'); e != std::string::npos && text.find('.') > e) {
            text.insert(e, ".0");
        }
        out_ += text;
    }

    void write_text(std::string_view text, std::size_t indent, bool may_fold) {
        const Allowed allowed = analyse(text);
        if (allowed.plain) return write_words(text, indent, may_fold, false);
        if (!allowed.single_quoted) {
            out_ += double_quoted(text);
            return;
        }
        out_ += '\'';
        write_words(text, indent, may_fold, true);
        out_ += '\'';
    }

    // Long lines go on in the next one, at a single blank.
    void write_words(std::string_view text, std::size_t indent, bool may_fold, bool quoted) {
        for (std::size_t i = 0; i < text.size(); ++i) {
            const char c = text[i];
            if (c == '\n') {
                const std::size_t end = std::min(text.find_first_not_of('\n', i), text.size());
                out_.append(end - i + 1, '\n').append(indent, ' ');
                i = end - 1;
                continue;
            }
            const bool alone =
                c == ' ' && i > 0 && text[i - 1] != ' ' && i + 1 < text.size() && text[i + 1] != ' ';
            if (alone && may_fold && column() > kBestWidth) {
                out_.append(1, '\n').append(indent, ' ');
                continue;
            }
            if (quoted && c == '\'') out_ += '\'';
            out_ += c;
        }
    }

    std::size_t column() const {
        const std::size_t line = out_.rfind('\n');
        return line == std::string::npos ? out_.size() : out_.size() - line - 1;
    }

    std::string out_;
    bool in_list_ = false;  // directly behind a dash
};

}  // namespace

std::string python_yaml(const Document& document) {
    Writer writer;
    writer.write(document, 0, false);
    return writer.take();
}

}  // namespace lavant::wire
