#include "adapters/sql/schema.h"

#include <string>

namespace lavant::sql {
namespace {

constexpr std::int64_t kApplication = 0x4c61'766e;  // "Lavn", as file(1) and others see it

Result<void> check_is_ours(Database& database) {
    LAVANT_TRY(const std::int64_t application, database.query_integer("PRAGMA application_id"));
    if (application == kApplication) return {};
    LAVANT_TRY(const std::int64_t tables, database.query_integer("SELECT count(*) FROM sqlite_schema"));
    if (application == 0 && tables == 0) return {};
    return fail(ErrorCode::InvalidArgument,
                "cannot use '" + database.path() +
                    "': it is another program's database; name a different data folder");
}

}  // namespace

Result<void> migrate(Database& database, std::span<const Migration> steps) {
    LAVANT_TRY_VOID(check_is_ours(database));
    LAVANT_TRY(const std::int64_t reached, database.query_integer("PRAGMA user_version"));
    const auto newest = static_cast<std::int64_t>(steps.size());
    if (reached > newest)
        return fail(ErrorCode::InvalidArgument,
                    "cannot open database '" + database.path() +
                        "': a newer version of lavant wrote it (schema " + std::to_string(reached) +
                        ", this one knows " + std::to_string(newest) +
                        "); run that version, or restore a backup from before the upgrade");
    for (std::int64_t next = reached; next < newest; ++next) {
        const Migration& step = steps[static_cast<std::size_t>(next)];
        LAVANT_TRY(Transaction transaction, Transaction::begin_writing(database));
        LAVANT_TRY_VOID(database.execute(step.script).map_error(in("migration " + std::string(step.name))));
        LAVANT_TRY_VOID(database.execute("PRAGMA application_id = " + std::to_string(kApplication) +
                                         "; PRAGMA user_version = " + std::to_string(next + 1)));
        LAVANT_TRY_VOID(transaction.commit());
    }
    return {};
}

}  // namespace lavant::sql
