#!/usr/bin/env python3
"""Runs the programs in Markdown pages and compares what they print with what the page shows.

An example is a fenced block marked `tct`. What it prints stands either inside, as in tests/cases
  #> text        a line of standard output, in order; only the amount of white space may differ
  #! kind text   the program ends with error[kind], its report containing `text`
or in a block marked `text` that follows directly: standard output and the error report, together and exact.
A block marked `tct NAME` is a file of that name for the examples after it on the page.
A block with neither must run and print nothing. The program is named example.tct.
--update writes what this run printed into the blocks marked `text`. Ends with "N passed, N failed".
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```tct\n(.*?)^```\n(?:\s*^```text\n(.*?)^```$)?", re.M | re.S)
FILE = re.compile(r"^```tct (\S+)\n(.*?)^```$", re.M | re.S)
WANT = re.compile(r"^#>[ ]?(.*)$", re.M)
KIND = re.compile(r"^#![ ]*(\w+)[ ]*(.*)$", re.M)


def run(program, files, tercet, flags):
    """Status, standard output and error report of one program, beside whose file `files` (name, text) lie."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in [*files, ("example.tct", program)]:
            (pathlib.Path(folder) / name).write_text(content)
        try:
            done = subprocess.run([tercet, *flags, "example.tct"], cwd=folder, timeout=60, capture_output=True)
        except subprocess.TimeoutExpired:
            return None, "", "no answer in 60 s"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def words(text):
    """Text with single spaces, and none after a bracket (where columns are aligned)."""
    return re.sub(r"([\[(]) ", r"\1", " ".join(text.split()))


def problem_of(program, status, out, report):
    """What differs from the expectations written inside the program, or None."""
    kind = KIND.search(program)
    if kind and (status != 1 or f"error[{kind[1]}]" not in report or kind[2].strip() not in report):
        return f"wanted error[{kind[1]}] {kind[2]}, got status {status}: {report}"
    if not kind and status != 0:
        return f"status {status}: {report}"
    want = "\n".join(WANT.findall(program))
    return None if words(want) == words(out) else f"wanted\n{want}\ngot\n{out}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tercet", required=True)
    parser.add_argument("--flag", action="append", default=[], help="passed on, e.g. --flag=--jit-all")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    tercet, passed, failed = str(pathlib.Path(args.tercet).resolve()), 0, 0

    def compare(match):
        nonlocal passed, failed
        files = FILE.findall(text, 0, match.start())
        status, out, report = run(match[1], files, tercet, args.flag)
        got = out + report
        if match[2] is None:
            problem = problem_of(match[1], status, out, report)
        else:
            problem = None if args.update or got.rstrip() == match[2].rstrip() else f"wanted\n{match[2]}got\n{got}"
        passed, failed = passed + (not problem), failed + bool(problem)
        if problem:
            line = text.count("\n", 0, match.start()) + 1
            print(f"FAIL {page}:{line}{''.join(' ' + f for f in args.flag)}\n{match[1]}{problem}")
        if match[2] is None or not args.update:
            return match[0]
        return match[0][:match.start(2) - match.start()] + got.rstrip() + "\n```"

    for page in args.pages:
        text = page.read_text()
        new = BLOCK.sub(compare, text)
        if new != text:
            page.write_text(new)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
