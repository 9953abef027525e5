#!/usr/bin/env python3
"""House rules as a test: edges between rooms, banned phrases, lengths, where libraries may appear.

Prints one line per finding, 'path:line: what; what to do instead', and ends with 1 if there is any. A rule that must be
broken in one place is allowed by name below, with the reason.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"

LINES_MAX, TEST_LINES_MAX = 600, 800
COLUMNS_MAX = 110
FUNCTION_LINES_MAX = 70

# (pattern, replacement, where: room -> bool)
BELOW_APP = {"base", "core", "ports", "wire"}
EVERYWHERE = None
EVERYWHERE_BUT_TESTS = set()  # filled below with every room
BANNED = [
    (r"\bsystem_clock\b", "take the time from ports::Clock", BELOW_APP),
    (r"\bsteady_clock::now\b", "take the time from ports::Clock", BELOW_APP),
    (r"\brandom_device\b", "take random bytes from ports::Crypto", BELOW_APP),
    (r"\bgetenv\b", "main reads the environment and passes it inward", BELOW_APP | {"api", "app", "agent", "cli"}),
    (r"\bstd::thread\b", "threads belong to main and adapters", BELOW_APP),
    (r"\bstd::regex\b|<regex>", "write a small matcher; std::regex is slow and recursive", EVERYWHERE),
    (r"\bnlohmann\b", "use wire::Json", EVERYWHERE),
    (r"\busing namespace std\b(?!::\w*literals)", "name what you use", EVERYWHERE),
    (r"\bstd::async\b", "post to a pool that somebody owns", EVERYWHERE),
    (r"\.detach\(\)", "somebody must own and join the thread", EVERYWHERE_BUT_TESTS),
    (r"\bTODO\b(?!\(#\d+\))", "write TODO(#number) or do it", EVERYWHERE),
    (r"\bFIXME\b", "fix it", EVERYWHERE),
    (r"(?<![\w:])throw\s+[\w:]", "return an Error", EVERYWHERE),
]
ALLOWED_PHRASES = {
    # (path, pattern start): reason
    ("src/base/log.cpp", r"\bsystem_clock\b"): "spdlog stamps its lines",
    ("src/base/executor.cpp", r"\bstd::thread\b"): "the one owner of threads",
    ("src/base/executor.h", r"\bstd::thread\b"): "the one owner of threads",
}

# Library header -> rooms (first folder below src, adapters by their own name) or files that may include it.
LIBRARY_HOMES = {
    r"yaml-cpp/": {"wire"},
    r"CLI/": {"main"},
    r"spdlog/": {"base"},
    r"boost/beast": {"net", "http_server", "http_client", "agent_link"},
    r"boost/json": {"wire"},
    r"sqlite3\.h": {"sql"},
    r"openssl/": {"crypto_openssl", "net", "http_server", "http_client"},
}
BEAST_FILES_MAX = 5

# Core sources whose behaviour another file's test covers, or that are data.
CORE_WITHOUT_TEST_BESIDE = {
    "src/core/model/model.cpp": "names of enumerators",
    "src/core/model/size_catalogue.cpp": "a table; size_test.cpp looks at it",
}

# A string literal or an #include cannot be broken without hurting.
UNBREAKABLE = re.compile(r'^\s*#include|^\s*R?"[^"]*"[);,]*$|^\s*//\s*\S+$|^\s*R"\(.*\)"')
# Functions that are one table.
LONG_FUNCTIONS = {"reason_of"}

MACHINE_PATHS = re.compile(r"/root/|/home/\w+/")


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return [str(p.relative_to(ROOT)) for top in ("src", "tests", "tools", "docs", "examples")
            for p in (ROOT / top).rglob("*") if p.is_file() and "__pycache__" not in p.parts]


def room_of(name):
    parts = name.split("/")
    if parts[0] != "src" or len(parts) < 3:
        return None
    return parts[2] if parts[1] == "adapters" and len(parts) > 3 else parts[1]


def kind_of(name):
    parts = name.split("/")
    return "adapter" if parts[1] == "adapters" else parts[1]


def is_for_tests(name):
    """x_test.cpp, and what only tests include: test_world.h, server_under_test.h."""
    words = re.split(r"[_.]", name.rsplit("/", 1)[-1])
    return "test" in words or "bench" in words or name.startswith(("tests/", "bench/"))


def load_edges():
    edges = {}
    text = (ROOT / "cmake/rooms.cmake").read_text(encoding="utf-8")
    for kind, allowed in re.findall(r"^set\(LAVANT_EDGES_(\w+)\s+([^)]*)\)", text, re.MULTILINE):
        edges[kind] = set(allowed.replace('"', "").split())
    return edges


def without_comments_and_strings(text):
    """Same length and lines, with the insides of comments and literals blanked."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    return re.sub(pattern, blank, text, flags=re.DOTALL)


