"""A stand-in for the server with FastAPI and SQLite, for `PUT job` and `GET job`; the same work as ../go/main.go.

    peer.py DATABASE CERTIFICATE KEY      prints its address
"""
import hashlib
import json
import re
import socket
import sqlite3
import sys
import threading
import time

import uvicorn
from fastapi import FastAPI, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field

WORKSPACE = "default"
PATTERN = "/subscriptions/{s}/resourceGroups/{g}/providers/Microsoft.MachineLearningServices/workspaces/{w}/jobs/{name}"
PLAIN = re.compile(r"^[A-Za-z0-9_-]{1,255}$")
app = FastAPI()
known, local, writing = {}, threading.local(), threading.Lock()
origin = ""


class Resources(BaseModel):
    model_config = ConfigDict(extra="allow")
    instanceCount: int = Field(1, ge=1)


class Properties(BaseModel):
    model_config = ConfigDict(extra="allow")
    jobType: str
    command: str = Field(min_length=1)
    environmentId: str = Field(min_length=1)
    experimentName: str = "Default"
    displayName: str = ""
    description: str = ""
    tags: dict[str, str] = {}
    isArchived: bool = False
    resources: Resources = Resources()


class Body(BaseModel):
    properties: Properties


def database():
    if not hasattr(local, "one"):
        local.one = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None)
        local.one.execute("PRAGMA journal_mode = WAL")
        local.one.execute("PRAGMA synchronous = FULL")
        local.one.execute("PRAGMA foreign_keys = ON")
    return local.one


def check(request, writes):
    header = request.headers.get("authorization", "")
    digest = hashlib.sha256(header.removeprefix("Bearer ").encode()).hexdigest()
    if digest not in known:
        row = database().execute("SELECT body FROM asset WHERE hash = ?", (digest,)).fetchone()
        if row is None:
            raise HTTPException(401, "this needs a credential")
        known[digest] = json.loads(row[0])
    if writes and known[digest]["role"] == "reader":
        raise HTTPException(403, "this needs the role contributor")
    return known[digest]["user"]


def render(path, name, row, status):
    submitted, instances, archived, created_by, display, stored, tags = row
    created = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(submitted / 1e6)) + f".{submitted % 1_000_000:06d}Z"
    properties = {"status": "Queued", "displayName": display, "tags": tags, "isArchived": bool(archived),
                  "lavant": {"attempt": 1, "instances": instances, "submittedAt": created}, **json.loads(stored),
                  "services": {"Studio": {"jobServiceType": "Studio", "endpoint": f"{origin}/studio?job={name}"}}}
    body = {"id": path, "name": name, "type": "Microsoft.MachineLearningServices/workspaces/jobs",
            "systemData": {"createdAt": created, "createdBy": created_by, "createdByType": "User", "lastModifiedAt": created},
            "properties": properties}
    return Response(json.dumps(body), status, media_type="application/json")


@app.put(PATTERN)
def put(name: str, body: Body, request: Request):
    user = check(request, True)
    given = body.properties
    if not PLAIN.match(name) or given.jobType != "Command":
        raise HTTPException(400, "the job is not valid")
    stored = {"properties": {}, "inputs": {}, "outputs": {}, "environmentVariables": {}, "services": {},
              **given.model_dump(exclude={"tags", "displayName", "description", "isArchived"})}
    kept, now = json.dumps(stored), time.time_ns() // 1000
    launch = json.dumps({"workspace": WORKSPACE, "job_name": name, "command": given.command, "user": user,
                         "environment": given.environmentId, "experiment_name": given.experimentName}).encode()
    with writing:
        rows = database()
        rows.execute("BEGIN IMMEDIATE")
        try:
            job = rows.execute("INSERT INTO job (version, status, pool, priority, attempt, retries_used, canceled_by, cpu_micros,"
                               " memory_peak_bytes, wall_micros, warning, workspace, name, experiment, instances, submitted_at, archived)"
                               " VALUES (1, 0, 0, 0, 1, 0, '', 0, 0, 0, '', ?, ?, ?, ?, ?, ?)",
                               (WORKSPACE, name, given.experimentName, given.resources.instanceCount, now, given.isArchived)).lastrowid
            rows.execute("INSERT INTO job_body (job, kind, created_by, display_name, description, properties, launch)"
                         " VALUES (?, 'command', ?, ?, ?, ?, ?)", (job, user, given.displayName or name, given.description, kept, launch))
            rows.executemany("INSERT INTO job_tag (job, key, value, workspace) VALUES (?, ?, ?, ?)",
                             [(job, key, value, WORKSPACE) for key, value in given.tags.items()])
            rows.executemany("INSERT INTO event (at, job, workspace, kind, subject, what, detail) VALUES (?, ?, ?, 'job', ?, ?, '')",
                             [(now, job, WORKSPACE, name, what) for what in ("Submitted", "Queued")])
            rows.execute("COMMIT")
        except sqlite3.Error as why:
            rows.execute("ROLLBACK")
            raise HTTPException(409, str(why)) from why
    return render(request.url.path, name, (now, given.resources.instanceCount, given.isArchived, user, given.displayName or name,
                                           kept, given.tags), 201)


@app.get(PATTERN)
def get(name: str, request: Request):
    check(request, False)
    row = database().execute("SELECT j.submitted_at, j.instances, j.archived, b.created_by, b.display_name, b.properties,"
                             " (SELECT json_group_object(key, value) FROM job_tag t WHERE t.job = j.id)"
                             " FROM job j JOIN job_body b ON b.job = j.id WHERE j.workspace = ? AND j.name = ?", (WORKSPACE, name)).fetchone()
    if row is None:
        raise HTTPException(404, f"there is no job '{name}'")
    return render(request.url.path, name, (*row[:6], json.loads(row[6])), 200)


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    origin = f"https://127.0.0.1:{listener.getsockname()[1]}"
    print(origin, flush=True)
    uvicorn.Server(uvicorn.Config(app, ssl_certfile=sys.argv[2], ssl_keyfile=sys.argv[3], log_level="error", access_log=False)).run(
        sockets=[listener])
