#!/usr/bin/env python3
"""Adds up what ctest (its LastTest.log) and pytest (junit XML) ran: 'N passed, N failed'.

A GoogleTest program counts with its cases, any other ctest entry as one.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree


def count_ctest(path):
    passed = failed = 0
    with open(path, encoding="utf-8", errors="replace") as file:
        entries = re.split(r"^\d+/\d+ Testing: ", file.read(), flags=re.MULTILINE)
    for entry in entries[1:]:
        cases_passed = re.findall(r"^\[  PASSED  \] (\d+) tests?\.", entry, re.MULTILINE)
        cases_failed = re.findall(r"^ ?(\d+) FAILED TESTS?", entry, re.MULTILINE)
        ok = re.search(r"^Test Passed\.", entry, re.MULTILINE) is not None
        if cases_passed:
            passed += int(cases_passed[-1])
            failed += int(cases_failed[-1]) if cases_failed else (0 if ok else 1)
        elif "Test Passed." in entry or "Test Failed." in entry:
            passed, failed = (passed + 1, failed) if ok else (passed, failed + 1)
    return passed, failed


def count_junit(path):
    passed = failed = skipped = 0
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        left_out = int(suite.get("skipped", 0))
        failed += bad
        skipped += left_out
        passed += int(suite.get("tests", 0)) - bad - left_out
    return passed, failed, skipped


def main():
    passed = failed = skipped = 0
    for path in sys.argv[1:]:
        try:
            if path.endswith(".xml"):
                more = count_junit(path)
                skipped += more[2]
            else:
                more = count_ctest(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"count_tests: {path} says nothing ({error}); its suite counts as one failure", file=sys.stderr)
            more = (0, 1)
        passed += more[0]
        failed += more[1]
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
