#pragma once
// JSON values for every room: an own type, so that the library's DOM stays in json.cpp. Members keep the
// order they were written in. Reading is total: what is absent or of another type reads as null or as the
// given default. Objects are small vectors; this is not for tables of a million keys.

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace lavant::wire {

class Json {
 public:
    struct Member;
    using Array = std::vector<Json>;
    using Object = std::vector<Member>;

    Json();
    Json(std::nullptr_t);
    template <std::same_as<bool> T>
    Json(T value);
    template <std::integral T>
        requires(!std::same_as<T, bool> && !std::same_as<T, char>)
    Json(T value);
    Json(double value);
    Json(std::string value);
    Json(std::string_view value);
    Json(const char* value);
    Json(Array items);
    Json(Object members);
    Json(const Json& other);
    Json(Json&& other) noexcept;
    Json& operator=(const Json& other);
    Json& operator=(Json&& other) noexcept;
    ~Json();

    // Json::object({{"name", name}, {"count", 3}}).
    static Json object(std::initializer_list<Member> members = {});
    static Json array(std::initializer_list<Json> items = {});

    bool is_null() const { return value_.index() == 0; }
    bool is_boolean() const { return std::holds_alternative<bool>(value_); }
    bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
    bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
    bool is_string() const { return std::holds_alternative<std::string>(value_); }
    bool is_array() const { return std::holds_alternative<Array>(value_); }
    bool is_object() const { return std::holds_alternative<Object>(value_); }
    std::string_view type_name()
        const;  // "null", "boolean", "integer", "number", "string", "array", "object"

    bool boolean(bool otherwise = false) const;
    std::int64_t integer(std::int64_t otherwise = 0) const;  // a float with an integral value counts
    double number(double otherwise = 0) const;
    std::string string(std::string_view otherwise = {}) const;
    std::string_view text() const;  // no copy; empty if not a string; lives as long as this value
    // Strings as they are, numbers, booleans and null as JSON text: for maps whose values must become
    // strings.
    std::string scalar_text() const;

    // The member called exactly `key` (dots are ordinary characters), or null.
    const Json& operator[](std::string_view key) const;
    // Follows dots: get("properties.limits.timeout"). Null as soon as something is absent.
    const Json& get(std::string_view path) const;
    const Json* find(std::string_view key) const;  // nullptr if absent
    bool has(std::string_view key) const { return find(key) != nullptr; }
    const Array& items() const;     // empty if not an array
    const Object& members() const;  // empty if not an object
    std::size_t size() const;       // of an array or object, else 0

    // Builders. A null becomes an object or array by the first use; any other type is a broken invariant.
    Json& set(std::string_view key, Json value);  // replaces or appends; returns *this
    Json& append(Json value);                     // returns *this
    Json& member(std::string_view key);           // made as null if absent
    Json& remove(std::string_view key);
    Array& mutable_items();
    Object& mutable_members();

    std::string dump() const;  // compact
    void dump_to(std::string& out) const;
    std::string pretty() const;  // two spaces
    std::string to_yaml() const;

    bool operator==(const Json& other) const;  // member order matters

 private:
    std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
    std::string key;
    Json value;
    bool operator==(const Member&) const = default;
};

// UTF-8, RFC 8259, at most limits::kJsonBytes, limits::kDocumentDepth deep and kJsonValues values. Of a
// repeated key the last value counts.
inline constexpr std::size_t kJsonValues = 400'000;
[[nodiscard]] Result<Json> parse_json(std::string_view text);

// For `-o json|yaml`. Text that is not JSON comes back unchanged.
std::string pretty_json(std::string_view text);
std::string json_to_yaml(std::string_view text);

// --- inline ---

inline Json::Json() : value_(nullptr) {}
inline Json::Json(std::nullptr_t) : value_(nullptr) {}
template <std::same_as<bool> T>
Json::Json(T value) : value_(value) {}
template <std::integral T>
    requires(!std::same_as<T, bool> && !std::same_as<T, char>)
Json::Json(T value) : value_(static_cast<std::int64_t>(value)) {}
inline Json::Json(double value) : value_(value) {}
inline Json::Json(std::string value) : value_(std::move(value)) {}
inline Json::Json(std::string_view value) : value_(std::string(value)) {}
inline Json::Json(const char* value) : value_(std::string(value)) {}
inline Json::Json(Array items) : value_(std::move(items)) {}
inline Json::Json(Object members) : value_(std::move(members)) {}
inline Json::Json(const Json& other) = default;
inline Json::Json(Json&& other) noexcept = default;
inline Json& Json::operator=(const Json& other) = default;
inline Json& Json::operator=(Json&& other) noexcept = default;
inline Json::~Json() = default;

}  // namespace lavant::wire
