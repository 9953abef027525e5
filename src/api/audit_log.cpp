#include "api/audit_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using namespace std::chrono_literals;
using wire::Json;

constexpr auto kSyncEvery = 1s;
constexpr std::size_t kPathChars = 2'048;
constexpr std::string_view kStart = "audit-";
constexpr std::string_view kEnd = ".jsonl";

void add(std::string& line, std::string_view key, std::string_view value) {
    if (value.empty()) return;
    ((line += R"(,")") += key) += R"(":)";
    line += json_quote(value);
}

std::string line_of(const AuditRecord& record, std::uint64_t left_out) {
    std::string line = R"({"time":")" + to_rfc3339(record.at) + '"';
    add(line, "user", record.user);
    add(line, "key", record.key);
    add(line, "job", record.job);
    add(line, "method", record.method);
    add(line, "path", std::string_view(record.path).substr(0, kPathChars));
    add(line, "workspace", record.workspace);
    line += R"(,"status":)" + std::to_string(record.status);
    add(line, "address", record.peer);
    if (left_out > 0) line += R"(,"leftOut":)" + std::to_string(left_out);
    return line + "}\n";
}

bool fits(const Json& record, const AuditQuery& query, Instant at) {
    const auto is = [&](const char* key, const std::string& wanted) {
        return wanted.empty() || record[key].text() == wanted;
    };
    return is("user", query.user) && is("key", query.key) && is("method", query.method) &&
           is("workspace", query.workspace) && record["path"].text().starts_with(query.path) &&
           std::to_string(record["status"].integer()).starts_with(query.status) && at < query.until;
}

Result<std::string> read_part(const std::string& path, std::uint64_t from, std::uint64_t bytes) {
    LAVANT_TRY(const Fd file, open_file(path, O_RDONLY));
    std::string text(bytes, '\0');
    std::size_t done = 0;
    while (done < bytes) {
        const ssize_t got =
            ::pread(file.get(), text.data() + done, bytes - done, static_cast<off_t>(from + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(system_error("read '" + path + "'", errno));
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    text.resize(done);
    return text;
}

}  // namespace

AuditLog::AuditLog(std::string folder, Limits limits) : folder_(std::move(folder)), limits_(limits) {}

AuditLog::~AuditLog() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    if (syncer_.joinable()) syncer_.join();
    if (file_) ::fdatasync(file_.get());
}

std::string AuditLog::path_of(std::uint64_t number) const {
    // Twenty digits, so that names sort as numbers do.
    std::string digits = std::to_string(number);
    return folder_ + "/" + std::string(kStart) + std::string(20 - digits.size(), '0') + digits +
           std::string(kEnd);
}

Result<std::vector<AuditLog::File>> AuditLog::list_files() const {
    std::vector<File> files;
    if (folder_.empty() || !exists(folder_)) return files;
    LAVANT_TRY(const auto entries, list_directory(folder_));
    for (const DirectoryEntry& entry : entries) {
        std::string_view name = entry.name;
        if (!entry.is_file || !name.starts_with(kStart) || !name.ends_with(kEnd)) continue;
        name.remove_prefix(kStart.size());
        name.remove_suffix(kEnd.size());
        const auto number = parse_integer(name);
        if (number && *number >= 0) files.push_back({static_cast<std::uint64_t>(*number), entry.bytes});
    }
    std::ranges::sort(files, {}, &File::number);
    return files;
}

void AuditLog::drop_oldest() {
    auto files = list_files();
    if (!files || files->size() <= limits_.files) return;
    for (std::size_t i = 0; i + limits_.files < files->size(); ++i) {
        const std::string path = path_of((*files)[i].number);
        if (::unlink(path.c_str()) == 0) log(Level::Info, "audit_file_dropped", {{"file", path}});
    }
}

// Makes file_ one that takes `bytes` more.
Result<void> AuditLog::open_file_for(std::size_t bytes, Instant now) {
    if (!file_) {
        LAVANT_TRY_VOID(make_directories(folder_));
        LAVANT_TRY(const auto files, list_files());
        if (!files.empty()) current_ = files.back();
        torn_ = !files.empty() && current_.bytes > 0;  // a crash may have cut its last line
    }
    const bool full = current_.number == 0 || current_.bytes + bytes > limits_.file_bytes;
    if (file_ && !full) return {};
    if (full) {
        if (file_) ::fdatasync(file_.get());
        current_ = {std::max(current_.number + 1, static_cast<std::uint64_t>(to_micros(now))), 0};
        torn_ = false;
    }
    LAVANT_TRY(file_, open_file(path_of(current_.number), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC));
    if (full) {
        LAVANT_TRY_VOID(sync_directory(folder_));
        drop_oldest();
    }
    return {};
}

Result<void> AuditLog::append(std::string_view line, Instant now) {
    LAVANT_TRY_VOID(open_file_for(line.size() + 1, now));
    std::string text;
    if (torn_) (text += '\n') += line;
    const std::string_view bytes = torn_ ? std::string_view(text) : line;
    torn_ = true;
    LAVANT_TRY_VOID(write_all(file_.get(), bytes));
    torn_ = false;
    current_.bytes += bytes.size();
    return {};
}

void AuditLog::write(const AuditRecord& record) {
    if (folder_.empty()) return;
    const bool stranger = record.user.empty() && record.status >= 400;
    const bool keep = !stranger || strangers_.take(host_of_peer(record.peer), limits_.strangers, 1,
                                                   record.at) == Duration::zero();
    const std::lock_guard lock(mutex_);
    if (!keep) {
        ++left_out_;
        return;
    }
    const auto done = append(line_of(record, left_out_), record.at);
    if (!done && !failing_) log(Level::Error, "audit_failed", {{"message", done.error().message}});
    failing_ = !done.has_value();
    if (failing_) return;
    left_out_ = 0;
    if (std::exchange(unsynced_, true)) return;
    if (!syncer_.joinable()) syncer_ = std::thread([this] { sync_now_and_then(); });
    changed_.notify_one();
}

void AuditLog::sync_now_and_then() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return unsynced_ || ending_; });
        if (ending_) return;
        changed_.wait_for(lock, kSyncEvery, [this] { return ending_; });
        unsynced_ = false;
        // A file that was full is synced when the next one is made; this one may change meanwhile.
        const Fd same(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
        lock.unlock();
        if (same) ::fdatasync(same.get());
        lock.lock();
    }
}

