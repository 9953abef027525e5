#pragma once
// Query text as tokens.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/json.h"

namespace lavant::wire::jmespath {

enum class TokenKind { Name, QuotedName, Number, Literal, Sign, End };

struct Token {
    TokenKind kind = TokenKind::End;
    std::size_t column = 0;
    std::string text;  // a name, or a sign such as "[?"
    std::int64_t number = 0;
    Json value;  // of a literal

    bool is(std::string_view sign) const { return kind == TokenKind::Sign && text == sign; }
};

// The last token is End.
[[nodiscard]] Result<std::vector<Token>> read_tokens(std::string_view text);

}  // namespace lavant::wire::jmespath