class Findings:
    def __init__(self):
        self.lines = []

    def add(self, name, line, what):
        self.lines.append(f"{name}:{line}: {what}")


def check_edges(name, text, edges, found):
    kind = kind_of(name)
    is_test = is_for_tests(name)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#include\s+"(\w+)/(?:(\w+)/)?', line)
        if not match or kind not in edges or is_test:
            continue
        target = "adapter" if match.group(1) == "adapters" else match.group(1)
        if not (SOURCE / match.group(1)).is_dir():
            continue
        same_room = target == kind and (kind != "adapter" or match.group(2) == room_of(name))
        if not same_room and target not in edges[kind]:
            found.add(name, number, f"room '{room_of(name)}' may not include '{match.group(1)}'; "
                                    f"allowed: {', '.join(sorted(edges[kind])) or 'nothing'}")


def check_libraries(name, text, found):
    room = room_of(name)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*#include\s+<([^>]+)>", line)
        if not match:
            continue
        for library, homes in LIBRARY_HOMES.items():
            if re.match(library, match.group(1)) and room not in homes:
                found.add(name, number, f"<{match.group(1)}> belongs to {', '.join(sorted(homes))}; "
                                        "put what you need behind a function there")


def check_phrases(name, text, code, found):
    room = room_of(name)
    for pattern, instead, rooms in BANNED:
        elsewhere = rooms is not None and (room not in rooms or is_for_tests(name))
        if (name, pattern) in ALLOWED_PHRASES or elsewhere:
            continue
        searched = text if "TODO" in pattern or "FIXME" in pattern else code
        for match in re.finditer(pattern, searched):
            found.add(name, searched.count("\n", 0, match.start()) + 1, f"'{match.group(0)}': {instead}")


def check_co_await(name, code, found):
    for match in re.finditer(r"\bco_await\b([^;]*);", code):
        operand = match.group(1)
        if "[" in operand and re.search(r"\[[^\]]*\]\s*(?:\([^)]*\))?\s*(?:mutable\s*)?\{", operand):
            problem = "a lambda"
        elif re.search(r"[\w>]\s*\{", operand):
            problem = "an aggregate"
        else:
            continue
        found.add(name, code.count("\n", 0, match.start()) + 1,
                  f"co_await with {problem} in its operand: g++ 12 destroys it twice; name it first")


def check_lengths(name, text, code, found):
    lines = text.splitlines()
    limit = TEST_LINES_MAX if is_for_tests(name) else LINES_MAX
    if len(lines) > limit:
        found.add(name, len(lines), f"the file has {len(lines)} lines, more than {limit}; split it")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX and not UNBREAKABLE.search(line):
            found.add(name, number, f"the line has {len(line)} columns, more than {COLUMNS_MAX}; break it")
    for begin, end, head in functions_in(code):
        if end - begin + 1 > FUNCTION_LINES_MAX and head not in LONG_FUNCTIONS:
            found.add(name, begin, f"the function '{head}' has {end - begin + 1} lines, more than {FUNCTION_LINES_MAX}; split it")


