// What the language says of values: types, equality, order.

#include <algorithm>

#include "wire/jmespath/functions.h"

namespace lavant::wire::jmespath {

Value own(Json value) { return std::make_shared<const Json>(std::move(value)); }

std::string_view type_of(const Json& value) {
    return value.is_integer() ? std::string_view("number") : value.type_name();
}

bool less(const Json& a, const Json& b) {
    if (a.is_string()) return a.text() < b.text();
    if (a.is_integer() && b.is_integer()) return a.integer() < b.integer();
    return a.number() < b.number();
}

bool equal(const Json& a, const Json& b) {
    if (a.is_number() && b.is_number())
        return a.is_integer() && b.is_integer() ? a.integer() == b.integer() : a.number() == b.number();
    if (a.is_array() && b.is_array()) return std::ranges::equal(a.items(), b.items(), equal);
    if (!a.is_object() || !b.is_object()) return a == b;
    if (a.size() != b.size()) return false;
    // Most often the order is the same; then no look-up is needed.
    for (std::size_t i = 0; i < a.size(); ++i) {
        const Json::Member& mine = a.members()[i];
        const Json::Member& same_place = b.members()[i];
        const Json* other = same_place.key == mine.key ? &same_place.value : b.find(mine.key);
        if (other == nullptr || !equal(mine.value, *other)) return false;
    }
    return true;
}

std::size_t weight(const Json& value) {
    constexpr std::size_t kBytesAStep = 64;
    std::size_t sum = 1 + value.text().size() / kBytesAStep;
    for (const Json& item : value.items()) sum += weight(item);
    for (const Json::Member& member : value.members())
        sum += 1 + member.key.size() / kBytesAStep + weight(member.value);
    return sum;
}

}  // namespace lavant::wire::jmespath
