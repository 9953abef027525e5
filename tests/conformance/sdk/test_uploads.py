"""Odd and big uploads: .amlignore, links, unicode, empty files, many files, blocks."""
import hashlib
import os

import pytest
from azure.ai.ml import command
from azure.ai.ml.entities import Data, Model
from flows import completed, fresh, log_of, tree, write_tree

LISTING = "find . -type f -o -type l | sort"


def ran(ml, folder, text=LISTING):
    done = completed(ml, command(command=text, code=str(folder), environment="azureml:base:1"))
    return log_of(done.name)


@pytest.fixture
def round_trip(ml, uniq, tmp_path):
    """What a model's tree is after up and down."""
    def one(folder):
        name = uniq("model")
        ml.models.create_or_update(Model(name=name, path=str(folder), version="1"))
        ml.models.download(name, version="1", download_path=str(tmp_path / "down"))
        got = tree(tmp_path / "down")
        return {path.partition(folder.name + "/")[2] or path: content for path, content in got.items()}
    return one


def test_amlignore(ml, tmp_path):
    log = ran(ml, write_tree(tmp_path / "src", {"main.py": fresh(), "secret.txt": "s", "data/big.bin": "b", "keep/a.txt": "a",
                                                ".amlignore": "secret.txt\ndata/\n*.log\n", "x.log": "l"}))
    assert "./main.py" in log and "./keep/a.txt" in log
    assert "secret.txt" not in log and "big.bin" not in log and "x.log" not in log


def test_gitignore(ml, tmp_path):
    log = ran(ml, write_tree(tmp_path / "src", {"main.py": fresh(), "skip.txt": "s", ".gitignore": "skip.txt\n"}))
    assert "./main.py" in log and "./skip.txt" not in log


def test_amlignore_wins_over_gitignore(ml, tmp_path):
    log = ran(ml, write_tree(tmp_path / "src", {"main.py": fresh(), "a.txt": "", "b.txt": "", ".gitignore": "a.txt\n", ".amlignore": "b.txt\n"}))
    assert "./a.txt" in log and "./b.txt" not in log


def test_links(ml, tmp_path):
    folder = write_tree(tmp_path / "src", {"real/a.txt": fresh("through a link"), "main.py": ""})
    os.symlink(folder / "real", folder / "linked")
    os.symlink(folder / "real" / "a.txt", folder / "one.txt")
    log = ran(ml, folder, LISTING + "; cat one.txt")
    assert "through a link" in log and "./linked/a.txt" in log


def test_unicode_and_odd_names(round_trip, tmp_path):
    files = {"grün.txt": "1", "漢字/文件.txt": "2", "a b.txt": "3", "100%.txt": "4", "hash#1.txt": "5", "plus+and&.txt": "6", "q'uote.txt": "7",
             "semi;colon.txt": "8", "[brackets].txt": "9", "tilde~.txt": fresh(), "comma,.txt": "c", "at@.txt": "@", "dollar$.txt": "$"}
    folder = write_tree(tmp_path / "odd", files)
    assert round_trip(folder) == {name: text.encode() for name, text in files.items()}


def test_code_with_odd_names_runs(ml, tmp_path):
    log = ran(ml, write_tree(tmp_path / "source code", {"main file.py": fresh("print('ran with blanks')"), "ü.py": ""}), "python 'main file.py'; ls")
    assert "ran with blanks" in log and "ü.py" in log


def test_empty_files(round_trip, tmp_path):
    folder = write_tree(tmp_path / "empty", {"__init__.py": "", "a/__init__.py": "", "b.txt": fresh()})
    got = round_trip(folder)
    assert got["__init__.py"] == b"" and got["a/__init__.py"] == b"" and len(got) == 3


def test_a_folder_of_empty_files_only(round_trip, tmp_path):
    assert round_trip(write_tree(tmp_path / "void", {"one": "", "two": ""})) == {"one": b"", "two": b""}


def test_deep_folders(round_trip, tmp_path):
    path = "/".join(["level"] * 12) + "/f.txt"
    assert set(round_trip(write_tree(tmp_path / "deep", {path: fresh()}))) == {path}


@pytest.mark.slow
def test_three_hundred_files(round_trip, tmp_path):
    files = {f"d{i % 7}/f{i}.txt": f"{i} {fresh()}" for i in range(300)}
    assert round_trip(write_tree(tmp_path / "many", files)) == {name: text.encode() for name, text in files.items()}


@pytest.mark.parametrize("size", [1, 4 << 20, (4 << 20) + 1, 33 << 20])
def test_sizes(round_trip, tmp_path, size):
    content = os.urandom(min(size, 1 << 20)) * (size // (1 << 20) or 1) + b"x" * (size % (1 << 20) if size > (1 << 20) else 0)
    got = round_trip(write_tree(tmp_path / "sized", {"f.bin": content}))
    assert hashlib.sha256(got["f.bin"]).digest() == hashlib.sha256(content).digest()


@pytest.mark.slow
def test_blocks(round_trip, tmp_path):
    """Above 64 MiB the SDK sends blocks."""
    content = os.urandom(1 << 20) * 65 + b"end"
    got = round_trip(write_tree(tmp_path / "blocks", {"f.bin": content}))
    assert hashlib.sha256(got["f.bin"]).digest() == hashlib.sha256(content).digest()


def test_the_same_content_under_another_name_is_not_uploaded_again(ml, uniq, tmp_path):
    folder = write_tree(tmp_path / "same", {"a.bin": fresh()})
    first = ml.models.create_or_update(Model(name=uniq("m"), path=str(folder), version="1"))
    second = ml.models.create_or_update(Model(name=uniq("m"), path=str(folder), version="1"))
    assert first.path == second.path


def test_code_of_the_same_content_in_another_folder(ml, tmp_path):
    text = fresh("print(1)")
    one, two = write_tree(tmp_path / "one" / "src", {"main.py": text}), write_tree(tmp_path / "two" / "src", {"main.py": text})
    first = ml.jobs.create_or_update(command(command="true", code=str(one), environment="azureml:base:1"))
    second = ml.jobs.create_or_update(command(command="true", code=str(two), environment="azureml:base:1"))
    assert first.code == second.code


def test_executable_scripts_need_an_interpreter(ml, tmp_path):
    log = ran(ml, write_tree(tmp_path / "src", {"run.sh": fresh("echo from a shell script")}), "bash run.sh")
    assert "from a shell script" in log


def test_a_trailing_slash_of_the_path(ml, tmp_path, uniq):
    folder = write_tree(tmp_path / "slash", {"a.txt": fresh()})
    made = ml.data.create_or_update(Data(name=uniq("data"), path=str(folder) + "/", type="uri_folder"))
    assert made.path.endswith("/slash/")


def test_windows_line_ends_survive(round_trip, tmp_path):
    content = b"a\r\nb\r\n" + os.urandom(8)
    assert round_trip(write_tree(tmp_path / "crlf", {"a.txt": content}))["a.txt"] == content
