#include "adapters/sql/lineage_rows.h"

#include <algorithm>

#include "adapters/sql/rows.h"

namespace lavant::sql {
namespace {

LineageEdge read_edge(Run& row) {
    LineageEdge edge;
    edge.job = JobId{row.read_integer()};
    edge.job_name = row.read_text();
    edge.workspace = row.read_text();
    edge.role = row.read_enum(LineageRole::Output);
    edge.port = row.read_text();
    edge.kind = row.read_text();
    edge.name = row.read_text();
    edge.version = row.read_text();
    return edge;
}

}  // namespace

Result<void> write_lineage(Database& database, const WriteBatch& batch) {
    static constexpr const char* kPut =
        "INSERT INTO lineage (job, role, port, kind, name, version, workspace) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (job, role, port, kind) DO UPDATE SET name = excluded.name, version = excluded.version";
    for (const LineageEdge& edge : batch.lineage) {
        Run run(database.constant(kPut));
        run.integer(edge.job.value).integer(static_cast<int>(edge.role)).text(edge.port).text(edge.kind);
        LAVANT_TRY_VOID(run.text(edge.name).text(edge.version).text(edge.workspace).execute());
    }
    return {};
}

Result<std::vector<LineageEdge>> list_lineage(Database& database, const ports::LineageQuery& query) {
    const bool by_job = !query.job.empty();
    const bool any_version = query.version.empty();
    Run run(
        database.shaped(std::string("SELECT lineage.job, job.name, lineage.workspace, lineage.role, "
                                    "lineage.port, lineage.kind, lineage.name, "
                                    "lineage.version FROM lineage JOIN job ON job.id = lineage.job") +
                        (by_job ? " WHERE job.workspace = ? AND job.name = ?"
                                : " WHERE lineage.workspace = ? AND lineage.kind = ? AND lineage.name = ?") +
                        (by_job || any_version ? "" : " AND lineage.version = ?") +
                        " ORDER BY lineage.job DESC, lineage.role, lineage.port, lineage.kind LIMIT ?"));
    run.text(query.workspace);
    by_job ? run.text(query.job) : run.text(query.kind).text(query.name);
    if (!by_job && !any_version) run.text(query.version);
    run.integer(std::clamp(query.limit, 0, ports::kRowsPerQuery));
    return read_all<LineageEdge>(run, &read_edge, "lineage");
}

Result<void> remove_workspaces(Database& database, const WriteBatch& batch) {
    static constexpr const char* kJobs = "DELETE FROM job WHERE workspace = ?";
    static constexpr const char* kAssets = "DELETE FROM asset WHERE workspace = ?";
    for (const std::string& workspace : batch.workspaces_removed) {
        LAVANT_TRY_VOID(Run(database.constant(kJobs)).text(workspace).execute());
        LAVANT_TRY_VOID(Run(database.constant(kAssets)).text(workspace).execute());
    }
    return {};
}

}  // namespace lavant::sql
