// Any bytes as a job file: read, checked, and written to the wire, which the server's own reader must then
// take.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "core/spec/job.h"
#include "wire/job_to_arm.h"
#include "wire/json.h"
#include "wire/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace lavant;
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    const auto document = wire::parse_yaml(text, "fuzz.yml");
    if (!document) return 0;
    spec::ComponentLoader loader;
    loader.folder = "/";
    loader.load = [&](const std::string&) -> Result<spec::Document> { return *document; };
    loader.read_text = [](const std::string&) -> Result<std::string> { return std::string("name: x\n"); };
    loader.kind_of = [](const std::string& path) {
        return path.find("yml") == std::string::npos ? spec::PathKind::Folder : spec::PathKind::File;
    };
    const auto job = spec::parse_job(*document, loader);
    if (!job) return 0;
    wire::Resolver as_written;
    const auto body = wire::to_arm_job(*job, as_written);
    CHECK(body && wire::parse_json(body->dump()), "a job that was accepted makes a body that is JSON");
    return 0;
}
