#pragma once
// The writer's side of the SQLite database: one connection, one transaction per batch, durable when commit
// returns.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/spare_room.h"
#include "ports/store.h"

namespace lavant::sql {
class Database;
}

namespace lavant::adapters {

class SqliteStore final : public ports::Store {
 public:
    // Makes the file (mode 0600) if it is absent and brings it to the newest schema. `vfs` names a registered
    // SQLite VFS, for tests that cut the power.
    [[nodiscard]] static Result<std::unique_ptr<SqliteStore>> open(const std::string& path,
                                                                   const char* vfs = nullptr);
    ~SqliteStore() override;
    // Gives way when the disk is full, so that ends and cancels can still be stored. Outlives the store.
    void use_spare(SpareRoom& spare) { spare_ = &spare; }

    [[nodiscard]] Result<LiveRows> load_live() override;
    [[nodiscard]] Result<std::vector<bool>> commit(const WriteBatch& batch) override;
    [[nodiscard]] Result<std::optional<Job>> find_job(const std::string& workspace,
                                                      const std::string& name) override;
    [[nodiscard]] Result<std::string> load_launch(JobId job) override;
    [[nodiscard]] Result<bool> tidy(std::int64_t events_kept) override;

 private:
    explicit SqliteStore(std::unique_ptr<sql::Database> database);
    Result<std::vector<bool>> write(const WriteBatch& batch);

    std::unique_ptr<sql::Database> database_;
    SpareRoom* spare_ = nullptr;
};

}  // namespace lavant::adapters
