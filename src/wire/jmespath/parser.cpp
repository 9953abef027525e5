#include <algorithm>
#include <array>

#include "base/text.h"
#include "wire/jmespath.h"
#include "wire/jmespath/ast.h"
#include "wire/jmespath/functions.h"
#include "wire/jmespath/lexer.h"

namespace lavant::wire {
namespace jmespath {
namespace {

// How tightly a sign binds to what stands left of it. A projection ends at the first sign below
// kProjectionStop.
constexpr int kProjectionStop = 10;
constexpr int kComparison = 5, kFlatten = 9, kStar = 20, kFilter = 21, kDot = 40, kNot = 45, kBracket = 55;

int binding_of(const Token& token) {
    if (token.kind != TokenKind::Sign) return 0;
    static constexpr std::pair<std::string_view, int> kTable[] = {
        {"|", 1},           {"||", 2},          {"&&", 3},           {"==", kComparison}, {"!=", kComparison},
        {"<", kComparison}, {">", kComparison}, {"<=", kComparison}, {">=", kComparison}, {"[]", kFlatten},
        {"*", kStar},       {"[?", kFilter},    {".", kDot},         {"[", kBracket}};
    for (const auto& [sign, power] : kTable) {
        if (token.text == sign) return power;
    }
    return 0;
}

class Parser {
 public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    Result<Node> run() {
        if (now().kind == TokenKind::End) return fail_at(1, "there is nothing; '@' is the whole document");
        LAVANT_TRY(Node root, expression(0));
        if (now().kind != TokenKind::End) return unexpected("the end");
        return root;
    }

 private:
    const Token& now() const { return tokens_[at_]; }
    const Token& after() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
    Token take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }

    tl::unexpected<Error> unexpected(const std::string& wanted) const {
        if (now().kind == TokenKind::End)
            return fail_at(now().column, "the query ends too early; expected " + wanted);
        const std::string seen = now().kind == TokenKind::Literal ? now().value.dump() : now().text;
        return fail_at(now().column, "expected " + wanted + ", found '" + seen + "'");
    }

    Result<void> expect(std::string_view sign) {
        if (!now().is(sign)) return unexpected("'" + std::string(sign) + "'");
        take();
        return {};
    }

    // Puts the children below the node and watches over the depth, which bounds the evaluator's recursion.
    Result<Node> make(Kind kind, std::size_t column, std::vector<Node> children = {}) const {
        Node node;
        node.kind = kind;
        node.column = column;
        for (const Node& child : children) node.depth = std::max(node.depth, child.depth + 1);
        if (node.depth > kQueryDepth) return too_deep(column);
        node.children = std::move(children);
        return node;
    }

    static tl::unexpected<Error> too_deep(std::size_t column) {
        return fail_at(column, "the query is nested more than " + std::to_string(kQueryDepth) + " deep");
    }

    Result<Node> make(Kind kind, std::size_t column, Node left, Node right) const {
        std::vector<Node> children;
        children.push_back(std::move(left));
        children.push_back(std::move(right));
        return make(kind, column, std::move(children));
    }

    static Node current(std::size_t column) {
        Node node;
        node.column = column;
        return node;
    }

    Result<Node> expression(int binding) {
        if (++nesting_ > kQueryDepth) return too_deep(now().column);
        LAVANT_TRY(Node left, prefix());
        while (binding < binding_of(now())) {
            LAVANT_TRY(left, infix(std::move(left)));
        }
        --nesting_;
        return left;
    }

    Result<Node> prefix() {
        const Token token = now();
        if (token.kind == TokenKind::Name && after().is("(")) return call();
        if (token.kind == TokenKind::Name || token.kind == TokenKind::QuotedName) {
            take();
            if (now().is("(")) return fail_at(token.column, "the name of a function stands without quotes");
            Node node = current(token.column);
            node.kind = Kind::Field;
            node.name = token.text;
            return node;
        }
        if (token.kind == TokenKind::Literal) {
            take();
            Node node = current(token.column);
            node.kind = Kind::Literal;
            node.value = token.value;
            return node;
        }
        if (token.is("@")) return current(take().column);
        if (token.is("*")) return star(current(token.column), kStar);
        if (token.is("[]")) return flatten(current(token.column));
        if (token.is("[?")) return filter(current(token.column));
        if (token.is("[")) return open_bracket();
        if (token.is("{")) return select_hash();
        if (token.is("!")) {
            take();
            LAVANT_TRY(Node operand, expression(kNot));
            return make(Kind::Not, token.column, {std::move(operand)});
        }
        if (token.is("(")) {
            take();
            LAVANT_TRY(Node inner, expression(0));
            LAVANT_TRY_VOID(expect(")"));
            return inner;
        }
        if (token.is("&"))
            return fail_at(token.column, "'&' stands only before an argument, as in sort_by(@, &name)");
        return unexpected("a name, a literal, '@', '*', '[', '{', '!' or '('");
    }

