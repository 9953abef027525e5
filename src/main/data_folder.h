#pragma once
// The data folder of a server: its layout, the lock that makes it one server's, and the endpoint file.

#include <string>

#include "base/files.h"
#include "base/result.h"
#include "base/time.h"

namespace lavant {

struct DataFolder {
    std::string root;
    std::string database() const { return root + "/lavant.db"; }
    std::string secret() const { return root + "/secret.key"; }
    std::string tls() const { return root + "/tls"; }
    std::string blobs() const { return root + "/blobs"; }
    std::string nodes() const { return root + "/nodes"; }
    std::string agent() const { return root + "/bin/lavant-agent"; }
    std::string owner_key() const { return root + "/owner.key"; }
    std::string endpoint() const { return root + "/endpoint"; }
    std::string endpoint_kept() const { return root + "/port"; }  // survives a stop
    std::string log() const { return root + "/serve.log"; }
    std::string spare() const { return root + "/spare"; }  // room for when the disk is full
    std::string audit() const { return root + "/audit"; }  // who changed what
    std::string lock() const { return root + "/lock"; }
    std::string backup() const { return root + "/backup"; }  // a copy of the database while one is made

    // Made by `lavant restore`; what it holds is part of every node's credentials, so that nodes of the
    // server that was backed up are strangers here.
    std::string restored() const { return root + "/restored"; }

    static bool is_ours(const std::string& name);  // an entry right below the root that Lavant makes
};

// Whether Lavant made this folder. Follows no link.
bool is_data_folder(const DataFolder& folder);

// Makes the folder (0700) and takes its lock for as long as the descriptor lives. AlreadyExists: another
// server has it. The lock goes with its process, so one left by a power cut holds nobody up.
[[nodiscard]] Result<Fd> lock_data_folder(const DataFolder& folder);

struct Endpoint {
    std::string url;
    std::string ca_file;
    bool embedded = false;
    int idle_exit_s = 0;
    Instant since{};
};
// For the command line: where the server is, and whether a newer program may replace it.
[[nodiscard]] Result<void> write_endpoint(const DataFolder& folder, const Endpoint& endpoint);

}  // namespace lavant
