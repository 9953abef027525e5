#pragma once
// Every limit has a name. Configuration may lower some; nothing raises them silently.

#include <cstddef>
#include <cstdint>

namespace lavant::limits {

inline constexpr std::size_t kYamlBytes = 2U << 20;  // a job file
inline constexpr std::size_t kYamlNodes = 50'000;    // after alias expansion
inline constexpr int kDocumentDepth = 64;
inline constexpr std::size_t kJsonBytes = 8U << 20;  // a REST body
inline constexpr std::size_t kHttpHeadBytes = 64U << 10;
inline constexpr std::uint64_t kBlobPutBytes = 5'000ULL << 20;  // one PUT; larger blobs come in blocks
inline constexpr std::uint64_t kBlobBytes = 5ULL << 40;         // one blob, however it came
inline constexpr std::size_t kFrameBytes = 4U << 20;            // one agent frame
inline constexpr std::size_t kLogChunkBytes = 256U << 10;
inline constexpr std::size_t kReportedLogBytes = 4U << 10;  // a log that travels with the report of its end
inline constexpr std::uint64_t kJobLogBytes = 1ULL << 30;   // per job, configurable
inline constexpr std::size_t kInboxEvents = 65'536;
inline constexpr std::size_t kBatchEvents = 256;
inline constexpr int kInstancesPerJob = 1'000;
inline constexpr int kTasksPerNode = 64;
inline constexpr int kLostAttempts = 100;               // a job that loses its node so often may be the cause
inline constexpr int kEffectTries = 20;                 // of an effect that others can do without: a webhook
inline constexpr std::size_t kBlobNamePartBytes = 245;  // a file's name, with room for a side file's suffix
inline constexpr std::size_t kJobNameChars = 240;       // "dcid.NAME" is a folder of artifacts
inline constexpr std::size_t kOutputPathBytes = 1024;   // leaves room for the names of the files in it
inline constexpr std::size_t kOutputPathParts = 32;     // likewise
inline constexpr std::size_t kQueuedJobs = 1'000'000;
inline constexpr int kConnections = 4'096;
inline constexpr int kListPage = 100;

}  // namespace lavant::limits
