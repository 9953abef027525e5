#include "adapters/sql/copy.h"

#include "adapters/sql/database.h"
#include "adapters/sql/schema.h"

namespace lavant::adapters {

Result<void> copy_database(const std::string& from, const std::string& to) {
    // Not read only: such a connection writes no other file either. This one writes nothing to `from`.
    LAVANT_TRY(const auto database, sql::Database::open({.path = from}));
    sql::Run run(database->shaped("VACUUM INTO ?"));
    LAVANT_TRY_VOID(run.text(to).execute());
    return {};
}

Result<void> check_database(const std::string& path) {
    LAVANT_TRY(const auto database, sql::Database::open({.path = path}));
    LAVANT_TRY_VOID(sql::migrate(*database, sql::migrations()));
    sql::Run run(database->shaped("PRAGMA integrity_check"));
    LAVANT_TRY(const bool row, run.step());
    const std::string said = row ? run.read_text() : "no answer";
    if (said != "ok")
        return fail(ErrorCode::InvalidArgument, "the database '" + path + "' is damaged: " + said);
    LAVANT_TRY(const std::int64_t application, database->query_integer("PRAGMA application_id"));
    LAVANT_TRY(const std::int64_t jobs, database->query_integer("SELECT count(*) FROM job"));
    if (application == 0 || jobs < 0)
        return fail(ErrorCode::InvalidArgument, "'" + path + "' is no database of lavant");
    return {};
}

}  // namespace lavant::adapters
