-- Clusters, quotas, locks, the ledger. What a pool or a job was made with is one encoded column, as elsewhere.
ALTER TABLE job ADD COLUMN demand BLOB;
ALTER TABLE job ADD COLUMN preemptions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN port INTEGER NOT NULL DEFAULT 0;
ALTER TABLE job ADD COLUMN queue_warning TEXT NOT NULL DEFAULT '';
ALTER TABLE task ADD COLUMN assigned_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE task ADD COLUMN gpus TEXT NOT NULL DEFAULT '';
ALTER TABLE node ADD COLUMN gpus TEXT NOT NULL DEFAULT '';
ALTER TABLE node ADD COLUMN cost_cpu_millis INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN cost_memory_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE node ADD COLUMN cost_gpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pool ADD COLUMN terms BLOB;
ALTER TABLE pool ADD COLUMN leaving INTEGER NOT NULL DEFAULT 0;

-- Of tasks and nodes that were there before.
UPDATE task SET assigned_at = (SELECT ifnull(job.started_at, job.submitted_at) FROM job WHERE job.id = task.job);
UPDATE node SET cost_cpu_millis = (SELECT pool.cpu_millis FROM pool WHERE pool.id = node.pool),
    cost_memory_bytes = (SELECT pool.memory_bytes FROM pool WHERE pool.id = node.pool),
    cost_gpus = (SELECT pool.gpus FROM pool WHERE pool.id = node.pool);

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
