#!/usr/bin/env python3
"""Plants each bug of tests/simulation/planted in a copy of the tree, and expects the simulation to find it.

A simulation that finds nothing proves nothing: this shows that ours does. Usage: tools/planted_bugs.py [--seeds 2000]
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def build(tree: pathlib.Path) -> pathlib.Path:
    folder = tree / "build"
    if not folder.exists():
        subprocess.run(["cmake", "-S", tree, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                        "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DLAVANT_WERROR=OFF"],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "lavant-sim"], check=True, stdout=subprocess.DEVNULL)
    return folder / "tests/simulation/lavant-sim"


def first_failing_seed(simulation: pathlib.Path, seeds: int) -> int | None:
    for first in range(1, seeds + 1, 50):
        run = subprocess.run([simulation, "--seed", str(first), "--count", "50"], capture_output=True, text=True)
        if run.returncode == 0:
            continue
        for line in run.stdout.splitlines():
            if line.startswith("seed "):
                return int(line.split()[1].rstrip(":"))
        return first  # It died: that is a finding too.
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000)
    seeds = parser.parse_args().seeds
    patches = sorted((ROOT / "tests/simulation/planted").glob("*.patch"))
    missed = 0
    with tempfile.TemporaryDirectory(prefix="lavant-planted-") as folder:
        tree = pathlib.Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "node_modules"))
        if first_failing_seed(build(tree), 100) is not None:
            print("the tree fails without a planted bug")
            return 1
        for patch in patches:
            subprocess.run(["patch", "-s", "-p1", "-i", patch], cwd=tree, check=True)
            seed = first_failing_seed(build(tree), seeds)
            subprocess.run(["patch", "-s", "-R", "-p1", "-i", patch], cwd=tree, check=True)
            print(f"{patch.stem}: " + (f"found by seed {seed}" if seed else "NOT FOUND"), flush=True)
            missed += seed is None
    print(f"{len(patches) - missed} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
