"""The file list and hash of a code folder equal those of azure-ai-ml, on many random trees."""
import hashlib
import json
import os
import random
import warnings

import pytest
from conftest import clean_environment, run

warnings.simplefilter("ignore")
sdk = pytest.importorskip("azure.ai.ml._utils._asset_utils", reason="azure-ai-ml is not installed")

NAMES = ["a", "A", "b.py", "data", "Data", "x y", "ümlaut", "Ärger", "日本", "#hash", "!bang", "[x]", "a.b.c", "_", "-", "Z",
         "node_modules", "keep", "build", ".hidden", ".git", "*star", "q?", "back\\slash", "tab", "éa", "Éb", "Ωmega", "ωm"]
PATTERNS = ["a", "A", "*", "*.py", "data/", "/data", "data/*", "**/keep", "keep/**", "a/**/b.py", "**", "**/", "!keep", "!*.py",
            "!data/", "[ab]", "[!a]*", "[a-z]", "x y", "  x y  ", "ümlaut", "?", "??", "#comment", "\\#hash", "\\!bang", "",
            "   ", "/", "//", "build/**/x", "*/a", "/*/a", "data/**/**/a", ".*", "!.hidden", "a/b.py", "*[!a]", "[]x]", "[",
            "[x", "\\[x]", "\\*star", "node_modules/", "[^a]", "[!/]", "*/", "/**", "a//b", "Ä*", "[à-ÿ]a", "*\\\\*"]


def make_tree(folder, random_, depth=0):
    for name in random_.sample(NAMES, random_.randint(1, 7 if depth == 0 else 4)):
        path = folder / name
        kind = random_.random()
        if kind < 0.35 and depth < 3:
            path.mkdir()
            make_tree(path, random_, depth + 1)
        else:
            path.write_bytes(random_.randbytes(random_.choice([0, 1, 10, 5000])))


def add_links(folder, random_):
    files = [p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()]
    folders = [p for p in folder.iterdir() if p.is_dir() and not p.is_symlink()]
    if files and random_.random() < 0.5:
        (folder / "link_to_file").symlink_to(random_.choice(files))
    if folders and random_.random() < 0.5:
        (folder / "link_to_folder").symlink_to(random_.choice(folders).name)


def sdk_hash(folder):
    return sdk.get_content_hash(folder, sdk.get_ignore_file(folder))


def our_hash(folder, job):
    result = run("job", "validate", "-f", job, "-o", "json", env=clean_environment())
    if result.returncode != 0:
        return result.stderr
    return json.loads(result.stdout)["code"]["sha256"]


@pytest.mark.parametrize("seed", range(int(os.environ.get("LAVANT_HASH_TREES", "150"))))
def test_same_hash_as_the_sdk(seed, tmp_path):
    random_ = random.Random(seed)
    folder = tmp_path / "src"
    folder.mkdir()
    make_tree(folder, random_)
    add_links(folder, random_)
    for name in (".amlignore", ".gitignore"):
        if random_.random() < 0.5:
            lines = random_.sample(PATTERNS, random_.randint(0, 5))
            (folder / name).write_bytes(random_.choice(["\n", "\r\n", "\r"]).join(lines).encode())
    job = tmp_path / "job.yml"
    job.write_text(json.dumps({"command": "true", "environment": "azureml:base:1", "code": "src"}))
    try:
        expected = sdk_hash(folder)
    except Exception as error:  # A pattern the SDK cannot read is refused by us too.
        assert "cannot use" in our_hash(folder, job), error
        return
    if expected == hashlib.sha256().hexdigest() or not sdk.get_upload_files_from_folder(
            folder, ignore_file=sdk.get_ignore_file(folder)):
        assert "there is no file in" in our_hash(folder, job)  # Nothing to send is a slip; the SDK refuses it, too.
        return
    assert our_hash(folder, job) == expected, sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))


def test_a_folder_sent_by_one_client_is_found_by_the_other(server, write_job):
    job = write_job("true", code={"a.py": "shared between clients\n", "pkg/b.py": "", ".amlignore": "*.log\n", "x.log": "no"})
    result = server.cli("job", "create", "-f", job, "--stream")
    assert result.returncode == 0, result.stderr
    import requests
    listed = requests.get(
        f"{server.url}/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/"
        "Microsoft.MachineLearningServices/workspaces/default/codes/any/versions",
        params={"hash": sdk_hash(job.parent / "src"), "hashVersion": "202208", "api-version": "2023-04-01"},
        headers={"Authorization": f"Bearer {server.key}"}, verify=server.ca, timeout=60)
    assert listed.status_code == 200 and len(listed.json()["value"]) == 1, listed.text
