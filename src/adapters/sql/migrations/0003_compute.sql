-- Clusters, quotas, locks, the ledger. What a pool or a job was made with is one encoded column, as elsewhere.
ALTER TABLE job ADD COLUMN demand BLOB;
ALTER TABLE job ADD COLUMN preemptions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN port INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN queue_warning TEXT NOT NULL DEFAULT '';
ALTER TABLE task ADD COLUMN assigned_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN gpus TEXT NOT NULL DEFAULT '';
ALTER TABLE node ADD COLUMN gpus TEXT NOT NULL DEFAULT '';
ALTER TABLE pool ADD COLUMN terms BLOB;
ALTER TABLE pool ADD COLUMN leaving INTEGER NOT NULL DEFAULT 0;

-- Nodes that are gone have no row any more.
DELETE FROM node WHERE state >= 5;

CREATE TABLE quota (
    location TEXT NOT NULL,
    family TEXT NOT NULL,
    tier INTEGER NOT NULL,
    level INTEGER NOT NULL,
    cores INTEGER NOT NULL,
    PRIMARY KEY (location, family, tier, level)
) STRICT, WITHOUT ROWID;

CREATE TABLE lock (
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    level INTEGER NOT NULL,
    notes TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    id INTEGER PRIMARY KEY,
    ended_at INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    user TEXT NOT NULL,
    job TEXT NOT NULL,
    compute TEXT NOT NULL,
    size TEXT NOT NULL,
    tier TEXT NOT NULL,
    node INTEGER NOT NULL,
    node_micros INTEGER NOT NULL,
    price_micros INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_time ON usage (ended_at);
