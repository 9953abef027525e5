#include "core/spec/expression.h"

#include "base/text.h"

namespace lavant::spec {
namespace {

constexpr std::string_view kOpen = "${{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kBlockOpen = "$[[";
constexpr std::string_view kBlockClose = "]]";

struct Piece {
    enum class Kind { Text, Reference, Block };
    Kind kind = Kind::Text;
    std::string_view inner;  // the text, the expression, the block's content
};

Reference reference_of(std::string_view expression) {
    expression = trim(expression);
    const std::size_t dot = expression.find('.');
    if (dot == std::string_view::npos) return {std::string(expression), "", false};
    return {std::string(expression.substr(0, dot)), std::string(expression.substr(dot + 1)), false};
}

// Cuts the next piece off `rest`. Brackets that are not closed count as text.
Piece next_piece(std::string_view& rest, bool with_blocks) {
    const std::size_t expression = rest.find(kOpen);
    const std::size_t block = with_blocks ? rest.find(kBlockOpen) : std::string_view::npos;
    const std::size_t begin = std::min(expression, block);
    if (begin == std::string_view::npos) return {Piece::Kind::Text, std::exchange(rest, {})};
    if (begin > 0) {
        const Piece text{Piece::Kind::Text, rest.substr(0, begin)};
        rest.remove_prefix(begin);
        return text;
    }
    const bool is_block = block == 0;
    const std::string_view close = is_block ? kBlockClose : kClose;
    const std::size_t end = rest.find(close, kOpen.size());
    if (end == std::string_view::npos) return {Piece::Kind::Text, std::exchange(rest, {})};
    const Piece piece{is_block ? Piece::Kind::Block : Piece::Kind::Reference,
                      rest.substr(kOpen.size(), end - kOpen.size())};
    rest.remove_prefix(end + close.size());
    return piece;
}

void collect(std::string_view text, bool in_optional, std::vector<Reference>& found) {
    for (std::string_view rest = text; !rest.empty();) {
        const Piece piece = next_piece(rest, !in_optional);
        if (piece.kind == Piece::Kind::Block) collect(piece.inner, true, found);
        if (piece.kind != Piece::Kind::Reference) continue;
        found.push_back(reference_of(piece.inner));
        found.back().in_optional = in_optional;
    }
}

struct Substituted {
    std::string text;
    std::optional<Reference> absent;  // the first one
};

Substituted substitute_references(std::string_view text, bool in_optional, const Lookup& lookup) {
    Substituted out;
    for (std::string_view rest = text; !rest.empty();) {
        const Piece piece = next_piece(rest, !in_optional);
        if (piece.kind == Piece::Kind::Text) {
            out.text += piece.inner;
        } else if (piece.kind == Piece::Kind::Block) {
            Substituted block = substitute_references(piece.inner, true, lookup);
            if (!block.absent) out.text += block.text;
        } else {
            Reference reference = reference_of(piece.inner);
            reference.in_optional = in_optional;
            if (auto value = lookup(reference)) {
                out.text += *value;
            } else if (!out.absent) {
                out.absent = std::move(reference);
            }
        }
    }
    return out;
}

}  // namespace

std::string Reference::written() const { return "${{" + scope + (name.empty() ? "" : "." + name) + "}}"; }

std::vector<Reference> find_references(std::string_view text) {
    std::vector<Reference> found;
    collect(text, false, found);
    return found;
}

std::optional<std::string> find_unclosed(std::string_view text) {
    for (std::string_view rest = text; !rest.empty();) {
        const Piece piece = next_piece(rest, true);
        if (piece.kind == Piece::Kind::Block && piece.inner.rfind(kOpen) != std::string_view::npos &&
            piece.inner.find(kClose, piece.inner.rfind(kOpen)) == std::string_view::npos) {
            return std::string(kOpen);
        }
        if (piece.kind != Piece::Kind::Text) continue;
        if (piece.inner.starts_with(kOpen)) return std::string(kOpen);
        if (piece.inner.starts_with(kBlockOpen)) return std::string(kBlockOpen);
    }
    return std::nullopt;
}

Result<std::string> substitute(std::string_view text, const Lookup& lookup) {
    Substituted out = substitute_references(text, false, lookup);
    if (out.absent) {
        return fail(ErrorCode::InvalidArgument, "there is no value for " + out.absent->written());
    }
    return std::move(out.text);
}

std::string settle_optional_blocks(std::string_view text,
                                   const std::function<bool(const Reference&)>& is_present) {
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
        const char* begin = rest.data();
        const Piece piece = next_piece(rest, true);
        if (piece.kind != Piece::Kind::Block) {
            const char* end = rest.empty() ? text.data() + text.size() : rest.data();
            out.append(begin, end);
            continue;
        }
        std::vector<Reference> inside;
        collect(piece.inner, true, inside);
        bool all = true;
        for (const Reference& reference : inside) all = all && is_present(reference);
        if (all) out += piece.inner;
    }
    return out;
}

}  // namespace lavant::spec
