// Any bytes as JSON: what is read must survive being written and read again, and print as YAML.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace lavant;
    const auto value = wire::parse_json({reinterpret_cast<const char*>(bytes), size});
    if (!value) return 0;
    const auto again = wire::parse_json(value->dump());
    CHECK(again && *again == *value, "JSON that was read is written as the same value");
    CHECK(wire::parse_json(value->pretty()), "pretty text is JSON");
    static_cast<void>(value->to_yaml());
    return 0;
}
