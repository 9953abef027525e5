#include "tests/contract/store_backends.h"

#include "adapters/memory/memory_store.h"
#include "adapters/sql/sqlite_reader.h"
#include "adapters/sql/sqlite_store.h"
#include "base/check.h"
#include "tests/support/temporary_folder.h"

namespace lavant::test {
namespace {

class MemoryBackend final : public StoreBackend {
 public:
    ports::Store& store() override { return rows_; }
    ports::Reader& reader() override { return rows_; }
    void reopen() override {}

 private:
    adapters::MemoryStore rows_;
};

class SqliteBackend final : public StoreBackend {
 public:
    SqliteBackend() { open(); }
    ports::Store& store() override { return *store_; }
    ports::Reader& reader() override { return *reader_; }
    void reopen() override {
        reader_.reset();
        store_.reset();
        open();
    }

 private:
    void open() {
        auto store = adapters::SqliteStore::open(folder_ / "lavant.db");
        CHECK(store.has_value(), "the database opens");
        store_ = std::move(*store);
        auto reader = adapters::SqliteReader::open(folder_ / "lavant.db");
        CHECK(reader.has_value(), "the database can be read");
        reader_ = std::move(*reader);
    }
    TemporaryFolder folder_;
    std::unique_ptr<adapters::SqliteStore> store_;
    std::unique_ptr<adapters::SqliteReader> reader_;
};

}  // namespace

std::vector<BackendKind> backends() {
    return {{"Memory", [] { return std::make_unique<MemoryBackend>(); }},
            {"Sqlite", [] { return std::make_unique<SqliteBackend>(); }}};
}

}  // namespace lavant::test
