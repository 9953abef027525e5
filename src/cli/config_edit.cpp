#include "cli/config_edit.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/console.h"
#include "core/spec/document.h"
#include "wire/yaml.h"

namespace lavant::cli {
namespace {

using spec::Document;

struct Lines {
    std::vector<std::string> all;
    bool ends_with_newline = true;

    explicit Lines(std::string_view text) {
        for (const std::string_view line : split(text, '\n')) all.emplace_back(line);
        ends_with_newline = all.back().empty();
        if (ends_with_newline) all.pop_back();
    }
    std::string joined() const {
        std::string text;
        for (const std::string& line : all) text += line + "\n";
        if (!ends_with_newline && !text.empty()) text.pop_back();
        return text;
    }
};

bool is_blank_or_comment(std::string_view line) {
    const std::string_view words = trim(line);
    return words.empty() || words.starts_with('#') || words == "---";
}

Result<Document> parse(const std::string& text, const std::string& file) {
    const Lines lines(text);
    if (std::ranges::all_of(lines.all, is_blank_or_comment)) return Document::map();
    LAVANT_TRY(Document root, wire::parse_yaml(text, file));
    if (!root.is_map())
        return fail(ErrorCode::InvalidArgument,
                    file + " is not a mapping of keys to values; correct it by hand");
    return root;
}

std::map<std::string, std::string> texts_of(const Document& root) {
    std::map<std::string, std::string> texts;
    for (const Document::Entry& entry : root.entries)
        texts[entry.key] = entry.value.is_scalar() ? entry.value.text : "(not one value)";
    return texts;
}

// As few quotes as YAML lets us: what it would read as another value is quoted.
std::string written(const ConfigKey& key, const std::string& value) {
    if (key.kind == ValueKind::Flag || key.kind == ValueKind::Count) return value;
    const bool plain = std::ranges::all_of(value, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == '.' || c == '/';
    });
    if (plain && !value.starts_with('-') && wire::plain_scalar(value, {}).is_string()) return value;
    return json_quote(value);
}

// Where the value that begins at `from` ends on its line; nothing if it goes on beyond.
std::optional<std::size_t> end_of_value(std::string_view line, std::size_t from) {
    if (from >= line.size()) return line.size();
    const char quote = line[from];
    if (quote != '"' && quote != '\'') {
        std::size_t end = from;
        while (end < line.size() &&
               !(line[end] == '#' && end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t')))
            ++end;
        while (end > from && (line[end - 1] == ' ' || line[end - 1] == '\t' || line[end - 1] == '\r')) --end;
        return end;
    }
    for (std::size_t i = from + 1; i < line.size(); ++i) {
        if (quote == '"' && line[i] == '\\') {
            ++i;
        } else if (line[i] == quote) {
            if (quote == '\'' && i + 1 < line.size() && line[i + 1] == '\'') {
                ++i;
            } else {
                return i + 1;
            }
        }
    }
    return std::nullopt;
}

Error by_hand(const std::string& file, std::string_view key, int line) {
    return {ErrorCode::InvalidArgument,
            fmt::format("cannot change '{}' in {} and leave the rest as it is; edit line {} by hand",
                        printable(key), file, line),
            {}};
}

const Document::Entry* entry_of(const Document& root, std::string_view key) {
    const auto found = std::ranges::find(root.entries, key, &Document::Entry::key);
    return found == root.entries.end() ? nullptr : &*found;
}

// The proof of an edit: read again, the file says what it said before but for this one key.
bool says(const std::string& text, const std::string& file,
          const std::map<std::string, std::string>& wanted) {
    const auto root = parse(text, file);
    return root && texts_of(*root) == wanted;
}

}  // namespace

Result<std::string> with_key(const std::string& text, const std::string& file, const ConfigKey& key,
                             const std::string& value) {
    LAVANT_TRY(const Document root, parse(text, file));
    std::map<std::string, std::string> wanted = texts_of(root);
    wanted[std::string(key.name)] = value;
    Lines lines(text);
    const Document::Entry* entry = entry_of(root, key.name);
    int at = static_cast<int>(lines.all.size()) + 1;
    if (entry == nullptr) {
        lines.all.push_back(fmt::format("{}: {}", key.name, written(key, value)));
        lines.ends_with_newline = true;
    } else {
        at = entry->key_at.line;
        std::string& line = lines.all[static_cast<std::size_t>(at - 1)];
        const std::size_t colon = line.find(':', static_cast<std::size_t>(entry->key_at.column - 1));
        if (colon == std::string::npos) return fail(by_hand(file, key.name, at));
        const bool here = !entry->value.is_null() && entry->value.at.line == at;
        const std::size_t from = here ? static_cast<std::size_t>(entry->value.at.column - 1) : colon + 1;
        const auto end = here ? end_of_value(line, from) : from;
        if (!end) return fail(by_hand(file, key.name, at));
        line = line.substr(0, colon + 1) + " " + written(key, value) + line.substr(*end);
    }
    std::string changed = lines.joined();
    if (!says(changed, file, wanted)) return fail(by_hand(file, key.name, at));
    return changed;
}

Result<std::string> without_key(const std::string& text, const std::string& file, std::string_view key) {
    LAVANT_TRY(const Document root, parse(text, file));
    const Document::Entry* entry = entry_of(root, key);
    if (entry == nullptr)
        return fail(ErrorCode::NotFound, fmt::format("{} does not set '{}'", file, printable(key)));
    std::map<std::string, std::string> wanted = texts_of(root);
    wanted.erase(std::string(key));
    const int at = entry->key_at.line;
    Lines lines(text);
    lines.all.erase(lines.all.begin() + at - 1);
    std::string changed = lines.joined();
    if (!says(changed, file, wanted)) return fail(by_hand(file, key, at));
    return changed;
}

}  // namespace lavant::cli
