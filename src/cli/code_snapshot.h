#pragma once
// What of a local folder travels with a job, and its fingerprint, both exactly as azure-ai-ml computes them
// (content hash version 202208), so that a folder uploaded by one client is found by the other. Uploading is
// upload.h's work.

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/crypto.h"

namespace lavant::cli {

inline constexpr int kContentHashVersion = 202208;
inline constexpr std::uint64_t kSnapshotWarnBytes = 100'000'000;
inline constexpr std::size_t kSnapshotWarnFiles = 10'000;
inline constexpr std::size_t kSnapshotFilesMax = 1'000'000;
inline constexpr int kSnapshotDepthMax = 200;

struct SnapshotFile {
    std::string source;  // absolute, links resolved: where the bytes are
    std::string path;    // relative to the folder, links by their own names
    std::uint64_t bytes = 0;
};

struct Snapshot {
    std::string name;  // the folder's (or file's) own name: first segment of every blob's name
    bool is_file = false;
    std::vector<SnapshotFile> files;  // in the order in which the hash reads them
    std::uint64_t bytes = 0;
};

// What a folder's own .amlignore (or, without one, its .gitignore) excludes; or nothing, where somebody says
// which files are to travel; or, for a component, also what Python has compiled.
enum class Ignored { AsItsFileSays, Nothing, AndCompiled };

// Reads the folder's list. A path to a file gives a snapshot of that file. NotFound, or InvalidArgument for
// links that lead nowhere or in circles.
[[nodiscard]] Result<Snapshot> take_snapshot(const std::string& path,
                                             Ignored ignored = Ignored::AsItsFileSays);

// The same for a component: without __pycache__, and with the files and folders that it includes, each under
// its own name beside what is in the code folder. With includes the rules of the code folder (without one, of
// the component's own) hold for all, and those of each folder for what is below it. InvalidArgument also for
// an include whose name is taken, and for a link that leads out of the folder it is in.
struct ComponentCode {
    std::string code;                   // "" for none
    std::vector<std::string> includes;  // absolute, or as seen from here
    std::string folder;                 // of the component's file
};
[[nodiscard]] Result<Snapshot> take_component_snapshot(const ComponentCode& code);

// SHA-256 in hex over the number of files, their names and sizes, then their bytes.
[[nodiscard]] Result<std::string> content_hash(const Snapshot& snapshot, ports::Crypto& crypto);

// The other fingerprint the SDK uses: the folder under LocalUpload/ where a data input lies.
[[nodiscard]] Result<std::string> object_hash(const std::string& path, ports::Crypto& crypto);

// Empty, or one line about size with the three largest entries (first-level names) of the folder.
std::string size_warning(const Snapshot& snapshot);

}  // namespace lavant::cli
