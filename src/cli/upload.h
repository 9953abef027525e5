#pragma once
// Puts local files where the server's jobs find them, with the same requests as azure-ai-ml makes: code as a
// code version with its hash, data inputs under LocalUpload/ in the default datastore. Nothing is sent twice.

#include <string>

#include "cli/code_snapshot.h"
#include "cli/datastore.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "ports/crypto.h"

namespace lavant::cli {

class Uploader {
 public:
    // With a console, long uploads say how far they are.
    Uploader(Session& session, ports::Crypto& crypto, const Console* console = nullptr)
        : session_(session), crypto_(crypto), console_(console) {}

    // Returns the ARM id of the code version: an older one if the server knows this content already.
    [[nodiscard]] Outcome<std::string> upload_code(const Snapshot& snapshot);

    struct Uploaded {
        std::string uri;  // azureml://datastores/{datastore}/paths/LocalUpload/{hash}/{name}
        std::string url;  // the same place as an https address; both end with a slash for a folder
    };
    // `datastore` "": the workspace's own.
    [[nodiscard]] Outcome<Uploaded> upload_data(const std::string& path, const std::string& datastore = {});

    // One file as one blob; with its checksum (base64) where that is known, which the server then checks.
    [[nodiscard]] Outcome<void> put_file(const SnapshotFile& file, const DatastorePlace& target,
                                         const std::string& blob, const std::string& md5, Progress& progress);

    // A small file that belongs to a job.
    [[nodiscard]] Outcome<void> upload_artifact(const std::string& blob, std::string bytes);

 private:
    struct Mark {  // what the finished upload's first blob says about itself
        std::string name;
        std::string version;
    };

    Outcome<void> upload_all(const Snapshot& snapshot, const DatastorePlace& target,
                             const std::string& prefix, const Mark& mark);
    Outcome<void> put_in_blocks(const SnapshotFile& file, const std::string& address,
                                const std::string& signature, const std::string& md5, Progress& progress);
    Outcome<ports::HttpResponse> storage(ports::ClientRequest request, std::string_view attempted);

    Session& session_;
    ports::Crypto& crypto_;
    const Console* console_;
};

// "{container url}/{name}" with every segment of the name percent-encoded.
std::string blob_address(const std::string& container_url, const std::string& name);
// Of a file, in base64; "" if it cannot be read.
std::string md5_of_file(ports::Crypto& crypto, const std::string& path);
std::string random_guid(ports::Crypto& crypto);  // RFC 4122, version 4

}  // namespace lavant::cli
