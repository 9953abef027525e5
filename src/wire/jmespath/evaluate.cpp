#include <algorithm>

#include "base/check.h"
#include "wire/jmespath.h"
#include "wire/jmespath/ast.h"
#include "wire/jmespath/functions.h"

namespace lavant::wire {
namespace jmespath {
namespace {

Value part(const Value& whole, const Json& inside) { return Value(whole, &inside); }

// Nobody owns it; it outlives the evaluation.
Value borrow(const Json& value) { return Value(std::shared_ptr<void>(), &value); }

Value null_value() {
    static const Json kNull;
    return borrow(kNull);
}

bool is_false(const Json& value) {
    if (value.is_null()) return true;
    if (value.is_boolean()) return !value.boolean();
    if (value.is_string()) return value.text().empty();
    return (value.is_array() || value.is_object()) && value.size() == 0;
}

// Positions of a slice, as Python has them.
std::vector<std::size_t> slice_of(const Node& node, std::size_t size) {
    const auto length = static_cast<std::int64_t>(size);
    const std::int64_t step = node.step.value_or(1);
    const std::int64_t low = step < 0 ? -1 : 0;
    const std::int64_t high = step < 0 ? length - 1 : length;
    const auto place = [&](std::int64_t at) {
        return at < 0 ? std::max(at + length, low) : std::min(at, high);
    };
    const std::int64_t begin = node.begin ? place(*node.begin) : (step < 0 ? high : low);
    const std::int64_t end = node.end ? place(*node.end) : (step < 0 ? low : high);
    std::vector<std::size_t> positions;
    // Counted, not added up: a step near the largest number must not overflow.
    const std::int64_t room = step < 0 ? begin - end : end - begin;
    const std::int64_t stride = step < 0 ? -std::max(step, -length - 1) : std::min(step, length + 1);
    for (std::int64_t gone = 0; gone < room; gone += stride)
        positions.push_back(static_cast<std::size_t>(step < 0 ? begin - gone : begin + gone));
    return positions;
}

class Evaluator {
 public:
    Result<Value> visit(const Node& node, const Value& current) {
        LAVANT_TRY_VOID(spend(1, node.column));
        switch (node.kind) {
            case Kind::Current:
                return current;
            case Kind::Field: {
                const Json* found = current->find(node.name);
                return found != nullptr ? part(current, *found) : null_value();
            }
            case Kind::Literal:
                return borrow(node.value);
            case Kind::Index:
                return index(*node.begin, current);
            case Kind::Slice:
                return slice(node, current);
            case Kind::Chain: {
                LAVANT_TRY(const Value left, visit(node.children[0], current));
                return visit(node.children[1], left);
            }
            case Kind::ListProjection:
                return list_projection(node, current);
            case Kind::ObjectProjection:
                return object_projection(node, current);
            case Kind::FilterProjection:
                return filter_projection(node, current);
            case Kind::Flatten:
                return flatten(node, current);
            case Kind::Or:
            case Kind::And: {
                LAVANT_TRY(Value left, visit(node.children[0], current));
                if (is_false(*left) == (node.kind == Kind::And)) return left;
                return visit(node.children[1], current);
            }
            case Kind::Not: {
                LAVANT_TRY(const Value operand, visit(node.children[0], current));
                return own(Json(is_false(*operand)));
            }
            case Kind::Compare:
                return compare(node, current);
            case Kind::SelectList:
                return select_list(node, current);
            case Kind::SelectHash:
                return select_hash(node, current);
            case Kind::Call:
                return call_function(node, current);
            case Kind::Reference:
                break;
        }
        CHECK(false, "the parser puts a reference only where call_function looks");
        return null_value();
    }

 private:
    Result<void> spend(std::size_t steps, std::size_t column) {
        if (steps > left_)
            return fail(ErrorCode::ResourceExhausted,
                        "the query, column " + std::to_string(column) + ": it takes more than " +
                            std::to_string(kQuerySteps) + " steps on this document; ask for less of it");
        left_ -= steps;
        return {};
    }

    Result<void> keep(Json::Array& items, const Json& value, std::size_t column) {
        LAVANT_TRY_VOID(spend(weight(value), column));
        items.push_back(value);
        return {};
    }

    static Value index(std::int64_t at, const Value& current) {
        const auto size = static_cast<std::int64_t>(current->items().size());
        if (at < 0) at += size;
        if (at < 0 || at >= size) return null_value();
        return part(current, current->items()[static_cast<std::size_t>(at)]);
    }

    Result<Value> slice(const Node& node, const Value& current) {
        if (!current->is_array()) return null_value();
        Json::Array items;
        for (std::size_t at : slice_of(node, current->items().size()))
            LAVANT_TRY_VOID(keep(items, current->items()[at], node.column));
        return own(Json(std::move(items)));
    }

