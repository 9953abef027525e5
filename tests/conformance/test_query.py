"""`--query` means what the jmespath package from PyPI means, on hand-written and on random expressions.

The tool answers what the library behind `--query` answers. Where the two may differ, by intent: unknown functions and wrong
numbers of arguments are found before a document is seen, a boolean is never equal to a number, and what makes the package
fail with an exception of Python's own is an answer or an error here.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import warnings

import pytest

warnings.simplefilter("ignore")
jmespath = pytest.importorskip("jmespath", reason="jmespath is not installed")

TOOL = pathlib.Path(os.environ.get("LAVANT_TEST_TOOLS", "")) / "jmespath_tool"
pytestmark = pytest.mark.skipif(not TOOL.is_file(), reason="LAVANT_TEST_TOOLS names no folder with jmespath_tool")

BY_HAND = [
    "a", "a.b", "\"a\"", "\"a b\"", "a[0]", "a[-1]", "a[*].b", "a[].b", "a[][]", "a[*][0]", "a[*].c[*]", "a[*].c[]", "*", "*.*",
    "*[0]", "a.*", "@", "@.a", "[a, s]", "[*]", "[]", "[0]", "[:]", "[::2]", "a[1:]", "a[:-1].b", "a[::-1]", "a[5:0:-2]", "a[::-1].b",
    "{x: a, y: s}", "a[*].{x: b, y: c}", "a[?b]", "a[?b==`1`]", "a[?b!=`1`].b", "a[?b>`1` || c=='y'].c", "a[?!(b)]", "a[?c=='x'][]",
    "a[?c=='x'] | [0]", "a[*].b | [0]", "a | [0] | b", "a || s", "missing || s", "missing && s", "!missing", "!a", "a[?contains(c,'x')]",
    "sort_by(a[?b], &b)[*].b", "a[?@ == `null`]", "a[?d].d[]", "a[*].d[*][*]", "a[].d[][]", "a[0].b < a[1].b", "length(a)",
    "to_string(@)", "to_string(a[0])", "a[*].[b, c]", "a[*].[b, c][]", "map(&b, a)", "keys(@)", "values(n)", "n.*", "n.* | sort(@)",
    "join(',', n.* | [*].to_string(@))", "'raw'", "'it\\'s'", "'back\\\\slash'", "`[1, 2]`[0]", "`\"text\"`", "`text`", "` 1`",
    "`{\"a\": [1]}`.a", "a[0].missing.deeper", "missing[0]", "missing[*]", "missing[]", "s[*]", "s[]", "s.*", "s[?a]", "n[*]", "n[]",
    "max_by(a[?b], &b).c", "not_null(missing, s)", "reverse(s)", "type(a)", "(a)[0]", "(a[*].b)[0]", "a[*].b[0]", "a[?b > `0`].b | sum(@)",
    "a.length(@)", "missing.type(@)", "@ | a", "a [ 0 ] . b", "a[?b==`1` && c=='x' || s]", "a[?(b==`1` || b==`2`) && c]", "a == a",
    "a[0] == a[0]", "n == `{\"y\": 2, \"x\": 1}`", "u", "length(u)", "reverse(u)", "starts_with(u, 'ü')", "\"\\u00fc\"", "to_number('12')",
    "to_number('-1.5e3')", "to_number('x')", "ceil(`1.01`)", "floor(`-1.5`)", "abs(`-1`)", "avg(f)", "sum(f)", "max(f)", "min(f)", "sort(f)",
    "max(w)", "min(w)", "sort(w)", "contains(f, `2`)", "contains(w, 'b')", "contains(s, 'ex')", "ends_with(s, 't')", "merge(n, {x: s})",
    "to_array(s)", "to_array(f)", "f[0] <= f[1]", "s >= 's'", "a[*].c | sort(@) | reverse(@)", "e", "e.*", "!e", "!n", "g || s", "g[*]",
    # wrong ones
    "", " ", ".", "a.", ".a", "a..b", "a[", "a]", "a[a]", "a[1:2:3:4]", "a[::0]", "a[1 2]", "a[", "[a", "{a", "{a: }", "{a: b,}", "{'a': b}", "{a}", "a b",
    "a ||", "|| a", "a |", "a &&", "!", "()", "(a", "a)", "a = b", "a == ", "a[?]", "a[?b", "'a", "`a", "\"a", "\"\\q\"", "a.'b'", "a.`1`", "a.1", "1", "-1",
    "abs(s)", "abs()", "abs(a, b)", "join(f, w)", "sort(a)", "sum(w)", "keys(a)", "sort_by(f, b)", "sort_by(s, &b)", "max_by(a, &c[0])", "length(`1`)",
    "a.@", "@a", "@@", "a*", "**", "#", "a$", "-", "a-b", "\"f\"(a)", "foo.*.", "[a,]", "a[-]", "a[*", "a[*]b", "a.*b", "*a",
]

DOCUMENT = {
    "a": [{"b": 1, "c": "x"}, {"b": 2, "c": "y", "d": [[1, 2], [3]]}, {"b": 2.5}, None, {}], "a b": 1, "s": "text",
    "n": {"x": 1, "y": 2}, "u": "über Größe", "ü": "dotted", "f": [3, 1.5, 2], "w": ["b", "a", "c"], "e": {}, "g": [],
}


def theirs(expression, document):
    try:
        return {"result": jmespath.search(expression, document)}
    except jmespath.exceptions.JMESPathError as problem:
        return {"error": str(problem)}
    except Exception as problem:  # a TypeError of Python's own, say
        return {"broken": repr(problem)}


def ours(questions):
    lines = "".join(json.dumps([expression, document]) + "\n" for expression, document in questions)
    done = subprocess.run([TOOL], input=lines, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


# The package reads over a comma that is missing in a call and over a second number in a slice, and finds a step of 0 late.
MISSING = re.compile(r"step by 0|expected ('\,' or '\)'|'\]', found '-?\d+')")


def same(mine, other):
    if "broken" in other or MISSING.search(mine.get("error", "")):
        return True
    if "error" in other:
        return "error" in mine and "column" in mine["error"]
    return "result" in mine and equal(mine["result"], other["result"])


def equal(mine, other):
    """Booleans are no numbers; numbers are equal up to rounding; text of JSON is equal as JSON."""
    if isinstance(mine, bool) or isinstance(other, bool):
        return mine is other
    if isinstance(mine, (int, float)) and isinstance(other, (int, float)):
        return abs(mine - other) <= 1e-9 * max(1, abs(mine))
    if isinstance(mine, list) and isinstance(other, list):
        return len(mine) == len(other) and all(map(equal, mine, other))
    if isinstance(mine, dict) and isinstance(other, dict):
        return list(mine) == list(other) and all(equal(mine[key], other[key]) for key in mine)
    return mine == other or (isinstance(mine, str) and isinstance(other, str) and as_json(mine) == as_json(other) != None)


def as_json(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def compare(questions):
    differences = []
    for (expression, document), mine in zip(questions, ours(questions), strict=True):
        other = theirs(expression, document)
        if not same(mine, other):
            differences.append(f"{expression}\n  on {json.dumps(document)}\n  ours {mine}\n  theirs {other}")
    assert not differences, f"{len(differences)} of {len(questions)} differ\n" + "\n".join(differences[:10])


def test_hand_written_expressions():
    compare([(expression, DOCUMENT) for expression in BY_HAND])


class Random:
    """Expressions that are right by the grammar, over documents with few names so that many of them hit."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def document(self, depth=0):
        kind = self.r.random()
        if depth > 3 or kind < 0.35:
            return self.r.choice([None, True, False, 0, 1, 2, -3, 1.5, 10, "", "a", "b", "ab", "ü", "10"])
        if kind < 0.65:
            return [self.document(depth + 1) for _ in range(self.r.randint(0, 4))]
        return {name: self.document(depth + 1) for name in self.r.sample("abcdef", self.r.randint(0, 4))}

    def root(self):
        return {name: self.document(1) for name in "abcdef"}

    def literal(self):
        return self.r.choice(["`1`", "`0`", "`true`", "`null`", "`[1, 2]`", "`{\"a\": 1}`", "'a'", "'b'", "''", "`\"ab\"`", "`1.5`", "`[]`"])

    def number(self):
        return str(self.r.randint(-4, 4))

    def slice(self):
        part = lambda: self.number() if self.r.random() < 0.5 else ""
        step = self.r.choice(["", ":", ":1", ":2", ":-1", ":-2"])
        return f"[{part()}:{part()}{step}]"

    def call(self, depth):
        e = lambda: self.expression(depth + 1)
        name = self.r.choice(list(FUNCTIONS))
        return f"{name}({', '.join('&' + e() if kind == '&' else e() for kind in FUNCTIONS[name])})"

    def step(self, depth):
        kind = self.r.randint(0, 9)
        if kind <= 3:
            return "." + self.r.choice(["a", "b", "c", "d", "\"e\"", "f", "*"])
        if kind == 4:
            return f"[{self.number()}]"
        if kind == 5:
            return self.r.choice(["[*]", "[]"])
        if kind == 6:
            return f"[?{self.expression(depth + 1)}]"
        if kind == 7:
            return f".[{self.expression(depth + 1)}, {self.expression(depth + 1)}]"
        if kind == 8:
            return f".{{x: {self.expression(depth + 1)}}}"
        return ".*" + self.slice()

    def expression(self, depth=0):
        kind = self.r.random()
        if depth > 3 or kind < 0.15:
            return self.r.choice(["@", "a", "b", "c", "d", "*", self.literal(), "e[0]", "f[*]", "a" + self.slice()])
        if kind < 0.55:
            return self.r.choice("abcdef@") + "".join(self.step(depth) for _ in range(self.r.randint(1, 4)))
        if kind < 0.75:
            sign = self.r.choice(["||", "&&", "|", "==", "!=", "<", ">", "<=", ">="])
            return f"{self.expression(depth + 1)} {sign} {self.expression(depth + 1)}"
        if kind < 0.8:
            return "!" + self.expression(depth + 1)
        if kind < 0.85:
            return f"({self.expression(depth + 1)})"
        return self.call(depth)


