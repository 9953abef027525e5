// Any bytes as a query on a small document: reading and evaluating end, with a value or a sentence.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/jmespath.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace lavant;
    static const wire::Json kDocument =
        wire::parse_json(R"({"a":[{"b":1,"c":"x"},{"b":2.5,"c":"y","d":[[1,2],[3]]},null,true],"s":"text"})")
            .value();
    const auto query = wire::parse_query({reinterpret_cast<const char*>(bytes), size});
    if (!query) {
        CHECK(!query.error().message.empty(), "an error says what is wrong");
        return 0;
    }
    const auto value = wire::evaluate(*query, kDocument);
    if (value) static_cast<void>(value->dump());
    return 0;
}