    Result<Node> infix(Node left) {
        const Token token = now();
        if (token.is(".")) return dot(std::move(left));
        if (token.is("[")) return bracket(std::move(left));
        if (token.is("[]")) return flatten(std::move(left));
        if (token.is("[?")) return filter(std::move(left));
        if (token.is("*")) return unexpected("an operator");
        take();
        LAVANT_TRY(Node right, expression(binding_of(token)));
        const Kind kind = token.is("|")    ? Kind::Chain
                          : token.is("||") ? Kind::Or
                          : token.is("&&") ? Kind::And
                                           : Kind::Compare;
        LAVANT_TRY(Node node, make(kind, token.column, std::move(left), std::move(right)));
        node.name = token.text;
        return node;
    }

    Result<Node> dot(Node left) {
        const std::size_t column = take().column;
        if (now().is("*")) return star(std::move(left), kDot);
        LAVANT_TRY(Node right, after_dot(kDot));
        return make(Kind::Chain, column, std::move(left), std::move(right));
    }

    Result<Node> after_dot(int binding) {
        if (now().kind == TokenKind::Name || now().kind == TokenKind::QuotedName || now().is("*"))
            return expression(binding);
        if (now().is("[")) {
            take();
            return select_list();
        }
        if (now().is("{")) return select_hash();
        return unexpected("a name, '*', '[' or '{' behind the dot");
    }

    Result<Node> projection_rhs(int binding) {
        if (binding_of(now()) < kProjectionStop) return current(now().column);
        if (now().is("[") || now().is("[?")) return expression(binding);
        if (now().is(".")) {
            take();
            return after_dot(binding);
        }
        return unexpected("'.', '[' or an operator");
    }

    // Behind a dot the projection takes one step only: `a.*.b.c` is `c` of the list, as every other reader of
    // the language has it.
    Result<Node> star(Node left, int binding) {
        const std::size_t column = take().column;
        LAVANT_TRY(Node right, projection_rhs(binding));
        return make(Kind::ObjectProjection, column, std::move(left), std::move(right));
    }

    Result<Node> flatten(Node left) {
        const std::size_t column = take().column;
        LAVANT_TRY(Node flat, make(Kind::Flatten, column, {std::move(left)}));
        LAVANT_TRY(Node right, projection_rhs(kFlatten));
        return make(Kind::ListProjection, column, std::move(flat), std::move(right));
    }

    Result<Node> filter(Node left) {
        const std::size_t column = take().column;
        LAVANT_TRY(Node condition, expression(0));
        LAVANT_TRY_VOID(expect("]"));
        Node right = current(now().column);
        if (!now().is("[]")) {
            LAVANT_TRY(right, projection_rhs(kFilter));
        }
        std::vector<Node> children;
        children.push_back(std::move(left));
        children.push_back(std::move(right));
        children.push_back(std::move(condition));
        return make(Kind::FilterProjection, column, std::move(children));
    }

    bool at_index() const { return now().kind == TokenKind::Number || now().is(":"); }

    // '[' where no left side stands: an index, a slice, a projection or a list of expressions.
    Result<Node> open_bracket() {
        const std::size_t column = now().column;
        if (after().kind == TokenKind::Number || after().is(":")) return bracket(current(column));
        if (after().is("*") && tokens_[std::min(at_ + 2, tokens_.size() - 1)].is("]"))
            return bracket(current(column));
        take();
        return select_list();
    }

    Result<Node> bracket(Node left) {
        const std::size_t column = take().column;
        if (at_index()) return index(std::move(left), column);
        if (!now().is("*")) return unexpected("a number, ':' or '*' behind '['");
        take();
        LAVANT_TRY_VOID(expect("]"));
        LAVANT_TRY(Node right, projection_rhs(kStar));
        return make(Kind::ListProjection, column, std::move(left), std::move(right));
    }

