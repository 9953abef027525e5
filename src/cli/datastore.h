#pragma once
// Where a datastore's blobs are, and the signature that opens it for an hour.

#include <string>

#include "cli/session.h"

namespace lavant::cli {

struct DatastorePlace {
    std::string url;  // of the container
    std::string signature;
};
[[nodiscard]] Outcome<DatastorePlace> open_datastore(Session& session, const std::string& name);

}  // namespace lavant::cli