FUNCTIONS = {
    "abs": "v", "avg": "v", "ceil": "v", "contains": "vv", "ends_with": "vv", "floor": "v", "join": "vv", "keys": "v", "length": "v", "map": "&v", "max": "v",
    "max_by": "v&", "merge": "vv", "min": "v", "min_by": "v&", "not_null": "vv", "reverse": "v", "sort": "v", "sort_by": "v&", "starts_with": "vv",
    "sum": "v", "to_array": "v", "to_number": "v", "to_string": "v", "type": "v", "values": "v",
}


# Where the package strays from the language or from JSON, so that a difference would say nothing about us.
def is_comparable(expression, document):
    with_index_then_slice = any(f"{number}][" in expression for number in "01234") and ":" in expression
    mixes_booleans = "true" in json.dumps([expression, document]) or "false" in json.dumps(document)
    return not with_index_then_slice and not (mixes_booleans and ("==" in expression or "!=" in expression or "contains" in expression))


@pytest.mark.parametrize("seed", range(int(os.environ.get("LAVANT_QUERY_ROUNDS", "4"))))
def test_random_expressions(seed):
    made = Random(seed)
    questions = [(made.expression(), made.root()) for _ in range(3000)]
    kept = [question for question in questions if is_comparable(*question)]
    assert len(kept) > 1500
    compare(kept)


