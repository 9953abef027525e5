-- Jobs, tasks, nodes, pools, assets, history and the outbox. Times are microseconds since 1970 in UTC; statuses,
-- states and phases are the numbers of the enums in core/model; blobs are encoded by wire/messages.h, and NULL
-- where they hold their default.

-- What changes while a job lives. Big and fixed columns lie in job_body, so that a change rewrites little.
CREATE TABLE job (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    status INTEGER NOT NULL,
    pool INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    retries_used INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    cancel_requested_at INTEGER,
    canceled_by TEXT NOT NULL,
    error BLOB,
    cpu_micros INTEGER NOT NULL,
    memory_peak_bytes INTEGER NOT NULL,
    wall_micros INTEGER NOT NULL,
    warning TEXT NOT NULL,
    archived INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    experiment TEXT NOT NULL,
    instances INTEGER NOT NULL,
    retry BLOB,
    submitted_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX job_name ON job (workspace, name);
CREATE INDEX job_listing ON job (workspace, archived, id);
CREATE INDEX job_status ON job (status, workspace, id);
CREATE INDEX job_experiment ON job (workspace, experiment, id);

CREATE TABLE job_body (
    job INTEGER PRIMARY KEY REFERENCES job (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    created_by TEXT NOT NULL,
    display_name TEXT NOT NULL,
    description TEXT NOT NULL,
    properties TEXT NOT NULL,
    launch BLOB NOT NULL
) STRICT;

CREATE TABLE job_tag (
    job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    workspace TEXT NOT NULL,
    PRIMARY KEY (job, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_tag_lookup ON job_tag (workspace, key, value, job);

CREATE TABLE task (
    job INTEGER NOT NULL REFERENCES job (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    node_index INTEGER NOT NULL,
    version INTEGER NOT NULL,
    node INTEGER NOT NULL,
    phase INTEGER NOT NULL,
    task_end BLOB,
    PRIMARY KEY (job, attempt, node_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE node (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    pool INTEGER NOT NULL,
    state INTEGER NOT NULL,
    enrolled INTEGER NOT NULL,
    boot TEXT NOT NULL,
    protections TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    idle_since INTEGER,
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX node_here ON node (id) WHERE state < 5;

CREATE TABLE pool (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    key TEXT NOT NULL,
    size TEXT NOT NULL,
    cpu_millis INTEGER NOT NULL,
    memory_bytes INTEGER NOT NULL,
    gpus INTEGER NOT NULL,
    nodes_min INTEGER NOT NULL,
    nodes_max INTEGER NOT NULL,
    idle_before_release INTEGER NOT NULL
) STRICT;

CREATE TABLE asset (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    row_version INTEGER NOT NULL,
    body TEXT NOT NULL,
    hash TEXT NOT NULL,
    archived INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    modified_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX asset_key ON asset (workspace, kind, name, version);
CREATE INDEX asset_hash ON asset (workspace, kind, hash, created_at) WHERE hash <> '';
CREATE INDEX asset_listing ON asset (workspace, kind, created_at);

CREATE TABLE event (
    sequence INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    job INTEGER NOT NULL,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX event_job ON event (job) WHERE job > 0;

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    effect BLOB NOT NULL
) STRICT;

-- Numbers are never given out twice: the highest number of a row that is gone is kept here. One row.
CREATE TABLE counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last_job INTEGER NOT NULL,
    last_node INTEGER NOT NULL,
    last_pool INTEGER NOT NULL,
    last_outbox INTEGER NOT NULL,
    last_event INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (1, 0, 0, 0, 0, 0);
CREATE TRIGGER job_gone AFTER DELETE ON job WHEN old.id > (SELECT last_job FROM counter)
    BEGIN UPDATE counter SET last_job = old.id; END;
CREATE TRIGGER node_gone AFTER DELETE ON node WHEN old.id > (SELECT last_node FROM counter)
    BEGIN UPDATE counter SET last_node = old.id; END;
CREATE TRIGGER pool_gone AFTER DELETE ON pool WHEN old.id > (SELECT last_pool FROM counter)
    BEGIN UPDATE counter SET last_pool = old.id; END;
CREATE TRIGGER outbox_gone AFTER DELETE ON outbox WHEN old.id > (SELECT last_outbox FROM counter)
    BEGIN UPDATE counter SET last_outbox = old.id; END;
CREATE TRIGGER event_gone AFTER DELETE ON event WHEN old.sequence > (SELECT last_event FROM counter)
    BEGIN UPDATE counter SET last_event = old.sequence; END;

CREATE TABLE setting (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
