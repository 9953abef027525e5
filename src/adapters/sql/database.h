#pragma once
// One SQLite connection, its statements and its transactions, with errors as values. A Database belongs to
// one thread at a time. The types of sqlite3.h stay in this room.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lavant::sql {

class Database;

// A prepared statement. Bind in the order of the question marks, then step until false. What is bound as text
// or blob must live until the statement is reset, which `Run` does.
class Statement {
 public:
    explicit Statement(Database& database, sqlite3_stmt* raw) : database_(&database), raw_(raw) {}
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement();

 private:
    friend class Run;
    Database* database_;
    sqlite3_stmt* raw_;
};

// One execution of a statement: binds, steps, reads columns left to right, and leaves the statement clean.
class Run {
 public:
    explicit Run(Result<Statement*> statement);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run();

    Run& integer(std::int64_t value);
    Run& text(std::string_view value);
    Run& blob(std::string_view value);
    Run& instant(Instant value) { return integer(to_micros(value)); }
    Run& instant(std::optional<Instant> value) { return value ? instant(*value) : null(); }
    Run& null();

    // True: a row is there to read. False: done.
    [[nodiscard]] Result<bool> step();
    // For statements without rows: steps to the end, answers how many rows were written.
    [[nodiscard]] Result<int> execute();

    std::int64_t read_integer();
    int read_int() { return static_cast<int>(read_integer()); }
    bool read_bool() { return read_integer() != 0; }
    std::string read_text();
    Instant read_instant() { return from_micros(read_integer()); }
    std::optional<Instant> read_optional_instant();
    bool next_is_null() const;
    // A number of an enum whose last enumerator is `last`; a stranger makes failed() true.
    template <class Enum>
    Enum read_enum(Enum last) {
        const std::int64_t value = read_integer();
        if (value < 0 || value > static_cast<std::int64_t>(last)) failed_ = true;
        return static_cast<Enum>(value);
    }
    // A column encoded by wire, NULL for the default value.
    template <class T>
    T read_encoded(Result<T> (*decode)(std::string_view)) {
        if (next_is_null()) return ++column_, T{};
        Result<T> value = decode(read_view());
        if (value) return std::move(*value);
        failed_ = true;
        return T{};
    }
    // An error if a column of this row held what this program does not know.
    [[nodiscard]] Result<void> check_row(std::string_view what) const;

 private:
    std::string_view read_view();

    Statement* statement_ = nullptr;
    std::optional<Error> error_;
    int bound_ = 0;
    int column_ = 0;
    bool failed_ = false;
};

struct OpenOptions {
    std::string path;
    bool read_only = false;
    const char* vfs = nullptr;  // a VFS registered under this name; null: the system's files
    int cache_kib = 2'048;
};

// A log is not shortened for less: its space is used again by the next writes.
inline constexpr std::int64_t kLogBytesKept = 4LL << 20;

class Database {
 public:
    // The file must exist (prepare_file makes it). WAL, full syncs, foreign keys.
    [[nodiscard]] static Result<std::unique_ptr<Database>> open(const OpenOptions& options);
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    [[nodiscard]] Result<void> execute(const std::string& script);
    [[nodiscard]] Result<std::int64_t> query_integer(const std::string& query);
    // Empties a write-ahead log that has grown above kLogBytesKept. Waits for nobody; true: a reader is in
    // the way, try later.
    [[nodiscard]] Result<bool> shorten_log();

    // Prepared once. Keyed by address: only for constants, which makes the look-up free.
    [[nodiscard]] Result<Statement*> constant(const char* query);
    // Prepared once, keyed by the text: for the few shapes a filter can take.
    [[nodiscard]] Result<Statement*> shaped(const std::string& query);

    const std::string& path() const { return path_; }
    sqlite3* raw() const { return raw_; }
    // What a result code other than success means for the caller, and what to do.
    Error error_of(int code, std::string_view attempted) const;

 private:
    Database(sqlite3* raw, std::string path) : raw_(raw), path_(std::move(path)) {}
    Result<void> configure(const OpenOptions& options);
    Result<std::unique_ptr<Statement>> prepare(std::string_view query);

    sqlite3* raw_;
    std::string path_;
    std::unordered_map<const void*, std::unique_ptr<Statement>> constants_;
    std::unordered_map<std::string, std::unique_ptr<Statement>> shapes_;
};

// Rolled back unless committed.
class Transaction {
 public:
    [[nodiscard]] static Result<Transaction> begin_writing(Database& database);
    [[nodiscard]] static Result<Transaction> begin_reading(Database& database);
    Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    [[nodiscard]] Result<void> commit();

 private:
    explicit Transaction(Database& database) : database_(&database) {}
    Database* database_;
};

// Makes an empty file with mode 0600 if none is there, and takes other people's rights from one that is.
[[nodiscard]] Result<void> prepare_file(const std::string& path);

}  // namespace lavant::sql
