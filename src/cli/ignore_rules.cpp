#include "cli/ignore_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"

namespace lavant::cli {
namespace {

bool is_space(char32_t c) {  // what Python's str.strip() removes
    return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
           c == 0x3000;
}

std::u32string stripped(std::u32string_view line) {
    while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
    while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
    return std::u32string(line);
}

std::vector<std::u32string> split_segments(std::u32string_view pattern) {
    std::vector<std::u32string> segments(1);
    for (const char32_t c : pattern) {
        if (c == U'/') {
            segments.emplace_back();
        } else {
            segments.back() += c;
        }
    }
    return segments;
}

// A set of positions in the path: where the tokens so far can have ended.
using Positions = std::vector<char>;

}  // namespace

std::u32string to_code_points(std::string_view text) {
    std::u32string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const auto first = static_cast<unsigned char>(text[at]);
        const std::size_t length = first < 0x80    ? 1
                                   : first >= 0xf0 ? 4
                                   : first >= 0xe0 ? 3
                                   : first >= 0xc2 ? 2
                                                   : 0;
        char32_t point = length == 1 ? first : first & (0x7fU >> length);
        bool good = length > 0 && at + length <= text.size();
        for (std::size_t i = 1; good && i < length; ++i) {
            const auto next = static_cast<unsigned char>(text[at + i]);
            good = (next & 0xc0) == 0x80;
            point = (point << 6) | (next & 0x3f);
        }
        if (!good) {
            out += static_cast<char32_t>(0xdc00 + first);
            at += 1;
            continue;
        }
        out += point;
        at += length;
    }
    return out;
}

Result<IgnoreRules> IgnoreRules::parse(std::string_view text) {
    if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
    IgnoreRules rules;
    int line_number = 0;
    while (!text.empty()) {
        ++line_number;
        const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
        const std::string_view line = text.substr(0, end);
        const bool pair = text.substr(end, 2) == "\r\n";
        text.remove_prefix(std::min(text.size(), end + (pair ? 2 : 1)));

        std::u32string pattern = stripped(to_code_points(line));
        if (pattern.empty() || pattern.front() == U'#' || pattern == U"/") continue;
        auto rule = parse_rule(std::move(pattern));
        if (!rule) {
            return fail(ErrorCode::InvalidArgument, "line " + std::to_string(line_number) + ", '" +
                                                        std::string(trim(line)) +
                                                        "': " + rule.error().message);
        }
        rules.rules_.push_back(std::move(*rule));
    }
    return rules;
}

Result<IgnoreRules::Rule> IgnoreRules::parse_rule(std::u32string pattern) {
    Rule rule;
    if (pattern.front() == U'!') {
        rule.exclude = false;
        pattern.erase(0, 1);
    }
    std::vector<std::u32string> segments = split_segments(pattern);
    const auto twice = [](const std::u32string& a, const std::u32string& b) {
        return a == U"**" && b == U"**";
    };
    segments.erase(std::unique(segments.begin(), segments.end(), twice), segments.end());

    using Kind = Token::Kind;
    if (segments.size() == 2 && segments[0] == U"**" && segments[1].empty()) {
        // "**/": everything that lies in some folder.
        rule.tokens = {{Kind::LeadingFolders}, {Kind::OneInName}, {Kind::ManyInName}, {Kind::SlashAndAll}};
        return rule;
    }
    if (segments.front().empty()) {
        segments.erase(segments.begin());  // "/x" is anchored at the root.
    } else if (segments.size() == 1 || (segments.size() == 2 && segments[1].empty())) {
        if (segments.front() != U"**")
            segments.insert(segments.begin(), U"**");  // A single name matches at any depth.
    }
    if (segments.empty())
        return fail(ErrorCode::InvalidArgument, "the pattern is empty; write a name or remove the line");
    if (segments.back().empty() && segments.size() > 1) segments.back() = U"**";

    bool need_slash = false;
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool last = i + 1 == segments.size();
        if (segments[i] == U"**") {
            const Kind kind = i == 0 && last ? Kind::All
                              : i == 0       ? Kind::LeadingFolders
                              : last         ? Kind::SlashAndAll
                                             : Kind::InnerFolders;
            rule.tokens.push_back({kind});
            need_slash = i != 0;
            continue;
        }
        if (need_slash) rule.tokens.push_back({Kind::Char, U'/'});
        need_slash = true;
        if (segments[i] == U"*") {
            rule.tokens.push_back({Kind::OneInName});
            rule.tokens.push_back({Kind::ManyInName});
        } else {
            LAVANT_TRY_VOID(add_segment(segments[i], rule.tokens));
        }
        if (last) rule.tokens.push_back({Kind::OptionalTail});
    }
    return rule;
}

