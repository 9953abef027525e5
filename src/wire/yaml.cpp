#include "wire/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_map>

#include "base/limits.h"
#include "base/text.h"

namespace lavant::wire {
namespace {

using spec::Document;
using spec::Position;

Position position_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

std::size_t nodes_in(const Document& document) {
    std::size_t count = 1;
    for (const Document& item : document.items) count += nodes_in(item);
    for (const Document::Entry& entry : document.entries) count += nodes_in(entry.value);
    return count;
}

std::size_t bytes_in(const Document& document) {
    std::size_t count = document.text.size();
    for (const Document& item : document.items) count += bytes_in(item);
    for (const Document::Entry& entry : document.entries) count += entry.key.size() + bytes_in(entry.value);
    return count;
}

// `<<: *base` gives a map the entries of another that it does not have itself.
void merge_into(Document& map) {
    const auto merge = std::find_if(map.entries.begin(), map.entries.end(),
                                    [](const Document::Entry& entry) { return entry.key == "<<"; });
    if (merge == map.entries.end()) return;
    Document from = std::move(merge->value);
    map.entries.erase(merge);
    std::vector<Document> sources;
    if (from.is_list()) {
        sources = std::move(from.items);
    } else {
        sources.push_back(std::move(from));
    }
    std::set<std::string> own;
    for (const Document::Entry& entry : map.entries) own.insert(entry.key);
    for (Document& source : sources) {
        for (Document::Entry& entry : source.entries) {
            if (own.insert(entry.key).second) map.entries.push_back(std::move(entry));
        }
    }
}

// The library takes the end of the file for the end of a quoted text. Here the quote is looked for.
class Lines {
 public:
    explicit Lines(std::string_view text) : text_(text), starts_{0} {
        for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1))
            starts_.push_back(end + 1);
    }
    bool is_unclosed_quote(Position at) const {
        const auto line = static_cast<std::size_t>(at.line - 1);
        if (line >= starts_.size()) return false;
        std::size_t next = starts_[line] + static_cast<std::size_t>(at.column - 1);
        if (next >= text_.size() || (text_[next] != '"' && text_[next] != '\'')) return false;
        const char quote = text_[next];
        for (++next; next < text_.size(); ++next) {
            if (quote == '"' && text_[next] == '\\') {
                ++next;
            } else if (text_[next] == quote) {
                if (quote == '"' || next + 1 >= text_.size() || text_[next + 1] != quote) return false;
                ++next;  // Two single quotes are one in the text.
            }
        }
        return true;
    }

 private:
    std::string_view text_;
    std::vector<std::size_t> starts_;
};

// Builds the document from the library's events. After the first problem it ignores the rest: what follows
// would be guesswork, and the text is short enough to scan to its end.
class Builder : public YAML::EventHandler {
 public:
    explicit Builder(const Lines& lines) : lines_(lines) {}
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Document value;
        value.at = position_of(mark);
        if (count(value.at, 1, 0)) add(std::move(value), anchor);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const Position at = position_of(mark);
        if (!why.empty()) return;  // Before any walk: a hostile file has half a million aliases.
        const auto known = anchors_.find(anchor);
        if (known == anchors_.end()) return stop(at, "an alias stands inside the value it names");
        if (!count(at, nodes_in(known->second), bytes_in(known->second))) return;
        if (open_.size() + depth_of(known->second) > kDepth) return stop(at, too_deep());
        Document copy = known->second;
        add(std::move(copy), 0);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        const Position at = position_of(mark);
        if (!is_tag_fine(at, tag) || !count(at, 1, 0)) return;
        if (tag == "!" && lines_.is_unclosed_quote(at))
            return stop(at, "the quote that opens here is not closed");
        if (expects_key()) return take_key(value, at);
        // The library says "!" of quoted and block scalars: they are strings whatever they look like.
        add(tag == "!" ? Document::string(value, at) : plain_scalar(value, at), anchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, Document::Kind::List);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(mark, tag, anchor, Document::Kind::Map);
    }
    void OnMapEnd() override {
        if (!why.empty()) return;
        merge_into(open_.back().value);
        close();
    }

    std::optional<Document> root;
    std::string why;  // empty: no problem so far
    Position where;

 private:
    const Lines& lines_;
    static constexpr auto kDepth = static_cast<std::size_t>(limits::kDocumentDepth);
    struct Open {
        Document value;
        YAML::anchor_t anchor = 0;
        std::optional<Document::Entry> pending;  // a key whose value comes next
        std::set<std::string> keys;
    };

    static std::string too_deep() {
        return fmt::format("values nest deeper than the {} levels allowed", kDepth);
    }
    static std::size_t depth_of(const Document& document) {
        std::size_t depth = 0;
        for (const Document& item : document.items) depth = std::max(depth, depth_of(item));
        for (const Document::Entry& entry : document.entries) depth = std::max(depth, depth_of(entry.value));
        return depth + 1;
    }
    void stop(Position at, std::string message) {
        if (!why.empty()) return;
        where = at;
        why = std::move(message);
    }
    bool is_tag_fine(Position at, const std::string& tag) {
        if (tag.empty() || tag == "?" || tag == "!") return true;
        stop(at, fmt::format("the tag '{}' is not supported; write the value without it", tag));
        return false;
    }
    // False once something is wrong, now or before.
    bool count(Position at, std::size_t nodes, std::size_t alias_bytes) {
        nodes_ += nodes;
        alias_bytes_ += alias_bytes;
        if (nodes_ > limits::kYamlNodes || alias_bytes_ > limits::kYamlBytes) {
            stop(at, fmt::format("more than the {} values allowed once aliases are expanded",
                                 limits::kYamlNodes));
        }
        return why.empty();
    }
    bool expects_key() const {
        return !open_.empty() && open_.back().value.is_map() && !open_.back().pending;
    }
    void take_key(const std::string& key, Position at) {
        if (!open_.back().keys.insert(key).second) {
            stop(at, fmt::format("the key '{}' stands here a second time; remove one of the two", key));
        }
        open_.back().pending = Document::Entry{key, at, {}};
    }
    void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Document::Kind kind) {
        const Position at = position_of(mark);
        if (!is_tag_fine(at, tag) || !count(at, 1, 0)) return;
        if (expects_key()) return stop(at, "a key must be a plain word, not a list or a mapping");
        if (open_.size() >= kDepth) return stop(at, too_deep());
        Open next;
        next.value.kind = kind;
        next.value.at = at;
        next.anchor = anchor;
        open_.push_back(std::move(next));
    }
    void close() {
        if (!why.empty()) return;
        Open done = std::move(open_.back());
        open_.pop_back();
        add(std::move(done.value), done.anchor);
    }
    void add(Document value, YAML::anchor_t anchor) {
        if (expects_key()) return stop(value.at, "a key must be a plain word, not empty and not an alias");
        if (anchor != 0) anchors_[anchor] = value;
        if (open_.empty()) {
            root = std::move(value);
            return;
        }
        Open& into = open_.back();
        if (into.value.is_list()) {
            into.value.items.push_back(std::move(value));
            return;
        }
        into.pending->value = std::move(value);
        into.value.entries.push_back(std::move(*into.pending));
        into.pending.reset();
    }

    std::vector<Open> open_;
    std::unordered_map<YAML::anchor_t, Document> anchors_;
    std::size_t nodes_ = 0;
    std::size_t alias_bytes_ = 0;
};

