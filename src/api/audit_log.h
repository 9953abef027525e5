#pragma once
// Who changed what: one JSON line for each write that was asked for, granted or refused, in files of the data
// folder to which lines are only ever added. A line is in the file before its answer leaves, and on the disk
// a second later at the latest. Queries, bodies and credentials are never in it.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/rate_buckets.h"
#include "base/files.h"
#include "base/time.h"
#include "wire/json.h"

namespace lavant::api {

struct AuditRecord {
    Instant at{};
    std::string user = {};  // "" if nobody is signed in
    std::string key = {};
    std::string job = {};  // of a job's token
    std::string method = {};
    std::string path = {};  // without the query
    std::string workspace = {};
    std::string peer = {};
    int status = 0;
};

struct AuditQuery {
    std::string user = {};
    std::string key = {};
    std::string method = {};
    std::string workspace = {};
    std::string path = {};    // how it begins
    std::string status = {};  // "403", or "4" for all from 400 to 499
    Instant since{};
    Instant until = Instant::max();
    std::size_t limit = 100;
    std::string position = {};  // AuditPage::next of the page before
};

struct AuditPage {
    std::vector<wire::Json> records;  // newest first
    std::string next;                 // ""; that was all
};

class AuditLog {
 public:
    struct Limits {
        std::uint64_t file_bytes = 64ULL << 20;
        std::size_t files = 16;                     // the oldest go
        std::uint64_t scan_bytes = 4U << 20;        // looked at for one page, which may be short then
        Rate strangers{.per_s = 10, .burst = 500};  // of one host, so that nobody can wash the past away
    };

    // `folder` is made with the first record; "": nothing is kept.
    explicit AuditLog(std::string folder) : AuditLog(std::move(folder), Limits{}) {}
    AuditLog(std::string folder, Limits limits);
    ~AuditLog();
    AuditLog(const AuditLog&) = delete;
    AuditLog& operator=(const AuditLog&) = delete;

    // Any thread, as all here. A disk that takes no more is logged, and the work goes on: what frees room is
    // a write too.
    void write(const AuditRecord& record);
    [[nodiscard]] Result<AuditPage> read(const AuditQuery& query) const;

 private:
    struct File {
        std::uint64_t number = 0;  // rises; a part of the name
        std::uint64_t bytes = 0;
    };
    std::string path_of(std::uint64_t number) const;
    Result<std::vector<File>> list_files() const;  // oldest first
    Result<void> append(std::string_view line, Instant now);
    Result<void> open_file_for(std::size_t bytes, Instant now);
    void drop_oldest();
    void sync_now_and_then();

    const std::string folder_;
    const Limits limits_;
    RateBuckets strangers_;
    std::mutex mutex_;  // guards what follows
    Fd file_;
    File current_;
    bool torn_ = false;  // the last line may be cut: begin a new one
    bool failing_ = false;
    std::uint64_t left_out_ = 0;  // records of strangers since the last one
    bool unsynced_ = false;
    bool ending_ = false;
    std::condition_variable changed_;
    std::thread syncer_;
};

}  // namespace lavant::api
