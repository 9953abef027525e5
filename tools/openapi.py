#!/usr/bin/env python3
"""Writes protocol/openapi.json: the routes come from the router, what it cannot know from the tables below.

Usage: tools/openapi.py [--tests build/dev/src/api/test_api] [--check]
The test program prints the routes (src/api/openapi_test.cpp) and fails where the file does not fit them. A new route gets
an entry by itself; a row in RULES says what it takes. --check writes nothing and ends with 1 where the file is not what
this would write.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "protocol/openapi.json"
BUILDS = ("dev", "asan", "tsan", "release")

TEXT = {"type": "string"}
WHOLE = {"type": "integer", "minimum": 0}
FLAG = {"type": "boolean"}
MAP = {"type": "object", "additionalProperties": {"type": "string"}}


def one_of(*values):
    return {"type": "string", "enum": list(values)}


def resource(properties, required=(), **more):
    """An ARM body: what counts lies below `properties`."""
    inner = {"type": "object", "properties": properties}
    if required:
        inner["required"] = list(required)
    return {"type": "object", "required": ["properties"], "properties": {"properties": inner, "tags": MAP, **more}}


def plain(properties, required=()):
    made = {"type": "object", "properties": properties}
    if required:
        made["required"] = list(required)
    return made


ASSET = {"description": TEXT, "tags": MAP, "properties": MAP, "isArchived": FLAG, "isAnonymous": FLAG}
SCHEMAS = {
    "Error": plain({"error": plain({"code": TEXT, "message": TEXT, "details": {"type": "array", "items": {"type": "object"}}},
                                   ["code", "message"])}, ["error"]),
    "Resource": plain({"id": TEXT, "name": TEXT, "type": TEXT, "properties": {"type": "object"}, "systemData": {"type": "object"}}),
    "Page": plain({"value": {"type": "array", "items": {"type": "object"}}, "nextLink": TEXT}, ["value"]),
    "Job": resource({"jobType": one_of("Command", "Pipeline", "Sweep", "AutoML", "Spark", "FineTuning", "Labeling"),
                     "command": TEXT, "environmentId": TEXT, "codeId": TEXT, "computeId": TEXT, "experimentName": TEXT,
                     "displayName": TEXT, "description": TEXT, "tags": MAP, "properties": MAP, "isArchived": FLAG,
                     "environmentVariables": MAP, "inputs": {"type": "object"}, "outputs": {"type": "object"},
                     "resources": plain({"instanceCount": WHOLE, "instanceType": TEXT, "shmSize": TEXT}),
                     "limits": plain({"jobLimitsType": TEXT, "timeout": TEXT}), "distribution": {"type": "object"},
                     "services": {"type": "object"}, "jobs": {"type": "object"}}, ["jobType"]),
    "Compute": resource({"computeType": one_of("AmlCompute", "ComputeInstance", "VirtualMachine", "Kubernetes", "SynapseSpark"),
                         "properties": plain({"vmSize": TEXT, "vmPriority": one_of("Dedicated", "LowPriority"),
                                              "scaleSettings": plain({"minNodeCount": WHOLE, "maxNodeCount": WHOLE,
                                                                      "nodeIdleTimeBeforeScaleDown": TEXT})})},
                        ["computeType"], location=TEXT),
    "CodeVersion": resource({**ASSET, "codeUri": TEXT}),
    "EnvironmentVersion": resource({**ASSET, "image": TEXT, "condaFile": TEXT, "build": {"type": "object"}, "osType": TEXT}),
    "DataVersion": resource({**ASSET, "dataType": one_of("uri_file", "uri_folder", "mltable"), "dataUri": TEXT}, ["dataType"]),
    "ModelVersion": resource({**ASSET, "modelType": TEXT, "modelUri": TEXT, "flavors": {"type": "object"}}),
    "ComponentVersion": resource({**ASSET, "componentSpec": {"type": "object"}}, ["componentSpec"]),
    "AssetContainer": resource(ASSET),
    "Schedule": resource({"displayName": TEXT, "isEnabled": FLAG, "trigger": {"type": "object"}, "action": {"type": "object"}}),
    "Trigger": plain({"scheduleTime": TEXT}),
    "Datastore": resource({"datastoreType": TEXT, "accountName": TEXT, "containerName": TEXT, "credentials": {"type": "object"}}),
    "Workspace": resource({"friendlyName": TEXT, "description": TEXT}, location=TEXT),
    "Lock": resource({"level": one_of("CanNotDelete", "ReadOnly"), "notes": TEXT}, ["level"]),
    "PendingUpload": plain({"pendingUploadId": TEXT, "pendingUploadType": TEXT}),
    "Secrets": plain({"expireAfterHours": WHOLE}),
    "Run": plain({"displayName": TEXT, "description": TEXT, "tags": MAP, "properties": MAP, "hidden": FLAG}),
    "RunData": plain({"runId": TEXT, "selectRunMetadata": FLAG}),
    "Uris": plain({"values": {"type": "array", "items": TEXT}}),
    "Quotas": plain({"location": TEXT, "value": {"type": "array", "items": plain({"id": TEXT, "limit": WHOLE, "unit": TEXT})}}),
    "Quota": plain({"family": TEXT, "user": TEXT, "workspace": TEXT, "limit": WHOLE}),
    "Size": plain({"family": TEXT, "vcpus": WHOLE, "memoryGb": {"type": "number"}, "gpus": WHOLE}),
    "Key": plain({"user": TEXT, "role": one_of("none", "reader", "contributor", "owner"), "label": TEXT, "expiresAt": TEXT,
                  "requestsPerSecond": WHOLE, "uploadMibPerSecond": WHOLE, "bodyMib": WHOLE}, ["user"]),
    "Principal": plain({"displayName": TEXT}),
    "RoleAssignment": plain({"principal": TEXT, "role": one_of("reader", "contributor", "owner"),
                             "data": one_of("none", "read", "write"), "resource": TEXT}, ["principal"]),
    "DeviceCode": plain({"code": TEXT}, ["code"]),
    "Anything": {"type": "object"},
}

PAGING = {"$top": WHOLE, "$skip": TEXT, "listViewType": one_of("ActiveOnly", "ArchivedOnly", "All")}
BLOB = {"comp": one_of("block", "blocklist", "metadata", "list", "properties"), "blockid": TEXT, "restype": one_of("container"),
        "blocklisttype": one_of("committed", "uncommitted", "all")}
LISTING = {"restype": one_of("container"), "comp": one_of("list"), "prefix": TEXT, "delimiter": TEXT, "marker": TEXT,
           "maxresults": WHOLE, "include": TEXT}
ACCOUNT = {"by": one_of("user", "compute", "family", "job", "experiment"), "top": WHOLE, "from": TEXT, "to": TEXT}

# (methods, end of the path as a regular expression, query, body): the first that fits.
RULES = [
    ("PUT", r"/jobs/{name}", {}, "Job"),
    ("POST", r"/jobs/{name}/(cancel|\w+)", {}, None),
    ("GET", r"workspaces/{workspace}/jobs", {**PAGING, "jobType": TEXT, "tag": TEXT, "tags": TEXT, "experimentName": TEXT,
                                              "status": TEXT, "$orderBy": TEXT}, None),
    ("PUT,PATCH,POST", r"/computes/{name}(/validate)?", {}, "Compute"),
    ("DELETE", r"/computes/{name}", {"underlyingResourceAction": one_of("Delete", "Detach")}, None),
    ("GET", r"workspaces/{workspace}/computes", {"$skip": TEXT, "computeType": TEXT}, None),
    ("POST", r"/startPendingUpload", {}, "PendingUpload"),
    ("GET", r"/(codes|environments|data|models|components)(/{name}/versions)?", {**PAGING, "hash": TEXT, "hashVersion": TEXT,
                                                                               "$orderBy": TEXT, "tags": TEXT, "properties": TEXT,
                                                                               "stage": TEXT}, None),
    ("GET", r"/schedules", {**PAGING, "listViewType": one_of("EnabledOnly", "DisabledOnly", "All")}, None),
    ("POST", r"/schedules/{name}/trigger", {}, "Trigger"),
    ("PUT", r"/codes/{name}/versions/{version}", {}, "CodeVersion"),
    ("PUT", r"/environments/{name}/versions/{version}", {}, "EnvironmentVersion"),
    ("PUT", r"/data/{name}/versions/{version}", {}, "DataVersion"),
    ("PUT", r"/models/{name}/versions/{version}", {}, "ModelVersion"),
    ("PUT", r"/components/{name}/versions/{version}", {}, "ComponentVersion"),
    ("PUT,PATCH", r"/(codes|environments|data|models|components)/{name}", {}, "AssetContainer"),
    ("PUT,PATCH", r"/schedules/{name}", {}, "Schedule"),
    ("PUT,PATCH", r"/datastores/{name}", {"skipValidation": FLAG}, "Datastore"),
    ("GET", r"/datastores", {"isDefault": FLAG, "count": WHOLE, "$skip": TEXT}, None),
    ("POST", r"/listSecrets", {}, "Secrets"),
    ("PUT,PATCH", r"(workspaces/{workspace}|/lavant/v1/workspaces?(/{name})?)", {}, "Workspace"),
    ("GET", r"/workspaces", {"kind": TEXT}, None),
    ("PUT", r"/locks/{lock}", {}, "Lock"),
    ("GET", r"/locks", {"$filter": TEXT}, None),
    ("PATCH,POST", r"/runs/{name}", {}, "Run"),
    ("POST", r"/rundata", {}, "RunData"),
    ("POST", r"/batchGetResolvedUris", {}, "Uris"),
    ("POST", r"/updateQuotas", {}, "Quotas"),
    ("PUT,POST", r"/lavant/v1/quotas.*", {}, "Quota"),
    ("GET", r"/lavant/v1/quotas.*", {"location": TEXT, "family": TEXT, "status": TEXT}, None),
    ("PUT", r"/lavant/v1/sizes/{name}", {}, "Size"),
    ("POST,PUT,PATCH", r"/lavant/v1/keys.*", {}, "Key"),
    ("PUT", r"/lavant/v1/(users|groups|service-principals)/{name}", {}, "Principal"),
    ("POST", r"/role-assignments", {}, "RoleAssignment"),
    ("GET", r"/role-assignments", {"principal": TEXT}, None),
    ("POST", r"/device-logins/\w+", {}, "DeviceCode"),
    ("GET", r"/lavant/v1/audit", {"user": TEXT, "key": TEXT, "method": TEXT, "workspace": TEXT, "path": TEXT, "status": TEXT,
                                  "since": TEXT, "until": TEXT, "limit": WHOLE, "position": TEXT}, None),
    ("GET", r"/lavant/v1/jobs", {"prefix": TEXT, "mine": FLAG, "limit": WHOLE}, None),
    ("GET", r"/wait", {"timeout_s": WHOLE}, None),
    ("GET", r"/events", {"after": WHOLE}, None),
    ("GET", r"/lavant/v1/jobs/{name}/logs", {"file": TEXT, "offset": WHOLE, "follow": FLAG}, None),
    ("GET", r"/lavant/v1/usage", ACCOUNT, None),
    ("GET", r"/msi/token", {"resource": TEXT, "api-version": TEXT}, None),
    ("GET", r"/studio", {"job": TEXT}, None),
    ("POST", r"/oauth2/.*", {}, "form"),
    ("GET,HEAD,PUT,DELETE", r"/storage/.*{container}", LISTING, None),
    ("PUT", r"/storage/.*{blob}", BLOB, "bytes"),
    ("GET,HEAD,DELETE,POST", r"/storage/.*{blob}", BLOB, None),
    ("PUT,PATCH,POST", r".*", {}, "Anything"),
]
SAS = ("sv", "sp", "sr", "st", "se", "sig", "spr", "sip", "skoid")
# Answers that go on until the client leaves or the job ends.
STREAMS = r"/(events|wait|logs)$"


def part_of(path):
    if path.startswith("/storage/"):
        return "storage"
    if path.startswith(("/history/", "/data/", "/logs/")):
        return "history"
    if path.startswith("/lavant/"):
        return "own"
    return "arm" if path.startswith("/subscriptions") else "bootstrap"


def rule_for(method, path):
    for methods, end, query, body in RULES:
        if method in methods.split(",") and re.search(f"(?:{end})$", path):
            return query, body
    return {}, None


def operation(method, path, need, takes_rest):
    query, body = rule_for(method, path)
    part = part_of(path)
    if part in ("arm", "history"):
        query = {"api-version": TEXT, **query}
    parameters = []
    for name in re.findall(r"{(\w+)}", path):
        parameters.append({"name": name, "in": "path", "required": True, "schema": TEXT})
        if takes_rest and path.endswith("{" + name + "}"):
            parameters[-1]["x-lavant-rest"] = True  # slashes and all
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in query.items()]
    words = [word for word in re.sub(r"[{}]", "", path).split("/") if word and not word.startswith("Microsoft.")]
    kind = "application/xml" if part == "storage" else "application/json"
    failure = {"content": {kind: {"schema": TEXT if part == "storage" else {"$ref": "#/components/schemas/Error"}}},
               "description": "What is wrong, with a code and a sentence"}
    made = {"operationId": method.lower() + "_" + "_".join(re.sub(r"\W", "_", word) for word in words),
            "tags": [part], "x-lavant-need": need, "parameters": parameters,
            "responses": {"2XX": {"description": "Done, or begun"}, "default": failure}}
    if need == "nothing":
        made["security"] = []
    elif need == "storage":
        made["security"] = [{"sas": []}, {"sharedKey": []}, {"bearer": []}]
    if re.search(STREAMS, path):
        made["x-lavant-stream"] = True
    if body == "bytes":
        made["requestBody"] = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    elif body == "form":
        made["requestBody"] = {"content": {"application/x-www-form-urlencoded": {"schema": MAP}}}
    elif body:
        made["requestBody"] = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{body}"}}}}
    return made


def describe(routes):
    paths = {}
    for method, pattern, need in sorted(routes, key=lambda route: (route[1], route[0])):
        path = pattern.replace("*}", "}")
        paths.setdefault(path, {})[method.lower()] = operation(method, path, need, pattern != path)
    return {
        "openapi": "3.0.3",
        "info": {"title": "Lavant", "version": "1",
                 "description": "Every route of the server but the agents' (agent.md). Written by tools/openapi.py."},
        "servers": [{"url": "https://127.0.0.1:8443"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {
            "bearer": {"type": "http", "scheme": "bearer"},
            "sas": {"type": "apiKey", "in": "query", "name": "sig", "x-lavant-with": list(SAS)},
            "sharedKey": {"type": "apiKey", "in": "header", "name": "Authorization"}}, "schemas": SCHEMAS}}


def routes_of(program):
    with tempfile.NamedTemporaryFile("r") as listed:
        subprocess.run([program, "--gtest_filter=OpenApi.*"], env=dict(os.environ, LAVANT_ROUTES_OUT=listed.name),
                       check=True, stdout=subprocess.DEVNULL)
        return [tuple(line.split()) for line in listed]


def written(description):
    """One line for each operation and schema, so that a changed route is a changed line."""
    marks = {}

    def mark(value):
        marks[f"@{len(marks)}@"] = json.dumps(value)
        return f"@{len(marks) - 1}@"
    paths = {path: {method: mark(one) for method, one in methods.items()} for path, methods in description["paths"].items()}
    components = {kind: {name: mark(one) for name, one in ones.items()} for kind, ones in description["components"].items()}
    text = json.dumps({**description, "paths": paths, "components": components}, indent=1) + "\n"
    return re.sub(r'"(@\d+@)"', lambda found: marks[found.group(1)], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=pathlib.Path, help="the program test_api; the newest that is built")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    built = [path for build in BUILDS if (path := ROOT / f"build/{build}/src/api/test_api").is_file()]
    program = options.tests or max(built, key=lambda path: path.stat().st_mtime, default=None)
    if program is None:
        raise SystemExit("test_api is not built: ninja -C build/dev test_api")
    text = written(describe(routes_of(program)))
    if options.check:
        same = FILE.is_file() and FILE.read_text() == text
        print("protocol/openapi.json is as it should be" if same else "protocol/openapi.json is old: run tools/openapi.py")
        return 0 if same else 1
    FILE.write_text(text)
    print(f"{text.count('operationId')} operations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
