#pragma once
// What is kept of a blob besides its bytes: metadata, properties, the checksum. It lies with the file itself,
// as an extended attribute, where the file system has room for it; else in a side file. So an ordinary blob
// is one file, and one look at it tells everything.

#include <sys/stat.h>

#include <optional>
#include <string>

#include "adapters/blobs_fs/sidecar.h"
#include "ports/blobs.h"

namespace lavant::blobs {

// What the file itself says.
ports::BlobInfo describe(const std::string& name, const struct stat& status);

// As it is kept, of a blob whose etag by describe() is `etag`. `changed` is not 0 once facts were changed
// without the bytes, and larger each time.
Metadata to_kept(const ports::BlobFacts& facts, const std::string& etag, std::int64_t changed);
std::int64_t last_change(const Metadata& kept);
void add_facts(ports::BlobInfo& blob, Metadata kept);

// Keeps it with the open file; false: the file system has no room for it.
bool keep_with_file(int file, const Metadata& kept);
void drop_from_file(int file);
// nullopt: nothing is kept with the file, so its side file counts, if it has one.
std::optional<Metadata> kept_with_file(int file);
[[nodiscard]] Result<Metadata> find_kept(int file, const Sidecars& sidecars, const std::string& container,
                                         const std::string& name);

}  // namespace lavant::blobs
