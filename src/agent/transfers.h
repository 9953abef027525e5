#pragma once
// Moves files between a node and the server: inputs and code down, outputs up. A few requests at a time; what
// the server cannot do now is asked again. Destroying a transfer ends it, and nothing more is called.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/task_files.h"
#include "ports/agent_link.h"

namespace lavant::agent {

struct ServerAccess {
    ports::Reactor& reactor;
    ports::ServerWire& wire;
    std::string routes;  // "/lavant/v1/nodes/17"
    std::string credential;
};

using TransferDone = std::function<void(Result<void>)>;

// Requests that all have to succeed, in no particular order. With `skip_absent` what is not there is left
// out.
class Transfer : public std::enable_shared_from_this<Transfer> {
 public:
    Transfer(ServerAccess access, std::deque<ports::ClientRequest> requests, TransferDone done,
             bool skip_absent = false);
    void start();

 private:
    void pump();
    void send(const ports::ClientRequest& request, int tries);
    void answered(const ports::ClientRequest& request, int tries, const Result<ports::HttpResponse>& answer);
    void finish(Result<void> result);

    ServerAccess access_;
    std::deque<ports::ClientRequest> waiting_;
    TransferDone done_;
    const bool skip_absent_;
    int in_flight_ = 0;
    bool over_ = false;
};

// One thing to fetch: a blob or a folder of blobs, or a file of the web.
struct Fetch {
    enum class Kind { Blob, Folder, Web };
    Kind kind = Kind::Blob;
    std::string what;  // for messages: "input 'data'"
    BlobPlace place;
    std::string url;
    std::string into;       // the folder; made if absent
    std::string file;       // its name there, for Blob and Web
    bool if_there = false;  // nothing there is nothing to fetch
};

class Download : public std::enable_shared_from_this<Download> {
 public:
    Download(ServerAccess access, std::vector<Fetch> fetches, TransferDone done);
    void start();

 private:
    void next();
    void list(std::string marker);
    void listed(const Result<ports::HttpResponse>& answer);
    [[nodiscard]] Result<void> add_listed(std::string_view body);
    void fetch_files();
    void fetched_one();
    void finish(Result<void> result);

    ServerAccess access_;
    std::vector<Fetch> fetches_;
    TransferDone done_;
    std::size_t at_ = 0;
    int tries_ = 0;
    std::string marker_;
    std::deque<ports::ClientRequest> files_;
    std::uint64_t bytes_ = 0;
    std::shared_ptr<Transfer> transfer_;  // shared: its callbacks hold it weakly
};

// The requests that stage `uploads` for an attempt.
std::deque<ports::ClientRequest> staging_requests(const ServerAccess& access, TaskRef task,
                                                  const std::vector<Upload>& uploads);

// Blob names in a URL: every part encoded, slashes kept.
std::string encode_path(std::string_view path);
// A name that stays below the folder it is put into.
bool is_inner_path(std::string_view path);

}  // namespace lavant::agent