Error problem_in(const std::string& file_name, Position at, const std::string& why) {
    Error error{ErrorCode::InvalidArgument, fmt::format("cannot read '{}' as YAML: {}", file_name, why), {}};
    if (at.line > 0) error.message += fmt::format(" (line {}, column {})", at.line, at.column);
    error.fields.push_back({"", why, at.line, at.column});
    return error;
}

// The library stops silently at a NUL, and no other control character means anything in YAML.
std::optional<Position> find_control_character(std::string_view text) {
    Position at{1, 1};
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f) return at;
        at = c == '\n' ? Position{at.line + 1, 1} : Position{at.line, at.column + 1};
    }
    return std::nullopt;
}

// A file of another encoding would come out as other words than its author wrote.
std::optional<Position> find_broken_utf8(std::string_view text) {
    const std::size_t good = valid_utf8_bytes(text);
    if (good == text.size()) return std::nullopt;
    const std::string_view before = text.substr(0, good);
    const std::size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    return Position{static_cast<int>(std::ranges::count(before, '\n')) + 1,
                    static_cast<int>(good - line_start) + 1};
}

// What the library says, for people who do not know how it reads.
std::string in_plain_words(const std::string& said) {
    static const std::pair<std::string_view, const char*> kWords[] = {
        {"illegal map value",
         "a ':' stands where no value can begin; check the indentation here and the quotes above"},
        {"illegal map key", "a key stands where none can be; check the indentation"},
        {"illegal block entry", "a '-' stands where no list item can begin; check the indentation"},
        {"end of map not found",
         "this line does not belong to what stands above it; check its indentation, and that its key ends "
         "with ':'"},
        {"end of map flow not found", "a '{' is not closed by a '}'"},
        {"end of sequence flow not found", "a '[' is not closed by a ']'"},
        {"end of sequence not found",
         "this line does not belong to the list above it; check its indentation"},
        {"illegal flow end", "a '}' or ']' closes nothing"},
        {"illegal tab when looking for indentation", "a tab stands in the indentation; use blanks"},
        {"illegal EOF in scalar", "a quote is not closed"},
        {"illegal character in scalar", "a character stands here that must be in quotes"},
        {"unknown token", "a character stands here that must be in quotes"},
    };
    for (const auto& [theirs, ours] : kWords)
        if (said.starts_with(theirs)) return ours;
    return said;
}

}  // namespace

Result<Document> parse_yaml(std::string_view text, const std::string& file_name) {
    if (text.size() > limits::kYamlBytes) {
        return fail(problem_in(
            file_name, {},
            fmt::format("it has {} bytes, more than the {} allowed", text.size(), limits::kYamlBytes)));
    }
    if (const auto at = find_control_character(text)) {
        return fail(problem_in(file_name, *at, "a control character stands here; is this a text file?"));
    }
    if (const auto at = find_broken_utf8(text)) {
        return fail(problem_in(file_name, *at, "it is not UTF-8 from here on; save it in that encoding"));
    }
    try {
        const Lines lines(text);
        Builder builder(lines);
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        const bool any = parser.HandleNextDocument(builder);
        if (!builder.why.empty()) return fail(problem_in(file_name, builder.where, builder.why));
        if (!any || !builder.root || builder.root->is_null())
            return fail(problem_in(file_name, {}, "it is empty"));
        Builder second(lines);
        if (parser.HandleNextDocument(second)) {
            return fail(problem_in(file_name, second.root ? second.root->at : Position{},
                                   "it holds more than one document; keep one and remove the '---' lines"));
        }
        return std::move(*builder.root);
    } catch (const YAML::Exception& problem) {
        return fail(problem_in(file_name, problem.mark.is_null() ? Position{} : position_of(problem.mark),
                               in_plain_words(problem.msg)));
    } catch (const std::exception& problem) {
        return fail(problem_in(file_name, {}, problem.what()));
    }
}

}  // namespace lavant::wire
