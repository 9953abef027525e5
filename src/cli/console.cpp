#include "cli/console.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace lavant::cli {
namespace {

constexpr std::size_t kColumnLeast = 6;
constexpr std::size_t kGap = 2;

std::size_t length_of_first(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
    return std::min(length, text.size());
}

// East Asian wide and emoji: two columns. Combining marks: none. The rest: one.
std::size_t width_of_first(std::string_view text) {
    const std::size_t length = length_of_first(text);
    if (length < 2) return 1;
    unsigned point = static_cast<unsigned char>(text[0]) & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i)
        point = (point << 6) | (static_cast<unsigned char>(text[i]) & 0x3fU);
    if ((point >= 0x300 && point < 0x370) || (point >= 0x200b && point <= 0x200f) ||
        (point >= 0xfe00 && point <= 0xfe0f))
        return 0;
    const bool wide = (point >= 0x1100 && point <= 0x115f) || (point >= 0x2e80 && point <= 0xa4cf) ||
                      (point >= 0xac00 && point <= 0xd7a3) || (point >= 0xf900 && point <= 0xfaff) ||
                      (point >= 0xfe30 && point <= 0xfe6f) || (point >= 0xff00 && point <= 0xff60) ||
                      (point >= 0x1f300 && point <= 0x1faff) || (point >= 0x20000 && point <= 0x3fffd);
    return wide ? 2 : 1;
}

// The longest beginning that fits; never less than one character.
std::string_view beginning(std::string_view text, std::size_t columns) {
    std::size_t used = 0;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::string_view rest = text.substr(at);
        const std::size_t width = width_of_first(rest);
        if (at > 0 && used + width > columns) break;
        used += width;
        at += length_of_first(rest);
    }
    return text.substr(0, at);
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        std::string_view line = beginning(text, columns);
        if (line.size() < text.size() && text[line.size()] != ' ') {
            const std::size_t blank = line.rfind(' ');
            if (blank != std::string_view::npos && blank > 0) line = line.substr(0, blank);
        }
        lines.emplace_back(line);
        text.remove_prefix(line.size());
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    }
    if (lines.empty()) lines.emplace_back();
    return lines;
}

// Also the second set of control characters (U+0080 to U+009F), those that turn the direction of writing, and
// bytes that are no UTF-8.
bool steers(std::string_view character) {
    if (character.size() == 1) {
        const auto byte = static_cast<unsigned char>(character[0]);
        return byte < 0x20 || byte >= 0x7f;
    }
    if (character.size() == 2)
        return character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
    if (character.size() != 3 || character[0] != '\xe2') return false;
    const unsigned tail =
        static_cast<unsigned char>(character[1]) * 256U + static_cast<unsigned char>(character[2]);
    return (tail >= 0x80aa && tail <= 0x80ae) || (tail >= 0x81a6 && tail <= 0x81a9);
}

}  // namespace

std::string Console::painted(std::string_view text, Colour colour) const {
    if (!colours || colour == Colour::None) return std::string(text);
    const char* code = "0";
    switch (colour) {
        case Colour::None:
            break;
        case Colour::Green:
            code = "32";
            break;
        case Colour::Red:
            code = "31";
            break;
        case Colour::Yellow:
            code = "33";
            break;
        case Colour::Blue:
            code = "34";
            break;
        case Colour::Dim:
            code = "2";
            break;
    }
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

std::string Console::folded(std::string_view text) const {
    if (!err_is_terminal) return std::string(text);
    std::string lines;
    for (const std::string_view line : split(text, '\n')) {
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size()) + 2;
        const std::size_t room = static_cast<std::size_t>(std::max(width, 40)) - indent;
        bool first = true;
        for (const std::string& piece : wrap(line, room)) {
            if (!lines.empty()) lines += '\n';
            if (!first) lines.append(indent, ' ');
            lines += piece;
            first = false;
        }
    }
    return lines;
}

void Console::note(std::string_view text, Colour colour) const {
    err << painted(folded(text), colour) << "\n";
    err.flush();
}

Colour colour_of_status(std::string_view status) {
    if (status == "Completed") return Colour::Green;
    if (status == "Failed" || status == "NotResponding") return Colour::Red;
    if (status == "Canceled" || status == "CancelRequested") return Colour::Yellow;
    if (status == "Running" || status == "Finalizing") return Colour::Blue;
    return Colour::None;
}

