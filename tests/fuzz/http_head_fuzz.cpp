// Any bytes as what a client sends, read in one piece and byte by byte.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/http_server/request_reader.h"
#include "base/check.h"

namespace {

using lavant::adapters::http::RequestReader;

// The verdict after all bytes, given in pieces of at most `piece`.
RequestReader::Progress read_all(std::string_view bytes, std::size_t piece) {
    RequestReader reader(64U << 10);
    std::string waiting;
    auto progress = RequestReader::Progress::NeedsMore;
    while (true) {
        const auto outcome = reader.take(waiting);
        progress = outcome.progress;
        CHECK(outcome.consumed <= waiting.size(), "a reader consumes what it was given");
        waiting.erase(0, outcome.consumed);
        if (progress == RequestReader::Progress::Refused || progress == RequestReader::Progress::Done)
            return progress;
        if (progress == RequestReader::Progress::HeadDone) {
            reader.limit_body(1U << 20);
            continue;
        }
        if (bytes.empty()) return progress;
        waiting += bytes.substr(0, piece);
        bytes.remove_prefix(std::min(piece, bytes.size()));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    (void)read_all(text, size == 0 ? 1 : size);
    (void)read_all(text, 1);
    return 0;
}
