#!/usr/bin/env python3
"""Runs .tct programs and compares what they print with the expectations written in them.

  #> text        a line of standard output, in order; only the amount of white space may differ
  #! kind text   the program must end with error[kind] and status 1, its report containing `text` (may be absent)

--update writes the output of this run into the files. Ends with "N passed, N failed".
"""
import argparse
import pathlib
import re
import subprocess
import sys

WANT = re.compile(r"^#>[ ]?(.*)$", re.M)
KIND = re.compile(r"^#![ ]*(\w+)[ ]*(.*)$", re.M)


def run(path, args):
    """Status, output and report of one program; None when it does not end in time."""
    try:
        return subprocess.run([args.tercet, *args.flag, str(path)], capture_output=True, timeout=args.seconds)
    except subprocess.TimeoutExpired:
        return None


def words(text):
    """Text with single spaces, and none after a bracket (where columns are aligned)."""
    return re.sub(r"([\[(]) ", r"\1", " ".join(text.split()))


def problem_of(text, done, seconds):
    if done is None:
        return f"no answer in {seconds} s"
    out, report = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    kind = KIND.search(text)
    if kind:
        if done.returncode != 1 or f"error[{kind[1]}]" not in report or kind[2].strip() not in report:
            return f"wanted error[{kind[1]}] {kind[2]}, got status {done.returncode}: {report.strip()[:600]}"
    elif done.returncode != 0:
        return f"status {done.returncode}: {report.strip()[:600]}"
    want, got = words("\n".join(WANT.findall(text))), words(out)
    return None if want == got else f"wanted {want[:400]}\n     got {got[:400]}"


def updated(text, out):
    """`text` with its expectations replaced: line by line where the number of lines allows it, else at the end."""
    lines = out.splitlines()
    if len(lines) == len(WANT.findall(text)):
        rest = iter(lines)
        return WANT.sub(lambda _: ("#> " + next(rest)).rstrip(), text)
    kept = re.sub(r"^#>.*\n?", "", text, flags=re.M).rstrip("\n")
    return "\n".join([kept, *(("#> " + line).rstrip() for line in lines)]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tercet", required=True)
    parser.add_argument("--flag", action="append", default=[], help="passed on, e.g. --flag=--jit-all")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("places", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    files = sorted(f for p in args.places for f in ([p] if p.is_file() else p.rglob("*.tct")))
    # Programs that need arguments or input say so, and are run by tests/command_line.py.
    files = [f for f in files if not f.read_text().startswith("#: tests/command_line.py")]
    bad = 0
    for path in files:
        text, done = path.read_text(), run(path, args)
        if args.update and done is not None:
            path.write_text(text := updated(text, done.stdout.decode(errors="replace")))
        problem = problem_of(text, done, args.seconds)
        if problem:
            bad += 1
            print(f"FAIL {path}{' ' if args.flag else ''}{' '.join(args.flag)}: {problem}")
    print(f"{len(files) - bad} passed, {bad} failed")
    sys.exit(bad > 0)


main()
