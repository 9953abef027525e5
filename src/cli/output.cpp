#include "cli/output.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"

namespace lavant::cli {
namespace {

using wire::Json;

// As az writes it: a list inside a row is its length, an object nothing, null None.
std::string tsv_cell(const Json& value) {
    if (value.is_array()) return std::to_string(value.size());
    if (value.is_object()) return {};
    if (value.is_null()) return "None";
    if (value.is_boolean()) return value.boolean() ? "True" : "False";
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
        cells.push_back(value.is_boolean() ? value.scalar_text() : tsv_cell(value));
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

// What a query found, in columns: the keys of objects, or the places of lists.
std::vector<std::pair<std::string, std::string>> cells_of(const Json& row) {
    std::vector<std::pair<std::string, std::string>> cells;
    const auto add = [&cells](std::string title, const Json& value) {
        if (value.is_array() || value.is_object()) return;
        cells.emplace_back(std::move(title), value.is_null() ? "" : printable(value.scalar_text()));
    };
    if (row.is_object()) {
        for (const auto& [key, value] : row.members()) add(key, value);
    } else if (row.is_array()) {
        for (std::size_t i = 0; i < row.items().size(); ++i)
            add("Column" + std::to_string(i + 1), row.items()[i]);
    } else {
        add("Result", row);
    }
    return cells;
}

std::string to_table(const Json& found, int width) {
    if (!found.is_array() && !found.is_object()) return printable(found.scalar_text()) + "\n";
    const Json::Array items = found.is_array() ? found.items() : Json::Array{found};
    std::vector<Column> columns;
    for (const Json& item : items) {
        for (const auto& [title, text] : cells_of(item)) {
            const bool known =
                std::ranges::any_of(columns, [&](const Column& one) { return one.title == title; });
            if (!known) columns.push_back({title, Cut::First});
        }
    }
    if (columns.empty()) return {};
    std::vector<std::vector<std::string>> rows;
    for (const Json& item : items) {
        const auto cells = cells_of(item);
        std::vector<std::string>& row = rows.emplace_back();
        for (const Column& column : columns) {
            const auto cell =
                std::ranges::find(cells, column.title, &std::pair<std::string, std::string>::first);
            row.push_back(cell == cells.end() ? "" : cell->second);
        }
    }
    return render_table(columns, rows, width);
}

// Colours as on a terminal: keys, then the rest of the line.
std::string coloured(const std::string& json, const Console& console) {
    std::string out;
    for (const std::string_view line : split(json, '\n')) {
        const std::size_t quote = line.find('"');
        const std::size_t colon = line.find("\": ");
        if (quote != std::string_view::npos && colon != std::string_view::npos && colon > quote) {
            out += line.substr(0, quote);
            out += console.painted(line.substr(quote, colon + 1 - quote), Colour::Blue);
            out += line.substr(colon + 1);
        } else {
            out += line;
        }
        out += '\n';
    }
    return out;
}

}  // namespace

Outcome<void> print(const Json& document, const Output& output, const Console& console,
                    const std::function<std::string()>& as_table) {
    Json found;
    if (output.query) {
        auto answer = wire::evaluate(*output.query, document);
        if (!answer)
            return tl::make_unexpected(Failure(Exit::Usage, in("--query")(std::move(answer).error())));
        found = std::move(*answer);
        if (found.is_null()) return {};  // As az does: nothing was found, nothing is printed.
    }
    const Json& shown = output.query ? found : document;
    switch (output.format) {
        case Format::Table:
            console.out << (output.query || !as_table ? to_table(shown, console.width) : as_table());
            break;
        case Format::Json:
            console.out << shown.pretty() << "\n";
            break;
        case Format::Jsonc:
            console.out << coloured(shown.pretty(), console);
            break;
        case Format::Yaml:
            console.out << shown.to_yaml();
            break;
        case Format::Tsv:
            console.out << to_tsv(shown);
            break;
        case Format::None:
            break;
    }
    console.out.flush();
    return {};
}

}  // namespace lavant::cli