    // What the right side makes of one value; nulls are left out.
    Result<void> project(const Node& right, const Value& base, const Json& value, Json::Array& items) {
        LAVANT_TRY(const Value made, visit(right, part(base, value)));
        if (made->is_null()) return {};
        return keep(items, *made, right.column);
    }

    Result<Value> list_projection(const Node& node, const Value& current) {
        LAVANT_TRY(const Value base, visit(node.children[0], current));
        if (!base->is_array()) return null_value();
        Json::Array items;
        for (const Json& item : base->items()) LAVANT_TRY_VOID(project(node.children[1], base, item, items));
        return own(Json(std::move(items)));
    }

    Result<Value> object_projection(const Node& node, const Value& current) {
        LAVANT_TRY(const Value base, visit(node.children[0], current));
        if (!base->is_object()) return null_value();
        Json::Array items;
        for (const Json::Member& member : base->members())
            LAVANT_TRY_VOID(project(node.children[1], base, member.value, items));
        return own(Json(std::move(items)));
    }

    Result<Value> filter_projection(const Node& node, const Value& current) {
        LAVANT_TRY(const Value base, visit(node.children[0], current));
        if (!base->is_array()) return null_value();
        Json::Array items;
        for (const Json& item : base->items()) {
            LAVANT_TRY(const Value holds, visit(node.children[2], part(base, item)));
            if (is_false(*holds)) continue;
            LAVANT_TRY_VOID(project(node.children[1], base, item, items));
        }
        return own(Json(std::move(items)));
    }

    Result<Value> flatten(const Node& node, const Value& current) {
        LAVANT_TRY(const Value base, visit(node.children[0], current));
        if (!base->is_array()) return null_value();
        Json::Array items;
        for (const Json& item : base->items()) {
            if (!item.is_array()) LAVANT_TRY_VOID(keep(items, item, node.column));
            for (const Json& inner : item.items()) LAVANT_TRY_VOID(keep(items, inner, node.column));
        }
        return own(Json(std::move(items)));
    }

    // Order is for numbers and for strings; of anything else it is null.
    Result<Value> compare(const Node& node, const Value& current) {
        LAVANT_TRY(const Value left, visit(node.children[0], current));
        LAVANT_TRY(const Value right, visit(node.children[1], current));
        if (node.name == "==") return own(Json(equal(*left, *right)));
        if (node.name == "!=") return own(Json(!equal(*left, *right)));
        const bool ordered =
            (left->is_number() && right->is_number()) || (left->is_string() && right->is_string());
        if (!ordered) return null_value();
        if (node.name == "<") return own(Json(less(*left, *right)));
        if (node.name == ">") return own(Json(less(*right, *left)));
        if (node.name == "<=") return own(Json(!less(*right, *left)));
        return own(Json(!less(*left, *right)));
    }

    Result<Value> select_list(const Node& node, const Value& current) {
        if (current->is_null()) return null_value();
        Json::Array items;
        for (const Node& child : node.children) {
            LAVANT_TRY(const Value made, visit(child, current));
            LAVANT_TRY_VOID(keep(items, *made, child.column));
        }
        return own(Json(std::move(items)));
    }

    Result<Value> select_hash(const Node& node, const Value& current) {
        if (current->is_null()) return null_value();
        Json object = Json::object();
        for (std::size_t i = 0; i < node.children.size(); ++i) {
            LAVANT_TRY(const Value made, visit(node.children[i], current));
            LAVANT_TRY_VOID(spend(weight(*made), node.children[i].column));
            object.set(node.keys[i], *made);
        }
        return own(std::move(object));
    }

    Result<Value> call_function(const Node& node, const Value& current) {
        std::vector<Argument> arguments;
        for (const Node& child : node.children) {
            if (child.kind == Kind::Reference) {
                arguments.push_back({nullptr, &child.children.front()});
                continue;
            }
            LAVANT_TRY(Value value, visit(child, current));
            arguments.push_back({std::move(value), nullptr});
        }
        const Caller caller{
            .name = node.name,
            .column = node.column,
            .evaluate = [&](const Node& expression, const Json& at) { return visit(expression, borrow(at)); },
            .spend = [&](std::size_t steps) { return spend(steps, node.column); },
        };
        return call(*node.function, arguments, caller);
    }

    std::size_t left_ = kQuerySteps;
};

}  // namespace
}  // namespace jmespath

Result<Json> evaluate(const Query& query, const Json& document) {
    LAVANT_TRY(const jmespath::Value value,
               jmespath::Evaluator().visit(query.root(), jmespath::borrow(document)));
    return *value;
}

}  // namespace lavant::wire
