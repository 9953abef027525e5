// Any bytes as the body of a job's PUT; what is echoed must be taken again.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/arm_job.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace lavant;
    const auto job = wire::parse_arm_job({reinterpret_cast<const char*>(bytes), size});
    if (!job) return 0;
    const auto again = wire::parse_arm_job("{\"properties\":" + job->properties + "}");
    CHECK(again, "a job that was accepted is accepted again from its echo");
    CHECK(again->properties == job->properties, "the echo of an echo is the same");
    return 0;
}
