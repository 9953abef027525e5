// Any bytes as a compute file and as the body of a compute's PUT. What a file says the server takes; what the
// server keeps reads back as it is, and sent again it changes nothing.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/arm_compute.h"
#include "wire/az_compute.h"
#include "wire/compute_answer.h"
#include "wire/compute_file.h"
#include "wire/compute_to_arm.h"

namespace {

using namespace lavant;

Result<wire::ChosenSize> any_size(const std::string& name) { return wire::ChosenSize{name, ""}; }

Result<wire::ArmCompute> put(const std::string& name, std::string_view body, const wire::Json* stored) {
    return wire::parse_arm_compute({wire::ComputeRequest::Put, name, body, stored, any_size});
}

void check_kept(const std::string& name, const wire::ArmCompute& compute, std::string_view body) {
    const auto read = wire::read_stored_compute(compute.document);
    CHECK(read, "what is kept can be read");
    CHECK(read->document.dump() == compute.document.dump(), "what is kept reads back as it is");
    const auto again = put(name, body, &compute.document);
    CHECK(again, "the same request once more is taken");
    CHECK(again->document.dump() == compute.document.dump(), "the same request once more changes nothing");
    CHECK(wire::to_az_compute(wire::to_arm_answer(compute.document, {})).is_object(), "it can be shown");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    if (const auto compute = put("cpu-cluster", text, nullptr)) check_kept("cpu-cluster", *compute, text);
    const auto spec = wire::load_compute_text(text, "fuzz.yml", {});
    if (!spec) return 0;
    const std::string body = wire::to_arm_compute(*spec, spec::ComputeText::Whole, {"s", "g", "w"}).dump();
    const auto compute = put(spec->name, body, nullptr);
    CHECK(compute, "the server takes what a checked file says");
    check_kept(spec->name, *compute, body);
    return 0;
}