@pytest.mark.parametrize("seed", range(int(os.environ.get("LAVANT_QUERY_ROUNDS", "4"))))
def test_random_damage(seed):
    """Right expressions with a character lost, doubled or swapped: refused by both or read alike."""
    made = Random(1000 + seed)
    questions = []
    while len(questions) < 3000:
        text, document = made.expression(), made.root()
        at = made.r.randrange(len(text))
        other = made.r.choice(list(".[]*()|&!=<>,:@{}`'\" a1-"))
        text = made.r.choice([text[:at] + text[at + 1:], text[:at] + other + text[at:], text[:at] + other + text[at + 1:]])
        if is_comparable(text, document) and not reads_differently(text):
            questions.append((text, document))
    compare(questions)


def reads_differently(text):
    """Faults that the package finds late or not at all: unknown functions, '&' outside of a call, commas left over."""
    try:
        tree = jmespath.compile(text).parsed
    except jmespath.exceptions.JMESPathError:
        return False
    except Exception:
        return True

    def odd(node, in_call=False):
        if node["type"] == "expref" and not in_call:
            return True
        if node["type"] == "function_expression":
            kinds = FUNCTIONS.get(node["value"])
            given = ["&" if child["type"] == "expref" else "v" for child in node["children"]]
            if kinds is None or (list(kinds) != given and node["value"] not in ("merge", "not_null")):
                return True
            if "&" in given and node["value"] in ("merge", "not_null"):
                return True
            return any(odd(child, True) for child in node["children"])
        return any(odd(child) for child in node["children"] if isinstance(child, dict))

    return odd(tree) or ",)" in text.replace(" ", "") or "{" in text
