#pragma once
// A document a user wrote, as a value: scalars, lists and maps with the line and column of each. It knows no
// file format; wire/yaml.h makes one from YAML. Maps keep the file's order and have no repeated key.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lavant::spec {

// Lines and columns count from 1; 0 means unknown (a value that came from the command line).
struct Position {
    int line = 0;
    int column = 0;
    bool operator==(const Position&) const = default;
};

struct Document {
    enum class Kind { Null, Boolean, Integer, Float, String, List, Map };
    struct Entry;

    Kind kind = Kind::Null;
    Position at;
    std::string text;  // a scalar as written, without its quotes
    bool boolean = false;
    std::int64_t integer = 0;
    double number = 0;  // of Integer too
    std::vector<Document> items;
    std::vector<Entry> entries;

    bool is_null() const { return kind == Kind::Null; }
    bool is_string() const { return kind == Kind::String; }
    bool is_map() const { return kind == Kind::Map; }
    bool is_list() const { return kind == Kind::List; }
    bool is_scalar() const { return !is_map() && !is_list(); }

    const Document* find(std::string_view key) const;  // of a map; nullptr if absent
    // A scalar as Python prints it, which is how literals travel to the server: True, 1000.0, 1e-05.
    std::string printed() const;

    static Document string(std::string text, Position at = {});
    static Document map(Position at = {});
};

struct Document::Entry {
    std::string key;
    Position key_at;
    Document value;
};

std::string_view name_of(Document::Kind kind);  // "a string", "a list", ...: for messages
std::string python_float(double value);         // shortest text that reads back, in Python's spelling

// Puts `value` where the dotted path leads, making maps on the way: the effect of `--set a.b=c`. False when
// the path crosses something that is not a map.
bool set_at(Document& root, std::string_view path, Document value);

}  // namespace lavant::spec
