#pragma once
// Reads one whole document of a compute: of a request that says everything, or as it was stored. Internal to
// wire/arm_compute.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/spec/compute.h"
#include "core/spec/problems.h"
#include "wire/arm_compute.h"

namespace lavant::wire {

inline constexpr const char* kSizePath = "properties.properties.vmSize";

// Values by type; what is of another type is a problem and reads as absent.
class ComputeReader {
 public:
    explicit ComputeReader(spec::Problems& problems) : problems_(problems) {}

    void problem(const std::string& path, std::string message);
    Json object(const Json& parent, const std::string& key, const std::string& path);
    std::string text(const Json& value, const std::string& path,
                     std::size_t bytes_most = spec::kComputeTextBytes);
    // A word that stands for itself in one of two spellings.
    std::string choice(const Json& value, const std::string& path, const std::vector<std::string>& allowed);
    std::optional<std::int64_t> integer(const Json& value, const std::string& path);
    std::optional<std::int64_t> seconds(const Json& value, const std::string& path);  // or PT2M
    std::optional<bool> boolean(const Json& value, const std::string& path);

 private:
    spec::Problems& problems_;
};

// With every default filled in. Which size a name means is not decided here.
ArmCompute read_document(ComputeReader& reader, const Json& sent, ComputeKind kind);

}  // namespace lavant::wire
