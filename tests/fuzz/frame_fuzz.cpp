// Any bytes as a frame from a peer, or as a column of the database: decoded or refused, and what was decoded
// survives being encoded again.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "wire/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace lavant;
    const std::string_view frame(reinterpret_cast<const char*>(bytes), size);
    if (const auto message = wire::decode_from_agent(frame))
        CHECK(wire::decode_from_agent(wire::encode_frame(*message)), "a message survives the wire");
    if (const auto message = wire::decode_to_agent(frame))
        CHECK(wire::decode_to_agent(wire::encode_frame(*message)), "a message survives the wire");
    if (const auto launch = wire::decode_launch(frame))
        CHECK(wire::decode_launch(wire::encode_launch(*launch)), "a launch survives the wire");
    (void)wire::decode_effect(frame);
    (void)wire::decode_task_end(frame);
    return 0;
}
