#pragma once
// The compact codec (CBOR, RFC 8949, definite lengths) over described structs: a struct is a map from field
// name to value. Unknown fields are skipped, missing ones keep their default, so both ends may grow apart by
// one release. Fields that hold their default are not written. Decoding is total: bad bytes give an error.

#include <boost/describe.hpp>
#include <boost/mp11.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/limits.h"
#include "base/result.h"

namespace lavant::wire {

class CborWriter {
 public:
    void integer(std::int64_t value);
    void bytes(std::string_view value);
    void text(std::string_view value);
    void array(std::size_t count);
    void map(std::size_t count);
    void boolean(bool value);
    void null();
    std::string take() { return std::move(out_); }

 private:
    void head(unsigned major, std::uint64_t value);
    std::string out_;
};

class CborReader {
 public:
    explicit CborReader(std::string_view input) : rest_(input) {}
    bool failed() const { return failed_; }
    bool at_end() const { return rest_.empty(); }
    std::int64_t integer();
    std::string_view bytes();  // byte or text string
    std::size_t array();
    std::size_t map();
    bool boolean();
    bool take_null();  // true and consumed if the next item is null
    void skip(int depth = 0);
    void fail() { failed_ = true; }

 private:
    struct Head {
        unsigned major = 0;
        std::uint64_t value = 0;
    };
    Head head();
    std::string_view rest_;
    bool failed_ = false;
};

namespace detail {

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {};
template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};
template <class T>
struct is_variant : std::false_type {};
template <class... T>
struct is_variant<std::variant<T...>> : std::true_type {};
template <class T>
struct is_duration : std::false_type {};
template <class Rep, class Period>
struct is_duration<std::chrono::duration<Rep, Period>> : std::true_type {};
template <class T>
struct is_number_id : std::false_type {};
template <class Tag>
struct is_number_id<NumberId<Tag>> : std::true_type {};

template <class T>
using members_of = boost::describe::describe_members<T, boost::describe::mod_public>;

}  // namespace detail

template <class T>
void write_value(CborWriter& out, const T& value);

template <class T>
bool is_default(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        return value == T{};
    } else if constexpr (std::is_same_v<T, std::string> || detail::is_vector<T>::value) {
        return value.empty();
    } else if constexpr (detail::is_optional<T>::value) {
        return !value.has_value();
    } else {
        return false;
    }
}

template <class T>
void write_struct(CborWriter& out, const T& value) {
    std::size_t count = 0;
    static const T kDefaults{};
    auto differs = [&](const auto& member) {
        using Field = std::remove_cvref_t<decltype(value.*member)>;
        if constexpr (std::is_arithmetic_v<Field> || std::is_enum_v<Field> ||
                      std::is_same_v<Field, std::string> || detail::is_duration<Field>::value) {
            return !(value.*member == kDefaults.*member);
        } else {
            return !is_default(value.*member);
        }
    };
    boost::mp11::mp_for_each<detail::members_of<T>>([&](auto d) { count += differs(d.pointer) ? 1U : 0U; });
    out.map(count);
    boost::mp11::mp_for_each<detail::members_of<T>>([&](auto d) {
        if (!differs(d.pointer)) return;
        out.text(d.name);
        write_value(out, value.*d.pointer);
    });
}

template <class T>
void write_value(CborWriter& out, const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        out.boolean(value);
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        out.integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::is_same_v<T, std::string>) {
        out.bytes(value);
    } else if constexpr (detail::is_duration<T>::value) {
        out.integer(value.count());
    } else if constexpr (detail::is_number_id<T>::value) {
        out.integer(value.value);
    } else if constexpr (detail::is_optional<T>::value) {
        if (value) {
            write_value(out, *value);
        } else {
            out.null();
        }
    } else if constexpr (detail::is_vector<T>::value) {
        out.array(value.size());
        for (const auto& item : value) write_value(out, item);
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
        out.map(value.size());
        for (const auto& [key, item] : value) {
            out.bytes(key);
            out.bytes(item);
        }
    } else if constexpr (detail::is_variant<T>::value) {
        out.array(2);
        out.integer(static_cast<std::int64_t>(value.index()));
        std::visit([&](const auto& alternative) { write_value(out, alternative); }, value);
    } else {
        write_struct(out, value);
    }
}

template <class T>
void read_value(CborReader& in, T& value);

template <class T>
void read_struct(CborReader& in, T& value) {
    const std::size_t count = in.map();
    for (std::size_t i = 0; i < count && !in.failed(); ++i) {
        const std::string_view name = in.bytes();
        bool known = false;
        boost::mp11::mp_for_each<detail::members_of<T>>([&](auto d) {
            if (known || name != d.name) return;
            known = true;
            read_value(in, value.*d.pointer);
        });
        if (!known) in.skip();
    }
}

template <class... Alternatives>
void read_variant(CborReader& in, std::variant<Alternatives...>& value) {
    if (in.array() != 2) return in.fail();
    const std::int64_t index = in.integer();
    if (index < 0 || index >= static_cast<std::int64_t>(sizeof...(Alternatives))) return in.fail();
    boost::mp11::mp_with_index<sizeof...(Alternatives)>(
        static_cast<std::size_t>(index), [&](auto at) { read_value(in, value.template emplace<at>()); });
}

template <class T>
void read_value(CborReader& in, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
        value = in.boolean();
    } else if constexpr (std::is_integral_v<T>) {
        const std::int64_t number = in.integer();
        value = static_cast<T>(number);
        if (static_cast<std::int64_t>(value) != number) in.fail();
    } else if constexpr (std::is_enum_v<T>) {
        const std::int64_t number = in.integer();
        if (number < 0 || number > 31) return in.fail();
        value = static_cast<T>(number);
    } else if constexpr (std::is_same_v<T, std::string>) {
        value = in.bytes();
    } else if constexpr (detail::is_duration<T>::value) {
        value = T(in.integer());
    } else if constexpr (detail::is_number_id<T>::value) {
        value.value = in.integer();
    } else if constexpr (detail::is_optional<T>::value) {
        if (!in.take_null()) read_value(in, value.emplace());
    } else if constexpr (detail::is_vector<T>::value) {
        const std::size_t count = in.array();
        for (std::size_t i = 0; i < count && !in.failed(); ++i) read_value(in, value.emplace_back());
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
        const std::size_t count = in.map();
        for (std::size_t i = 0; i < count && !in.failed(); ++i) {
            const std::string key(in.bytes());
            value[key] = in.bytes();
        }
    } else if constexpr (detail::is_variant<T>::value) {
        read_variant(in, value);
    } else {
        read_struct(in, value);
    }
}

template <class T>
std::string encode(const T& value) {
    CborWriter out;
    write_value(out, value);
    return out.take();
}

template <class T>
[[nodiscard]] Result<T> decode(std::string_view bytes) {
    CborReader in(bytes);
    T value{};
    read_value(in, value);
    if (in.failed() || !in.at_end()) return lavant::fail(ErrorCode::InvalidArgument, "malformed frame");
    return value;
}

}  // namespace lavant::wire
