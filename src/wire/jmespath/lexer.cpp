#include "wire/jmespath/lexer.h"

#include <algorithm>

#include "base/text.h"
#include "wire/jmespath/ast.h"

namespace lavant::wire::jmespath {
namespace {

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Lexer {
 public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Result<std::vector<Token>> run() {
        std::vector<Token> tokens;
        while (true) {
            while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
            if (at_ == text_.size()) break;
            LAVANT_TRY(Token token, next());
            tokens.push_back(std::move(token));
        }
        tokens.push_back(make(TokenKind::End, {}));
        return tokens;
    }

 private:
    Token make(TokenKind kind, std::string text) const {
        Token token;
        token.kind = kind;
        token.column = at_ + 1;
        token.text = std::move(text);
        return token;
    }

    Result<Token> next() {
        const char c = text_[at_];
        if (starts_name(c)) return name();
        if (is_digit(c) || c == '-') return number();
        if (c == '"') return quoted_name();
        if (c == '\'') return raw_string();
        if (c == '`') return literal();
        return sign();
    }

    Result<Token> name() {
        std::size_t end = at_;
        while (end < text_.size() && (starts_name(text_[end]) || is_digit(text_[end]))) ++end;
        Token token = make(TokenKind::Name, std::string(text_.substr(at_, end - at_)));
        at_ = end;
        return token;
    }

    Result<Token> number() {
        std::size_t end = at_ + 1;
        while (end < text_.size() && is_digit(text_[end])) ++end;
        Token token = make(TokenKind::Number, std::string(text_.substr(at_, end - at_)));
        const auto value = parse_integer(token.text);
        if (!value)
            return fail_at(token.column, "'" + token.text + "' is no whole number; write a number that is " +
                                             "compared in backticks, as in `1.5`");
        token.number = *value;
        at_ = end;
        return token;
    }

    // The text up to the next `quote` that no backslash precedes; at_ goes behind it.
    Result<std::string_view> until(char quote, std::string_view what) {
        const std::size_t begin = at_ + 1;
        for (std::size_t end = begin; end < text_.size(); ++end) {
            if (text_[end] == '\\') {
                ++end;
            } else if (text_[end] == quote) {
                at_ = end + 1;
                return text_.substr(begin, end - begin);
            }
        }
        return fail_at(begin, std::string(what) + " that begins here has no end; close it with " + quote);
    }

    Result<Token> quoted_name() {
        Token token = make(TokenKind::QuotedName, {});
        LAVANT_TRY(const std::string_view inside, until('"', "the name"));
        const auto value = parse_json("\"" + std::string(inside) + "\"");
        if (!value) return fail_at(token.column, "the quoted name is no JSON string");
        token.text = value->string();
        return token;
    }

    // Only \' is an escape here; every other backslash stays.
    Result<Token> raw_string() {
        Token token = make(TokenKind::Literal, {});
        LAVANT_TRY(const std::string_view inside, until('\'', "the string"));
        token.value = Json(without_backslash_before(inside, '\''));
        return token;
    }

    // JSON in backticks; as in older versions of the language, what is no JSON is a string.
    Result<Token> literal() {
        Token token = make(TokenKind::Literal, {});
        LAVANT_TRY(const std::string_view inside, until('`', "the literal"));
        const std::string text = without_backslash_before(inside, '`');
        auto value = parse_json(trim(text));
        if (!value)
            value = parse_json("\"" + text.substr(std::min(text.find_first_not_of(" \t\n\r"), text.size())) +
                               "\"");
        if (!value)
            return fail_at(token.column, "the literal is no JSON; write `\"text\"`, `1.5`, `true`, `[1]`");
        token.value = std::move(*value);
        return token;
    }

    static std::string without_backslash_before(std::string_view text, char quote) {
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\\' && i + 1 < text.size()) {
                if (text[i + 1] != quote) out += text[i];
                out += text[++i];
            } else {
                out += text[i];
            }
        }
        return out;
    }

    Result<Token> sign() {
        static constexpr std::string_view kSigns[] = {
            "[]", "[?", "&&", "||", "==", "!=", "<=", ">=", ".", "*", "[", "]",
            "{",  "}",  "(",  ")",  ",",  ":",  "@",  "&",  "|", "!", "<", ">"};
        const std::string_view rest = text_.substr(at_);
        for (std::string_view sign : kSigns) {
            if (!rest.starts_with(sign)) continue;
            Token token = make(TokenKind::Sign, std::string(sign));
            at_ += sign.size();
            return token;
        }
        if (rest.front() == '=') return fail_at(at_ + 1, "'=' is no sign; compare with '=='");
        return fail_at(at_ + 1, json_quote(rest.substr(0, 1)) +
                                    " begins nothing; put names with odd characters in double quotes");
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Result<std::vector<Token>> read_tokens(std::string_view text) { return Lexer(text).run(); }

}  // namespace lavant::wire::jmespath
