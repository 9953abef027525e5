#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/error.hpp>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>

#include "base/limits.h"
#include "wire/json.h"

namespace lavant::wire {
namespace {

namespace bj = boost::json;

// Of a repeated key the last value counts, at the first one's place. Sorting first keeps a hostile object
// with hundreds of thousands of keys cheap.
void drop_repeated_keys(Json::Object& members) {
    std::vector<std::size_t> order(members.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return members[a].key < members[b].key; });
    std::vector<bool> repeated(members.size(), false);
    std::size_t first = 0;
    bool any = false;
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (members[order[i]].key != members[order[first]].key) {
            first = i;
            continue;
        }
        members[order[first]].value = std::move(members[order[i]].value);
        repeated[order[i]] = any = true;
    }
    if (!any) return;
    Json::Object kept;
    for (std::size_t i = 0; i < members.size(); ++i) {
        if (!repeated[i]) kept.push_back(std::move(members[i]));
    }
    members = std::move(kept);
}

bool has_repeated_keys(const Json::Object& members) {
    constexpr std::size_t kFew = 24;  // Below it comparing pairs is faster than sorting.
    if (members.size() > kFew) return true;
    for (std::size_t i = 1; i < members.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (members[i].key == members[j].key) return true;
        }
    }
    return false;
}

// Receives the library's parse events and builds our value, without a DOM in between.
class Builder {
 public:
    static constexpr std::size_t max_object_size = kJsonValues;
    static constexpr std::size_t max_array_size = kJsonValues;
    static constexpr std::size_t max_key_size = limits::kJsonBytes;
    static constexpr std::size_t max_string_size = limits::kJsonBytes;

    using Code = boost::system::error_code;

    bool on_document_begin(Code&) { return true; }
    bool on_document_end(Code&) { return true; }
    bool on_object_begin(Code& ec) { return open(Json::object(), ec); }
    bool on_object_end(std::size_t, Code& ec) {
        Json::Object& members = open_.back().value.mutable_members();
        if (has_repeated_keys(members)) drop_repeated_keys(members);
        return close(ec);
    }
    bool on_array_begin(Code& ec) { return open(Json::array(), ec); }
    bool on_array_end(std::size_t, Code& ec) { return close(ec); }
    bool on_key_part(bj::string_view part, std::size_t, Code&) { return gather(part); }
    bool on_key(bj::string_view part, std::size_t, Code&) {
        gather(part);
        key_ = std::exchange(text_, {});
        return true;
    }
    bool on_string_part(bj::string_view part, std::size_t, Code&) { return gather(part); }
    bool on_string(bj::string_view part, std::size_t, Code& ec) {
        gather(part);
        return add(Json(std::exchange(text_, {})), ec);
    }
    bool on_number_part(bj::string_view part, Code&) { return gather(part); }
    bool on_int64(std::int64_t value, bj::string_view, Code& ec) {
        text_.clear();
        return add(Json(value), ec);
    }
    bool on_uint64(std::uint64_t value, bj::string_view, Code& ec) {
        text_.clear();
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return add(Json(static_cast<double>(value)), ec);
        }
        return add(Json(static_cast<std::int64_t>(value)), ec);
    }
    // The library's own conversion is off by a bit now and then; a number must survive being echoed.
    bool on_double(double rough, bj::string_view part, Code& ec) {
        gather(part);
        const std::string digits = std::exchange(text_, {});
        double value = 0;
        const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec;
        if (error == std::errc::result_out_of_range && std::isfinite(rough))
            value = 0;  // too small to tell from zero
        if (error != std::errc{} && !std::isfinite(rough)) {
            ec = bj::error::exponent_overflow;
            return false;
        }
        return add(Json(value), ec);
    }
    bool on_bool(bool value, Code& ec) { return add(Json(value), ec); }
    bool on_null(Code& ec) { return add(Json(), ec); }
    bool on_comment_part(bj::string_view, Code&) { return true; }
    bool on_comment(bj::string_view, Code&) { return true; }

    Json take() { return std::move(root_); }

 private:
    bool gather(bj::string_view part) {
        text_.append(part.data(), part.size());
        return true;
    }
    bool open(Json container, Code& ec) {
        if (++values_ > kJsonValues) return too_many(ec);
        open_.push_back({std::exchange(key_, {}), std::move(container)});
        return true;
    }
    bool close(Code& ec) {
        Json::Member done = std::move(open_.back());
        open_.pop_back();
        key_ = std::move(done.key);
        --values_;  // Counted when it was opened.
        return add(std::move(done.value), ec);
    }
    bool add(Json value, Code& ec) {
        if (++values_ > kJsonValues) return too_many(ec);
        if (open_.empty()) {
            root_ = std::move(value);
        } else if (open_.back().value.is_array()) {
            open_.back().value.mutable_items().push_back(std::move(value));
        } else {
            open_.back().value.mutable_members().push_back({std::exchange(key_, {}), std::move(value)});
        }
        return true;
    }
    bool too_many(Code& ec) {
        ec = bj::error::array_too_large;
        return false;
    }

    std::vector<Json::Member> open_;
    std::string key_;
    std::string text_;
    std::size_t values_ = 0;
    Json root_;
};

Error malformed(std::string_view text, std::size_t at, const std::string& why) {
    const std::string_view before = text.substr(0, std::min(at, text.size()));
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
    return {
        ErrorCode::InvalidArgument,
        "malformed JSON at line " + std::to_string(line) + " column " + std::to_string(column) + ": " + why,
        {}};
}

}  // namespace

Result<Json> parse_json(std::string_view text) {
    if (text.size() > limits::kJsonBytes) {
        return fail(ErrorCode::ResourceExhausted, "the JSON text has " + std::to_string(text.size()) +
                                                      " bytes, more than the " +
                                                      std::to_string(limits::kJsonBytes) + " allowed");
    }
    try {
        bj::parse_options options;
        options.max_depth = static_cast<std::size_t>(limits::kDocumentDepth);
        bj::basic_parser<Builder> parser(options);
        boost::system::error_code error;
        const std::size_t used = parser.write_some(false, text.data(), text.size(), error);
        if (!error && used < text.size()) error = bj::error::extra_data;
        if (error) return fail(malformed(text, used, error.message()));
        return parser.handler().take();
    } catch (const std::exception& problem) {
        return fail(ErrorCode::InvalidArgument, std::string("cannot read JSON: ") + problem.what());
    }
}

}  // namespace lavant::wire
