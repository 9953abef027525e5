#include "cli/output.h"

#include <algorithm>
#include <vector>

namespace lavant::cli {
namespace {

using wire::Json;

// As az writes it: a list inside a row is its length, an object nothing.
std::string tsv_cell(const Json& value) {
    if (value.is_array()) return std::to_string(value.size());
    if (value.is_object() || value.is_null()) return {};
    std::string text = value.scalar_text();
    std::ranges::replace_if(
        text, [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    return text;
}

std::string tsv_row(const Json& value) {
    std::vector<std::string> cells;
    if (value.is_object()) {
        for (const auto& [key, cell] : value.members()) cells.push_back(tsv_cell(cell));
    } else if (value.is_array()) {
        for (const Json& cell : value.items()) cells.push_back(tsv_cell(cell));
    } else {
        cells.push_back(tsv_cell(value));
    }
    std::string row;
    for (std::size_t i = 0; i < cells.size(); ++i) (row += i == 0 ? "" : "\t") += cells[i];
    return row + "\n";
}

std::string to_tsv(const Json& document) {
    if (!document.is_array()) return tsv_row(document);
    std::string out;
    for (const Json& row : document.items()) out += tsv_row(row);
    return out;
}

}  // namespace

Outcome<void> print(const Json& document, const Output& output, const Console& console,
                    const std::function<std::string()>& as_table) {
    switch (output.format) {
        case Format::Table:
            console.out << as_table();
            break;
        case Format::Json:
        case Format::Jsonc:
            console.out << document.pretty() << "\n";
            break;
        case Format::Yaml:
            console.out << document.to_yaml();
            break;
        case Format::Tsv:
            console.out << to_tsv(document);
            break;
        case Format::None:
            break;
    }
    console.out.flush();
    return {};
}

}  // namespace lavant::cli