def functions_in(code):
    """Rough: a '{' that follows ')' (perhaps with const, noexcept, override, ->) and is no control statement."""
    stack = []
    line = 1
    statement = ""
    statement_line = 1
    for character in code:
        if character == "\n":
            line += 1
        if character == "{":
            head = statement.strip()
            is_function = re.search(r"\)\s*(?:const|noexcept|override|final|mutable|&|->\s*[\w:<>,&*\s]+|:\s.*)*\s*$",
                                    head, re.DOTALL) is not None
            is_control = re.match(r"(?:\}?\s*else\s+)?(?:if|for|while|switch|catch|do|try)\b", head) is not None
            is_lambda = re.search(r"\[[^\[\]]*\]\s*\([^()]*\)[^()]*$", head) is not None
            stack.append((statement_line, head) if is_function and not is_control and not is_lambda else None)
            statement = ""
            statement_line = line
        elif character == "}":
            top = stack.pop() if stack else None
            if top is not None:
                words = re.findall(r"[\w:~]+(?=\s*\()", top[1])
                yield top[0], line, words[0] if words else "?"
            statement = ""
            statement_line = line
        elif character == ";":
            statement = ""
            statement_line = line
        else:
            if not statement.strip() and character.strip():
                statement_line = line
            statement += character


def check_tests_beside(names, found):
    known = set(names)
    for name in names:
        if not name.startswith("src/core/") or not name.endswith(".cpp") or name.endswith("_test.cpp"):
            continue
        folder = name.rsplit("/", 1)[0]
        beside = name[:-4] + "_test.cpp" in known or any(
            other.startswith(folder + "/") and other.endswith("_test.cpp") and
            pathlib.PurePath(name).stem.split("_")[0] in other.rsplit("/", 1)[1] for other in known)
        folder_suite = any(other.rsplit("/", 1)[0] == folder and other.endswith("_test.cpp") for other in known)
        if not beside and not folder_suite and name not in CORE_WITHOUT_TEST_BESIDE:
            found.add(name, 1, "no test lies beside it; write one, or allow it in tools/tidy.py with the reason")


def main():
    found = Findings()
    edges = load_edges()
    names = tracked_files()
    beast = []
    EVERYWHERE_BUT_TESTS.update(filter(None, map(room_of, names)))
    for name in names:
        path = ROOT / name
        if path.suffix in {".cpp", ".h", ".py", ".sh", ".md", ".yml", ".cmake", ".txt"} or path.name == "Makefile":
            text = path.read_text(encoding="utf-8", errors="replace")
            if name != "tools/tidy.py":
                for number, line in enumerate(text.splitlines(), 1):
                    if MACHINE_PATHS.search(line):
                        found.add(name, number, "a path of one machine; make it relative or a parameter")
        if path.suffix not in {".cpp", ".h"}:
            continue
        code = without_comments_and_strings(text)
        check_lengths(name, text, code, found)
        if not name.startswith("src/"):
            continue
        check_edges(name, text, edges, found)
        check_libraries(name, text, found)
        check_phrases(name, text, code, found)
        check_co_await(name, code, found)
        if path.suffix == ".h" and not text.startswith("#pragma once"):
            found.add(name, 1, "a header begins with #pragma once")
        if re.search(r"#include\s+<boost/beast", text):
            beast.append(name)
    if len(beast) > BEAST_FILES_MAX:
        found.add(beast[-1], 1, f"Beast is included by {len(beast)} files, more than {BEAST_FILES_MAX}: {', '.join(beast)}")
    check_tests_beside(names, found)
    for line in found.lines:
        print(line)
    print(f"tidy: {len(names)} files, {len(found.lines)} findings")
    return 1 if found.lines else 0


if __name__ == "__main__":
    sys.exit(main())
