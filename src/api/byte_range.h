#pragma once
// Range headers: "bytes=a-b", "bytes=a-" and "bytes=-n". Anything else means the whole.

#include <cstdint>
#include <string>
#include <string_view>

namespace lavant::api {

struct ByteRange {
    enum class Kind { Whole, Part, Impossible };
    Kind kind = Kind::Whole;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;

    std::string content_range(std::uint64_t total) const;  // "bytes 0-9/100"
};

ByteRange resolve_range(std::string_view header, std::uint64_t total);

}  // namespace lavant::api
