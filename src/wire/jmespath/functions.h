#pragma once
// The functions of the language: a table with what each takes, and their bodies.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/jmespath/ast.h"

namespace lavant::wire::jmespath {

// Often a part of a larger value, which it keeps alive.
using Value = std::shared_ptr<const Json>;

Value own(Json value);

// What an argument may be; several may be joined with |.
enum Accepts : unsigned {
    kNumber = 1U << 0U,
    kString = 1U << 1U,
    kBoolean = 1U << 2U,
    kNull = 1U << 3U,
    kArray = 1U << 4U,  // of anything
    kObject = 1U << 5U,
    kNumbers = 1U << 6U,  // an array of numbers
    kStrings = 1U << 7U,  // an array of strings
    kReference = 1U << 8U,
    kAny = kNumber | kString | kBoolean | kNull | kArray | kObject,
};

struct Argument {
    Value value;                      // nullptr for a reference
    const Node* reference = nullptr;  // the expression behind &
};

// What a function needs of the evaluator.
struct Caller {
    std::string_view name;
    std::size_t column = 0;
    std::function<Result<Value>(const Node& expression, const Json& current)> evaluate;
    // Takes part of the budget for steps; fails once it is spent.
    std::function<Result<void>(std::size_t steps)> spend;
};

struct Function {
    std::string_view name;
    std::vector<unsigned> accepts;
    bool takes_more;  // of the last kind
    Result<Value> (*body)(const std::vector<Argument>& arguments, const Caller& caller);
};

const Function* find_function(std::string_view name);
std::vector<std::string> function_names();

// The checks that need the values, then the body.
Result<Value> call(const Function& function, const std::vector<Argument>& arguments, const Caller& caller);

// Of the language, not of C++: 1 and 1.0 are equal, objects in any order.
bool equal(const Json& a, const Json& b);
// How much copying this takes, in steps.
std::size_t weight(const Json& value);
std::string_view type_of(const Json& value);
// Both numbers or both strings.
bool less(const Json& a, const Json& b);

}  // namespace lavant::wire::jmespath
