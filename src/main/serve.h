#pragma once
// `lavant serve`: one process, everything wired.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "core/model/size.h"

namespace lavant {

struct ServeOptions {
    std::string data;  // absolute
    std::string address = "127.0.0.1";
    int port = 8443;                 // 0: any free one
    std::vector<std::string> names;  // further host names and addresses for the certificate
    std::string tls_certificate;     // PEM files of one's own, both or none
    std::string tls_key;
    bool embedded = false;                 // started by the command line: overcommit and emulated GPUs are on
    int idle_exit_s = 0;                   // leave after so long with no job, no node and no client; 0: never
    std::int64_t events_kept = 1'000'000;  // of the history; the oldest go
    RetiredSizes retired_sizes = RetiredSizes::Substitute;
    std::optional<std::vector<std::string>> gpus = {};  // names of this machine's; left out: what is found
    bool make_workspaces = true;                        // those that an owner names first
    std::map<std::string, std::string> mirrors;         // of Azure storage: "account/container" to a place
    std::vector<std::string> notify_hosts;              // webhooks go there only; none: anywhere
    int key_requests_per_s = 50'000;  // 0: no limit, as the next two
    int key_upload_mib_per_s = 10'240;
    int failed_logins_per_minute = 600;
    int ready_fd = -1;  // gets one line: "ready", "taken" or "error <sentence>"; then it is closed
    LogSettings log;
};

// Returns the exit code: 0 after a graceful stop, 1 if it cannot start (with one sentence on standard error).
int run_serve(const ServeOptions& options);

}  // namespace lavant
