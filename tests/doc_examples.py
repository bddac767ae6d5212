#!/usr/bin/env python3
"""Runs the programs in Markdown pages and compares what they print with what the page shows.

An example is a fenced block marked `tct` directly followed by a fenced block marked `text`: standard output and the
error report, together. The program is named example.tct. --update writes what this run printed into the pages.
Ends with "N passed, N failed".
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

EXAMPLE = re.compile(r"^```tct\n(.*?)^```\n\s*^```text\n(.*?)^```$", re.M | re.S)


def printed(program, tercet, flags):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "example.tct").write_text(program)
        done = subprocess.run([tercet, *flags, "example.tct"], cwd=folder, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.decode(errors="replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tercet", required=True)
    parser.add_argument("--flag", action="append", default=[])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    tercet, passed, failed = str(pathlib.Path(args.tercet).resolve()), 0, 0

    def compare(match):
        nonlocal passed, failed
        got = printed(match[1], tercet, args.flag)
        if got.rstrip() == match[2].rstrip():
            passed += 1
        else:
            failed += not args.update
            if not args.update:
                print(f"FAIL {page}:\n{match[1]}wanted\n{match[2]}got\n{got}")
        return match[0][:match.start(2) - match.start()] + got.rstrip() + "\n```" if args.update else match[0]

    for page in args.pages:
        text = page.read_text()
        new = EXAMPLE.sub(compare, text)
        if new != text:
            page.write_text(new)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
