-- What happens beside a change of status, encoded; NULL where nothing does.
ALTER TABLE job ADD COLUMN hooks BLOB;

-- Which assets a job read (role 0) and made (role 1).
CREATE TABLE lineage (
    job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    role INTEGER NOT NULL,
    port TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    workspace TEXT NOT NULL,
    PRIMARY KEY (job, role, port, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_asset ON lineage (workspace, kind, name, version, job);
