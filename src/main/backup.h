#pragma once
// `lavant backup` and `lavant restore`: everything a server keeps, in one file. docs/backup.md

#include <string>

#include "cli/connect.h"
#include "cli/context.h"

namespace lavant {

inline constexpr const char* kBackupNote = "lavant-backup.json";   // the first entry
inline constexpr const char* kBackupManifest = "lavant-manifest";  // the last: "SHA256 PATH" lines
inline constexpr int kBackupFormat = 1;

// Whether a server runs or not. `target` is a file that is not there yet, or a folder.
[[nodiscard]] cli::Outcome<cli::Exit> backup(cli::Context& context, const cli::ServerChoice& choice,
                                             const std::string& target);

// Into a folder that is empty or not there; with `replace`, what is there is put aside first.
[[nodiscard]] cli::Outcome<cli::Exit> restore(cli::Context& context, const cli::ServerChoice& choice,
                                              const std::string& file, bool replace);

}  // namespace lavant