Result<AuditPage> AuditLog::read(const AuditQuery& query) const {
    LAVANT_TRY(auto files, list_files());
    AuditPage page;
    std::uint64_t budget = limits_.scan_bytes;
    if (!query.position.empty()) {
        const auto parts = split(query.position, '-');
        const auto number = parse_integer(parts.front());
        const auto offset = parts.size() == 2 ? parse_integer(parts.back()) : std::nullopt;
        if (!number || !offset || *number < 0 || *offset < 0)
            return fail(ErrorCode::InvalidArgument, "this is no position of an earlier page");
        const auto at = static_cast<std::uint64_t>(*number);
        std::erase_if(files, [at](const File& file) { return file.number > at; });
        if (!files.empty() && files.back().number == at)
            files.back().bytes = std::min(files.back().bytes, static_cast<std::uint64_t>(*offset));
    }
    for (std::size_t i = files.size(); i-- > 0;) {
        std::uint64_t end = files[i].bytes;
        while (end > 0) {
            const std::uint64_t begin = end - std::min(end, budget);
            LAVANT_TRY(const std::string text, read_part(path_of(files[i].number), begin, end - begin));
            std::string_view rest = text;
            // From the last line upward; the first one of a part may be cut and is left for the next part.
            while (!rest.empty()) {
                const std::string_view body = rest.ends_with('\n') ? rest.substr(0, rest.size() - 1) : rest;
                const std::size_t before = body.rfind('\n');
                if (before == std::string_view::npos && begin > 0) break;
                const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
                if (page.records.size() >= query.limit) {
                    page.next = std::to_string(files[i].number) + "-" + std::to_string(begin + rest.size());
                    return page;
                }
                const auto record = wire::parse_json(body.substr(start));
                rest = rest.substr(0, start);
                if (!record || !record->is_object()) continue;
                const auto at = parse_rfc3339((*record)["time"].text());
                if (!at) continue;
                if (*at < query.since) return page;
                if (fits(*record, query, *at)) page.records.push_back(*record);
            }
            // What was not a whole line: a line longer than all that may be looked at is none of ours.
            const std::uint64_t seen = end - begin - rest.size();
            budget -= std::min(budget, std::max<std::uint64_t>(seen, 1));
            end = seen > 0 ? begin + rest.size() : begin;
            if (budget < kPathChars * 4 && (end > 0 || i > 0)) {
                page.next = std::to_string(files[i].number) + "-" + std::to_string(end);
                return page;
            }
        }
    }
    return page;
}

}  // namespace lavant::api
