"""Every command explains itself, and a slip of the finger gets the right word back."""
import functools
import re

import pytest
from conftest import clean_environment, run

ROOTS = [(), ("az",)]
COMMAND = re.compile(r"^  ([a-z][a-z-]*)  +\S")
GROUP = re.compile(r"Usage:( [a-z-]+)+ COMMAND\n")
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]+")
SUGGESTED = re.compile(r"did you mean '([^']+)'\?")
# What was typed may be the beginning of one option and one letter short of another: both answers are good.
AMBIGUOUS = {"--st": {"--set", "--stream", "--status"}, "--se": {"--set"}, "--en": {"--env", "--env-var"},
             "nset": {"set"}, "uset": {"set"}, "estart": {"start"}, "rstart": {"start"},
             "requess": {"request"}, "requesst": {"request"}, "requets": {"request"}}


@functools.cache
def help_of(path):
    result = run(*path, "--help")
    assert result.returncode == 0, (path, result.stderr)
    return result.stdout


def commands_of(path):
    """The commands that a group lists; none for a command."""
    text = help_of(path)
    if not GROUP.match(text):
        return []
    return [match.group(1) for line in text.split("Example:")[0].splitlines() if (match := COMMAND.match(line))]


def options_of(path):
    """Long options in the left column."""
    found = []
    for line in help_of(path).split("Example:")[0].splitlines():
        if line.startswith("  -"):
            found += OPTION.findall(re.split(r"\s{2,}", line.strip())[0])
    return found


@functools.cache
def tree():
    """Every path to a group or a command."""
    found = []

    def walk(path):
        found.append(path)
        for name in commands_of(path):
            if path + (name,) not in found and name != "agent":  # started by the server, not by people
                walk(path + (name,))

    for root in ROOTS:
        walk(root)
    return found


def is_group(path):
    return bool(commands_of(path))


def without_one_letter(word):
    return {word[:at] + word[at + 1:] for at in range(len(word))}


def with_two_swapped(word):
    return {word[:at] + word[at + 1] + word[at] + word[at + 2:] for at in range(len(word) - 1)}


def slips(word, all_of_them):
    """Misspellings of a bare word; in the middle unless all are wanted."""
    if all_of_them:
        return sorted((without_one_letter(word) | with_two_swapped(word)) - {word, ""})
    middle = len(word) // 2
    dropped = word[:middle] + word[middle + 1:]
    swapped = word[:middle - 1] + word[middle] + word[middle - 1] + word[middle + 1:]
    return sorted({dropped, swapped} - {word, ""})


def test_the_tree_is_whole():
    paths = tree()
    for wanted in ["submit", "job create", "job explain", "key revoke", "config unset", "context use", "serve",
                   "az ml job create", "az ml job list", "az account get-access-token", "az extension add", "az version"]:
        assert tuple(wanted.split()) in paths, wanted
    assert len(paths) > 50


def test_even_the_agent_has_a_help():
    assert "lavant agent" in help_of(("agent",))


def test_every_help_has_an_example_and_fits_80_columns():
    problems = []
    for path in tree():
        text = help_of(path)
        name = " ".join(path) or "lavant"
        if "\nExample:\n  " not in text:
            problems.append(f"{name}: no example")
        wide = [line for line in text.splitlines() if len(line) > 80]
        problems += [f"{name}: {len(line)} columns: {line}" for line in wide]
    assert not problems, "\n".join(problems)


def test_examples_are_of_the_command_they_stand_below():
    problems = []
    for path in tree():
        if is_group(path) or "Example:" not in help_of(path):
            continue
        spelt = " ".join(path) if path[:1] == ("az",) else " ".join(("lavant",) + path)
        if spelt not in help_of(path).split("Example:")[1]:
            problems.append(f"{spelt}: {help_of(path).split('Example:')[1].strip()}")
    assert not problems, "\n".join(problems)


def suggestion(path, typed, data):
    result = run(*path, typed, env=clean_environment(LAVANT_DATA=data))
    match = SUGGESTED.search(result.stderr)
    return result, match.group(1) if match else None


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """(path, right, typed, exit code, stdout, suggested) for every option and every command, misspelt."""
    data = tmp_path_factory.mktemp("none") / "state"
    asked, thorough = [], set()
    for path in tree():
        names, options = commands_of(path), options_of(path)
        for right in options:
            all_of_them = right not in thorough  # the same option elsewhere: two of them will do
            thorough.add(right)
            for slip in slips(right[2:], all_of_them):
                if "--" + slip not in options and not slip.startswith("-"):
                    asked.append((path, right, "--" + slip))
        for right in names:
            asked += [(path, right, slip) for slip in slips(right, True) if slip not in names and not slip.startswith("-")]
    found = []
    for path, right, typed in asked:
        result, suggested = suggestion(path, typed, data)
        found.append((path, right, typed, result, suggested))
    assert not data.exists(), "a server was started for a command line that is wrong"
    return found


def test_a_misspelt_word_is_refused(answers):
    wrong = [f"{' '.join(path)} {typed}: exit code {result.returncode}, {result.stderr}" for path, _, typed, result, _ in answers
             if result.returncode != 2 or result.stdout or not result.stderr.startswith("lavant: ")]
    assert not wrong, f"{len(wrong)} of {len(answers)}\n" + "\n".join(wrong[:20])


def test_the_right_word_is_suggested(answers):
    wrong = [f"{' '.join(path)} {typed}: {suggested}, not {right}" for path, right, typed, _, suggested in answers
             if suggested != right and suggested not in AMBIGUOUS.get(typed, ())]
    # Of words with two or three letters little is left.
    long_words = [line for line in wrong if len(line.rsplit(" ", 1)[1].lstrip("-")) > 3]
    assert not long_words, f"{len(long_words)} of {len(answers)}\n" + "\n".join(long_words)
    assert len(wrong) * 50 < len(answers), f"{len(wrong)} of {len(answers)}\n" + "\n".join(wrong)


@pytest.mark.parametrize("words", [["--nmae=x", "job", "show"], ["job", "show", "--nmae=x"], ["job", "show", "--nmae", "x"]])
def test_a_value_does_not_hide_the_slip(words):
    result = run(*words)
    assert result.returncode == 2
    assert "--nmae" in result.stderr


@pytest.mark.parametrize("words", [["zzzzzz"], ["job", "zzzzzz"], ["job", "list", "--zzzzzz"], ["az", "zzzzzz"]])
def test_nothing_is_suggested_for_what_is_like_nothing(words):
    result = run(*words)
    assert result.returncode == 2
    assert "did you mean" not in result.stderr and "--help" in result.stderr