Result<void> IgnoreRules::add_segment(std::u32string_view segment, std::vector<Token>& tokens) {
    using Kind = Token::Kind;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        const char32_t c = segment[i];
        if (c == U'\\') {
            if (++i == segment.size()) {
                return fail(ErrorCode::InvalidArgument,
                            "a backslash stands at the end; remove it or write what it escapes");
            }
            tokens.push_back({Kind::Char, segment[i]});
        } else if (c == U'*') {
            tokens.push_back({Kind::ManyInName});
        } else if (c == U'?') {
            tokens.push_back({Kind::OneInName});
        } else if (c == U'[') {
            LAVANT_TRY(const std::size_t after, add_class(segment, i + 1, tokens));
            i = after - 1;
        } else {
            tokens.push_back({Kind::Char, c});
        }
    }
    return {};
}

// Reads a bracket expression whose '[' stands before `at`; returns the index after it.
Result<std::size_t> IgnoreRules::add_class(std::u32string_view segment, std::size_t at,
                                           std::vector<Token>& tokens) {
    std::size_t close = at;
    if (close < segment.size() && segment[close] == U'!') ++close;
    if (close < segment.size() && segment[close] == U']') ++close;
    while (close < segment.size() && segment[close] != U']') ++close;
    if (close >= segment.size()) {  // Never closed: an ordinary bracket.
        tokens.push_back({Token::Kind::Char, U'['});
        return at;
    }
    Token token{Token::Kind::Class};
    std::size_t i = at;
    if (segment[i] == U'!') {
        token.negated = true;
        ++i;
    }
    while (i < close) {
        const char32_t low = segment[i++];
        char32_t high = low;
        if (i + 1 < close && segment[i] == U'-') {
            high = segment[i + 1];
            i += 2;
        }
        if (high < low)
            return fail(ErrorCode::InvalidArgument, "a range in brackets runs backwards; swap its ends");
        token.ranges.emplace_back(low, high);
    }
    tokens.push_back(std::move(token));
    return close + 1;
}

bool IgnoreRules::matches(const Rule& rule, std::u32string_view path) {
    using Kind = Token::Kind;
    const std::size_t n = path.size();
    Positions now(n + 1, 0);
    now[0] = 1;
    for (const Token& token : rule.tokens) {
        Positions next(n + 1, 0);
        bool open = false;  // Some start position lies before i, and nothing that stops the token in between.
        std::optional<std::size_t> earliest;
        for (std::size_t i = 0; i <= n; ++i) {
            if (now[i] && !earliest) earliest = i;
            switch (token.kind) {
                case Kind::Char:
                    if (now[i] && i < n && path[i] == token.character) next[i + 1] = 1;
                    break;
                case Kind::OneInName:
                    if (now[i] && i < n && path[i] != U'/') next[i + 1] = 1;
                    break;
                case Kind::ManyInName:
                    open = now[i] || (open && path[i - 1] != U'/');
                    next[i] = open;
                    break;
                case Kind::Class:
                    if (now[i] && i < n) {
                        const bool in =
                            std::any_of(token.ranges.begin(), token.ranges.end(), [&](const auto& range) {
                                return path[i] >= range.first && path[i] <= range.second;
                            });
                        if (in != token.negated) next[i + 1] = 1;
                    }
                    break;
                case Kind::LeadingFolders:  // nothing, or at least one character and a slash
                    next[i] = now[i] || (earliest && i >= *earliest + 2 && path[i - 1] == U'/');
                    break;
                case Kind::InnerFolders:  // nothing, or a slash and at least one character
                    open = open || (i >= 2 && now[i - 2] && path[i - 2] == U'/');
                    next[i] = now[i] || open;
                    break;
                case Kind::SlashAndAll:
                    open = open || (i >= 1 && now[i - 1] && path[i - 1] == U'/');
                    next[i] = open;
                    break;
                case Kind::OptionalTail:
                    open = open || (i >= 1 && now[i - 1] && path[i - 1] == U'/');
                    next[i] = now[i] || open;
                    break;
                case Kind::All:
                    next[i] = earliest && i > *earliest;
                    break;
            }
        }
        now = std::move(next);
    }
    return now[n];
}

bool IgnoreRules::excludes(std::string_view path) const {
    if (rules_.empty()) return false;
    const std::u32string points = to_code_points(path);
    for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
        if (matches(*rule, points)) return rule->exclude;
    }
    return false;
}

}  // namespace lavant::cli
