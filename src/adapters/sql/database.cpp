#include "adapters/sql/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>

#include "base/check.h"
#include "base/files.h"

namespace lavant::sql {
namespace {

constexpr int kBusyMillis = 10'000;
constexpr std::size_t kShapesMax = 256;
constexpr const char* kBeginWriting = "BEGIN IMMEDIATE";
constexpr const char* kBeginReading = "BEGIN DEFERRED";
constexpr const char* kCommit = "COMMIT";
constexpr const char* kRollback = "ROLLBACK";

ErrorCode code_of(int primary) {
    switch (primary) {
        case SQLITE_CONSTRAINT:
            return ErrorCode::Conflict;
        case SQLITE_FULL:
        case SQLITE_TOOBIG:
            return ErrorCode::ResourceExhausted;
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return ErrorCode::PermissionDenied;
        case SQLITE_IOERR:
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
        case SQLITE_CANTOPEN:
        case SQLITE_NOMEM:
        case SQLITE_INTERRUPT:
            return ErrorCode::Unavailable;
        default:
            return ErrorCode::Internal;
    }
}

std::string_view remedy_of(int primary) {
    switch (primary) {
        case SQLITE_FULL:
            return "; free some space on that disk and try again";
        case SQLITE_IOERR:
            return "; look at the disk and the system's log";
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return "; another program holds it, end that one first";
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_CANTOPEN:
            return "; see that the file and its folder belong to this user";
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return "; restore it from a backup";
        default:
            return "";
    }
}

}  // namespace

Statement::~Statement() { sqlite3_finalize(raw_); }

Run::Run(Result<Statement*> statement) {
    if (statement) {
        statement_ = *statement;
    } else {
        error_ = std::move(statement).error();
    }
}

Run::~Run() {
    if (statement_ != nullptr) sqlite3_reset(statement_->raw_);
}

Run& Run::integer(std::int64_t value) {
    if (statement_ != nullptr) sqlite3_bind_int64(statement_->raw_, ++bound_, value);
    return *this;
}

Run& Run::text(std::string_view value) {
    if (statement_ == nullptr) return *this;
    const char* data = value.empty() ? "" : value.data();
    const int code =
        sqlite3_bind_text64(statement_->raw_, ++bound_, data, value.size(), SQLITE_STATIC, SQLITE_UTF8);
    if (code != SQLITE_OK) error_ = statement_->database_->error_of(code, "write a text to");
    return *this;
}

Run& Run::blob(std::string_view value) {
    if (statement_ == nullptr) return *this;
    const char* data = value.empty() ? "" : value.data();
    const int code = sqlite3_bind_blob64(statement_->raw_, ++bound_, data, value.size(), SQLITE_STATIC);
    if (code != SQLITE_OK) error_ = statement_->database_->error_of(code, "write bytes to");
    return *this;
}

Run& Run::null() {
    if (statement_ != nullptr) sqlite3_bind_null(statement_->raw_, ++bound_);
    return *this;
}

Result<bool> Run::step() {
    if (error_) return fail(*error_);
    column_ = 0;
    failed_ = false;
    const int code = sqlite3_step(statement_->raw_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    // A COMMIT changes nothing in SQLite's eyes, but it has no columns either.
    const bool reads =
        sqlite3_stmt_readonly(statement_->raw_) != 0 && sqlite3_column_count(statement_->raw_) > 0;
    return fail(statement_->database_->error_of(code, reads ? "read" : "write"));
}

Result<int> Run::execute() {
    LAVANT_TRY(const bool row, step());
    CHECK(!row, "a statement that is executed answers no rows");
    return sqlite3_changes(statement_->database_->raw());
}

std::int64_t Run::read_integer() { return sqlite3_column_int64(statement_->raw_, column_++); }

std::string_view Run::read_view() {
    const int column = column_++;
    const void* data = sqlite3_column_blob(statement_->raw_, column);
    const int size = sqlite3_column_bytes(statement_->raw_, column);
    return size == 0 ? std::string_view()
                     : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

std::string Run::read_text() { return std::string(read_view()); }

bool Run::next_is_null() const { return sqlite3_column_type(statement_->raw_, column_) == SQLITE_NULL; }

std::optional<Instant> Run::read_optional_instant() {
    if (next_is_null()) return ++column_, std::nullopt;
    return read_instant();
}

Result<void> Run::check_row(std::string_view what) const {
    if (!failed_) return {};
    return fail(ErrorCode::Internal,
                "cannot read a " + std::string(what) + " of database '" + statement_->database_->path() +
                    "': it holds a value this version does not know; run the version that wrote it");
}

Result<std::unique_ptr<Database>> Database::open(const OpenOptions& options) {
    const int flags = (options.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) |
                      SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(options.path.c_str(), &raw, flags, options.vfs);
    CHECK(raw != nullptr, "sqlite3_open_v2 gives a handle unless memory is out");
    std::unique_ptr<Database> database(new Database(raw, options.path));
    if (code != SQLITE_OK) return fail(database->error_of(code, "open"));
    LAVANT_TRY_VOID(database->configure(options));
    return database;
}

Result<void> Database::configure(const OpenOptions& options) {
    sqlite3_extended_result_codes(raw_, 1);
    sqlite3_busy_timeout(raw_, kBusyMillis);
    sqlite3_db_config(raw_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    LAVANT_TRY_VOID(execute("PRAGMA cache_size = -" + std::to_string(options.cache_kib) + ";" +
                            "PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = ON;"));
    if (options.read_only) return execute("PRAGMA query_only = ON;");
    Run mode(shaped("PRAGMA journal_mode = WAL"));
    LAVANT_TRY(const bool row, mode.step());
    if (!row || mode.read_text() != "wal")
        return fail(ErrorCode::Unavailable,
                    "cannot open database '" + path_ +
                        "' with a write-ahead log; keep the data folder on a local disk");
    // A checkpoint copies each page once however often it was written, so a longer log is less work in all.
    return execute(
        "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA journal_size_limit = 67108864;");
}

Database::~Database() {
    constants_.clear();
    shapes_.clear();
    sqlite3_close(raw_);
}

Result<void> Database::execute(const std::string& script) {
    const int code = sqlite3_exec(raw_, script.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return fail(error_of(code, "change"));
    return {};
}

Result<std::int64_t> Database::query_integer(const std::string& query) {
    LAVANT_TRY(const auto statement, prepare(query));
    Run run(statement.get());
    LAVANT_TRY(const bool row, run.step());
    return row ? run.read_integer() : 0;
}

Result<bool> Database::shorten_log() {
    struct stat log {};
    if (::stat((path_ + "-wal").c_str(), &log) != 0 || log.st_size <= kLogBytesKept) return false;
    sqlite3_busy_timeout(raw_, 0);
    const int code = sqlite3_wal_checkpoint_v2(raw_, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
    sqlite3_busy_timeout(raw_, kBusyMillis);
    if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) return true;
    if (code != SQLITE_OK) return fail(error_of(code, "shorten the log of"));
    return false;
}

Result<std::unique_ptr<Statement>> Database::prepare(std::string_view query) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(raw_, query.data(), static_cast<int>(query.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) return fail(error_of(code, "prepare a statement for"));
    return std::make_unique<Statement>(*this, statement);
}

Result<Statement*> Database::constant(const char* query) {
    auto& slot = constants_[query];
    if (slot == nullptr) {
        LAVANT_TRY(slot, prepare(query));
    }
    return slot.get();
}

Result<Statement*> Database::shaped(const std::string& query) {
    if (const auto found = shapes_.find(query); found != shapes_.end()) return found->second.get();
    CHECK(shapes_.size() < kShapesMax, "statement shapes are few: values are bound, never written into them");
    LAVANT_TRY(auto statement, prepare(query));
    return shapes_.emplace(query, std::move(statement)).first->second.get();
}

Error Database::error_of(int code, std::string_view attempted) const {
    int primary = code & 0xff;
    if (primary == SQLITE_IOERR && sqlite3_system_errno(raw_) == ENOSPC) primary = SQLITE_FULL;
    return {code_of(primary),
            "cannot " + std::string(attempted) + " database '" + path_ + "': " + sqlite3_errmsg(raw_) +
                std::string(remedy_of(primary)),
            {}};
}

Result<Transaction> Transaction::begin_writing(Database& database) {
    LAVANT_TRY_VOID(Run(database.constant(kBeginWriting)).execute());
    return Transaction(database);
}

Result<Transaction> Transaction::begin_reading(Database& database) {
    LAVANT_TRY_VOID(Run(database.constant(kBeginReading)).execute());
    return Transaction(database);
}

Transaction::~Transaction() {
    // After some errors SQLite has rolled back by itself; a second rollback is only an error we do not need.
    if (database_ == nullptr || sqlite3_get_autocommit(database_->raw()) != 0) return;
    (void)Run(database_->constant(kRollback)).execute();
}

Result<void> Transaction::commit() {
    LAVANT_TRY_VOID(Run(database_->constant(kCommit)).execute());
    database_ = nullptr;
    return {};
}

Result<void> prepare_file(const std::string& path) {
    const bool is_new = !exists(path);
    LAVANT_TRY(const Fd file, open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
    if (::fchmod(file.get(), 0600) != 0)
        return fail(system_error("take the group's rights from '" + path + "'", errno));
    return is_new ? sync_directory(parent_of(path)) : Result<void>{};
}

}  // namespace lavant::sql
