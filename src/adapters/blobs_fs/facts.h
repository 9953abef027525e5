#pragma once
// What is kept of a blob besides its bytes, and where: metadata and properties in a side file, the checksum
// with the file itself where the file system can, so that an ordinary blob needs no side file at all.

#include <sys/stat.h>

#include <string>

#include "adapters/blobs_fs/sidecar.h"
#include "ports/blobs.h"

namespace lavant::blobs {

// What the file itself says.
ports::BlobInfo describe(const std::string& name, const struct stat& status);
// Adds what its side file says (see to_side_file) and the checksum kept with the open file; 0 for none.
void add_facts(ports::BlobInfo& blob, Metadata side_file, int file);

// Empty: there is nothing to keep. `etag` is that of describe(); `changed` is not 0 once facts were changed
// without the bytes, and larger each time.
Metadata to_side_file(const ports::BlobFacts& facts, std::int64_t changed);
std::int64_t last_change(const Metadata& side_file);

// Keeps the checksum with the open file; false where the file system has no place for it. "" forgets it.
bool keep_checksum(int file, const std::string& etag, const std::string& md5);
// The entry of a side file that does instead.
void add_checksum(Metadata& side_file, const std::string& etag, const std::string& md5);

}  // namespace lavant::blobs