std::size_t columns_of(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        columns += width_of_first(text);
        text.remove_prefix(length_of_first(text));
    }
    return columns;
}

std::string cut_to(std::string_view text, std::size_t columns) {
    if (columns_of(text) <= columns) return std::string(text);
    if (columns <= 1) return "…";
    return std::string(beginning(text, columns - 1)) + "…";
}

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = length_of_first(text);
        const bool whole = valid_utf8_bytes(text.substr(0, length)) == length;
        const std::string_view character = text.substr(0, whole ? length : 1);
        const char first = character.front();
        if (first == '\n' || first == '\t' || first == '\r') {
            out += ' ';
        } else if (!whole || steers(character)) {
            out += '?';
        } else {
            out += character;
        }
        text.remove_prefix(character.size());
    }
    return out;
}

std::string render_table(const std::vector<Column>& columns,
                         const std::vector<std::vector<std::string>>& rows, int width) {
    std::vector<std::size_t> widths;
    for (const Column& column : columns) widths.push_back(columns_of(column.title));
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < columns.size(); ++i) widths[i] = std::max(widths[i], columns_of(row[i]));
    }
    std::size_t total = kGap * (columns.size() - 1);
    for (const std::size_t one : widths) total += one;
    for (const Cut cut : {Cut::First, Cut::Last}) {
        while (total > static_cast<std::size_t>(width)) {
            std::size_t widest = columns.size();
            for (std::size_t i = 0; i < columns.size(); ++i) {
                if (columns[i].cut != cut || widths[i] <= kColumnLeast) continue;
                if (widest == columns.size() || widths[i] > widths[widest]) widest = i;
            }
            if (widest == columns.size()) break;
            --widths[widest];
            --total;
        }
    }
    std::string out;
    const auto add_line = [&](const auto& cell_of) {
        std::string line;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            const std::string cell = cut_to(cell_of(i), widths[i]);
            line += cell;
            if (i + 1 < columns.size())
                line.append(widths[i] - std::min(widths[i], columns_of(cell)) + kGap, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    };
    add_line([&](std::size_t i) -> std::string_view { return columns[i].title; });
    for (const auto& row : rows) add_line([&](std::size_t i) -> std::string_view { return row[i]; });
    return out;
}

std::string render_fields(const std::vector<std::pair<std::string, std::string>>& fields, int width) {
    std::size_t left = 0;
    for (const auto& [key, value] : fields) left = std::max(left, columns_of(key) + kGap);
    const std::size_t right = std::max<std::size_t>(
        static_cast<std::size_t>(width) - std::min(left, static_cast<std::size_t>(width)), 20);
    std::string out;
    for (const auto& [key, value] : fields) {
        std::string head = key + std::string(left - columns_of(key), ' ');
        for (const std::string_view paragraph : split(value, '\n')) {
            for (const std::string& line : wrap(printable(paragraph), right)) {
                out += head + line + "\n";
                head.assign(left, ' ');
            }
        }
    }
    return out;
}

namespace {

// The same for a message of several lines.
std::string printable_lines(std::string_view text) {
    std::string out;
    for (const std::string_view line : split(text, '\n')) (out += out.empty() ? "" : "\n") += printable(line);
    return out;
}

}  // namespace

std::string short_time(std::string_view rfc3339) {
    if (rfc3339.size() < 19) return printable(rfc3339);
    return printable(rfc3339.substr(0, 10)) + " " + printable(rfc3339.substr(11, 8));
}

int report(const Failure& failure, const Console& console) {
    const std::string message = console.folded("lavant: " + printable_lines(failure.error.message));
    console.err << console.painted(message.substr(0, 8), Colour::Red) << message.substr(8) << "\n";
    for (const FieldProblem& problem : failure.error.fields) {
        if (failure.error.message.find(problem.message) != std::string::npos)
            continue;  // It was said already.
        std::string place;
        if (problem.line > 0) place = fmt::format("line {}, column {}: ", problem.line, problem.column);
        if (!problem.path.empty()) place += problem.path + ": ";
        console.err << console.folded("  " + printable(place + problem.message)) << "\n";
    }
    console.err.flush();
    return static_cast<int>(failure.exit);
}

}  // namespace lavant::cli
