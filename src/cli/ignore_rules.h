#pragma once
// The rules of an .amlignore or .gitignore file, with the meaning that azure-ai-ml gives them: each path is
// matched as a whole, the last matching rule wins, and a folder's exclusion is no more than a prefix match.
// Git itself differs in corners (it never re-includes below an excluded folder); the SDK's hash counts here.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lavant::cli {

class IgnoreRules {
 public:
    IgnoreRules() = default;
    // `text` is the whole file. InvalidArgument names the line that is not a pattern.
    [[nodiscard]] static Result<IgnoreRules> parse(std::string_view text);

    // `path` is relative to the folder of the ignore file, with '/' between names, UTF-8.
    bool excludes(std::string_view path) const;
    bool empty() const { return rules_.empty(); }

 private:
    struct Token {
        enum class Kind {
            Char,
            OneInName,
            ManyInName,
            Class,
            LeadingFolders,
            InnerFolders,
            SlashAndAll,
            OptionalTail,
            All
        };
        Kind kind = Kind::Char;
        char32_t character = 0;
        bool negated = false;                               // Class
        std::vector<std::pair<char32_t, char32_t>> ranges;  // Class
    };
    struct Rule {
        bool exclude = true;
        std::vector<Token> tokens;
    };

    static Result<Rule> parse_rule(std::u32string pattern);
    static Result<void> add_segment(std::u32string_view segment, std::vector<Token>& tokens);
    static Result<std::size_t> add_class(std::u32string_view segment, std::size_t at,
                                         std::vector<Token>& tokens);
    static bool matches(const Rule& rule, std::u32string_view path);

    std::vector<Rule> rules_;
};

// Code points of UTF-8 text; a byte that is not UTF-8 becomes one code point of its own, as Python reads file
// names.
std::u32string to_code_points(std::string_view text);

}  // namespace lavant::cli
