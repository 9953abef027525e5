"""Who runs the programs of a test, and what that user may do.

root      everything
user      an ordinary user: no cgroup is delegated, each task runs as that user, in user namespaces
refused   the same user where user namespaces are refused as well: process groups are what is left

Without root, `user` and `refused` are whoever runs the tests.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from conftest import ROOT, binary, clean_environment, read_line

NAMES = ["root", "user", "refused"]
USER = 60998  # no name, no cgroup, no process of its own but ours
IS_ROOT = os.geteuid() == 0
BECOME = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if IS_ROOT else []
# In a user namespace of its own, where no other one may be made. Keeps it until its input ends.
REFUSE = ["unshare", "--user", "--map-current-user", "--keep-caps", "sh", "-c",
          "echo 0 > /proc/sys/user/max_user_namespaces && echo ready && read -r end"]


class Level:
    def __init__(self, name):
        self.name = name
        self.prefix = []
        self._holder = None
        # Not below pytest's own folder: that one is closed to others.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"lavant-{name}-"))
        self.folder.chmod(0o755)
        try:
            self._set_up()
        except BaseException:
            self.close()
            raise

    def _set_up(self):
        if self.name == "root" and not IS_ROOT:
            pytest.skip("needs root")
        self.program = binary()
        if self.name != "root":
            self.prefix = [*BECOME]
            if subprocess.run([*BECOME, "unshare", "--user", "true"], capture_output=True).returncode != 0:
                pytest.skip("this machine gives ordinary users no user namespaces")
            if IS_ROOT:  # the build folder may be closed to others
                self.program = str(shutil.copy(self.program, self.folder / "lavant"))
        if self.name == "refused":
            self._holder = subprocess.Popen([*BECOME, *REFUSE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            assert read_line(self._holder.stdout.fileno()) == "ready"
            # One namespace for all: processes of the same user see each other, as on a machine that has none.
            self.prefix += ["nsenter", "--user", "--preserve-credentials", f"--target={self._holder.pid}", "--"]
        self.make_folder("home")

    def make_folder(self, name):
        """Below the level's folder, and the user's own."""
        made = self.folder / name
        made.mkdir(mode=0o700)
        if self.prefix and IS_ROOT:
            os.chown(made, USER, USER)
        return made

    def seen(self, path):
        """Where the tests find a file of the level's programs."""
        return path

    def command(self):
        return [*self.prefix, self.program]

    def environment(self, **changes):
        kept = clean_environment(HOME=self.folder / "home", **changes)
        if self.prefix:
            kept["PATH"] = "/usr/local/bin:/usr/bin:/bin"  # others' homes may be on it
        for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR", "VIRTUAL_ENV"):
            kept.pop(name, None)
        return kept

    def copy_example(self, name):
        return pathlib.Path(shutil.copytree(ROOT / "examples" / name, self.folder / "examples" / name))

    def check_what_is_off(self, log):
        """The job's log has one line on what does not confine it, and none where all does."""
        lines = [line for line in log.splitlines() if line.startswith("lavant: sandbox")]
        assert len(lines) <= 1, lines
        said = lines[0] if lines else ""
        print(f"{self.name}: {said or 'nothing is off'}")
        if self.name == "root":
            assert "namespaces" not in said and "a user per task" not in said, said
            return
        off = "lavant: sandbox in part off: "
        if self.name == "user":
            off += "a user per task (tasks run as the agent's user)"
        else:
            off += "pid, mount and ipc namespaces (cannot make a user namespace: user.max_user_namespaces allows no more)"
        assert said.startswith(off), said
        if IS_ROOT:
            assert re.search(r"; cgroup tracking \(cannot make cgroup .*: Permission denied\)", said), said

    def close(self):
        if self._holder:
            self._holder.stdin.close()
            self._holder.wait()
            self._holder.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)