    Result<Node> index(Node left, std::size_t column) {
        Node node = current(column);
        node.kind = Kind::Index;
        std::array<std::optional<std::int64_t>, 3> parts;
        std::size_t colons = 0;
        while (!now().is("]")) {
            if (now().is(":") && colons < 2) {
                take();
                ++colons;
            } else if (now().kind == TokenKind::Number && !parts.at(colons)) {
                parts.at(colons) = take().number;
            } else {
                return unexpected("']'");
            }
        }
        take();
        std::tie(node.begin, node.end, node.step) = std::tie(parts[0], parts[1], parts[2]);
        if (colons == 0) return make(Kind::Chain, column, std::move(left), std::move(node));
        if (node.step == 0) return fail_at(column, "a slice cannot step by 0");
        node.kind = Kind::Slice;
        LAVANT_TRY(Node slice, make(Kind::Chain, column, std::move(left), std::move(node)));
        LAVANT_TRY(Node right, projection_rhs(kStar));
        return make(Kind::ListProjection, column, std::move(slice), std::move(right));
    }

    Result<Node> select_list() {  // behind '['
        const std::size_t column = now().column;
        std::vector<Node> children;
        while (true) {
            LAVANT_TRY(Node child, expression(0));
            children.push_back(std::move(child));
            if (now().is("]")) break;
            if (!now().is(",")) return unexpected("',' or ']'");
            take();
        }
        take();
        return make(Kind::SelectList, column, std::move(children));
    }

    Result<Node> select_hash() {  // at '{'
        const std::size_t column = take().column;
        std::vector<Node> children;
        std::vector<std::string> keys;
        while (true) {
            if (now().kind != TokenKind::Name && now().kind != TokenKind::QuotedName)
                return unexpected("a name, as in {name: expression}");
            keys.push_back(take().text);
            LAVANT_TRY_VOID(expect(":"));
            LAVANT_TRY(Node child, expression(0));
            children.push_back(std::move(child));
            if (now().is("}")) break;
            if (!now().is(",")) return unexpected("',' or '}'");
            take();
        }
        take();
        LAVANT_TRY(Node node, make(Kind::SelectHash, column, std::move(children)));
        node.keys = std::move(keys);
        return node;
    }

    Result<Node> call() {  // at the name
        const Token name = take();
        take();
        const Function* function = find_function(name.text);
        if (function == nullptr) return unknown_function(name);
        std::vector<Node> arguments;
        while (!now().is(")")) {
            if (!arguments.empty()) {
                if (!now().is(",")) return unexpected("',' or ')'");
                take();
            }
            LAVANT_TRY(Node argument, call_argument(*function, arguments.size()));
            arguments.push_back(std::move(argument));
        }
        take();
        const std::size_t wanted = function->accepts.size();
        if (arguments.size() < wanted || (arguments.size() > wanted && !function->takes_more))
            return fail_at(name.column, name.text + "() takes " + (function->takes_more ? "at least " : "") +
                                            std::to_string(wanted) +
                                            (wanted == 1 ? " argument" : " arguments") + ", here it has " +
                                            std::to_string(arguments.size()));
        LAVANT_TRY(Node node, make(Kind::Call, name.column, std::move(arguments)));
        node.name = name.text;
        node.function = function;
        return node;
    }

    Result<Node> call_argument(const Function& function, std::size_t place) {
        const std::size_t column = now().column;
        const bool is_reference = now().is("&");
        const bool wants_reference =
            place < function.accepts.size() && (function.accepts[place] & kReference) != 0;
        if (is_reference != wants_reference && place < function.accepts.size())
            return fail_at(column, "argument " + std::to_string(place + 1) + " of " +
                                       std::string(function.name) +
                                       (wants_reference ? "() is an expression behind '&', as in &name"
                                                        : "() is a value; leave the '&' out"));
        if (!is_reference) return expression(0);
        take();
        LAVANT_TRY(Node inner, expression(0));
        return make(Kind::Reference, column, {std::move(inner)});
    }

    static tl::unexpected<Error> unknown_function(const Token& name) {
        const auto near = nearest(name.text, function_names());
        std::string known;
        for (const std::string& each : function_names()) known += (known.empty() ? "" : ", ") + each;
        return fail_at(name.column, "there is no function '" + name.text + "'; " +
                                        (near ? "did you mean '" + *near + "'?" : "there are " + known));
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int nesting_ = 0;
};

}  // namespace
}  // namespace jmespath

Result<Query> parse_query(std::string_view text) {
    if (text.size() > kQueryBytes)
        return fail(ErrorCode::InvalidArgument, "the query has " + std::to_string(text.size()) +
                                                    " bytes; at most " + std::to_string(kQueryBytes) +
                                                    " are read");
    LAVANT_TRY(std::vector<jmespath::Token> tokens, jmespath::read_tokens(text));
    LAVANT_TRY(jmespath::Node root, jmespath::Parser(std::move(tokens)).run());
    return Query(std::make_shared<const jmespath::Node>(std::move(root)));
}

}  // namespace lavant::wire
