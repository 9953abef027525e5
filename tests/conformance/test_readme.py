"""Every block of the README, run on a terminal in one empty folder; and the tour."""
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import binary as find_binary

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("readme", ROOT / "tools" / "readme.py")
readme = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(readme)


def test_every_console_block_prints_what_it_says():
    with readme.fresh_home(find_binary(), sys.executable) as (folder, environment):
        terminal = readme.Terminal(folder, environment)
        wrong = []

        def visit(_, runs):
            for command, expected, printed in runs:
                if readme.normal(expected) != readme.normal(readme.tilde(printed, environment)):
                    wrong.append(f"$ {command}\n--- the README says\n{expected}--- but it prints\n{printed}")

        readme.walk(terminal, folder, visit)
        terminal.close()
        assert not wrong, "\n".join(wrong)


def test_every_block_is_of_a_kind_that_is_run():
    kinds = {(block["kind"], bool(block["file"])) for block in readme.blocks(readme.README.read_text())}
    assert kinds == {("console", False), ("yaml", True), ("python", True), ("sh", False)}


def test_the_install_block(tmp_path):
    """As it stands, but that the program is built already: what `make` would run last."""
    [block] = [b for b in readme.blocks(readme.README.read_text()) if b["kind"] == "sh"]
    line = block["text"].strip()
    assert line.startswith("make install PREFIX=")
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-ec", line.replace("make install PREFIX=", f"packaging/install.sh install {find_binary()} ")],
                   cwd=ROOT, env=environment, check=True, capture_output=True)
    version = subprocess.run([tmp_path / ".local/bin/lavant", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("lavant ")


def test_the_wheel_gives_the_command(tmp_path):
    subprocess.run([ROOT / "packaging" / "dist.sh", find_binary(), tmp_path / "dist"], check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    [wheel] = (tmp_path / "dist").glob("*.whl")
    subprocess.run([tmp_path / "venv/bin/pip", "install", "--no-index", wheel], check=True, capture_output=True)
    version = subprocess.run([tmp_path / "venv/bin/lavant", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("lavant ")


@pytest.mark.parametrize("on_path", [True, False])
def test_the_tour_runs_offline_and_leaves_nothing(tmp_path, on_path):
    environment = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "TERM": "dumb",
                   "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin" if on_path else "/usr/bin:/bin"}
    tour = subprocess.run([find_binary(), "tour", "-y"], env=environment, capture_output=True, text=True, timeout=170)
    assert tour.returncode == 0, tour.stdout + tour.stderr
    assert "epoch 2  loss" in tour.stdout
    assert "It starts when one that runs ends: first" in " ".join(tour.stdout.split())
    assert list(tmp_path.iterdir()) == []
