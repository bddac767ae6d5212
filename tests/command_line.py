#!/usr/bin/env python3
"""Tests of the command line: what is printed where, and the exit status. Ends with "N passed, N failed"."""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tercet", required=True)
TERCET = str(pathlib.Path(parser.parse_args().tercet).resolve())
FOLDER = tempfile.TemporaryDirectory()
passed = failed = 0


def tercet(*arguments, given="", **options):
    """(status, standard output, standard error)"""
    done = subprocess.run([TERCET, *arguments], input=given, capture_output=True, text=True, timeout=60, cwd=FOLDER.name,
                          **options)
    return done.returncode, done.stdout, done.stderr


def program(text, name="program.tct"):
    path = pathlib.Path(FOLDER.name) / name
    path.write_text(text)
    return str(path)


def expect(what, ok, got):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAIL {what}: {got}")


def same(what, got, want):
    expect(what, got == want, f"wanted {want}, got {got}")


def interrupted(arguments):
    """Status, seconds until it ended after Ctrl-C, and standard error."""
    child = subprocess.Popen([TERCET, *arguments], cwd=FOLDER.name, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.7)
    begin = time.monotonic()
    child.send_signal(signal.SIGINT)
    try:
        _, report = child.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None, 20, "it did not end"
    return child.returncode, time.monotonic() - begin, report


# ---- files, expressions, status ----
same("-e prints a value", tercet("-e", "1 + 1"), (0, "2\n", ""))
same("-e may be repeated", tercet("-e", "let x = 2", "-e", "x * 3"), (0, "6\n", ""))
same("a file prints what it prints", tercet(program("print(1)\n2")), (0, "1\n", ""))
same("run FILE", tercet("run", program("print(1)")), (0, "1\n", ""))
same("standard input", tercet("-", given="print(3)"), (0, "3\n", ""))
same("an empty program", tercet(program("")), (0, "", ""))
status, out, err = tercet(program("print(1)\nprint(nothing_such)"))
expect("an error ends with status 1 after the output", status == 1 and out == "1\n" and "error[name]" in err, (status, out, err))
expect("an error shows its place", "program.tct:2:7" in err, err)
for arguments in (["--bogus"], ["--simd", "128", "x.tct"], ["check"], ["no_such_file.tct"], ["ir", "x.tct"], ["/"]):
    status, out, err = tercet(*arguments)
    expect(f"bad usage {arguments}", status == 2 and not out and err, (status, out, err))
same("version", tercet("--version")[0], 0)
expect("help", "Usage" in tercet("--help")[1], "")
for flags in (["--threads", "1"], ["--simd", "256"], ["--jit-all"]):
    same(f"flags {flags}", tercet(*flags, "-e", "sum(arange(10))"), (0, "45\n", ""))

# ---- check ----
same("check runs nothing", tercet("check", program('print("side effect")')), (0, "", ""))
expect("check finds errors", tercet("check", program("let x = (1"))[0] == 1, "")

# ---- ir ----
double = program("fn double(x) = x * 2.0 + 1.0")
for stage in ("ast", "ir", "batched", "optimized"):
    status, out, err = tercet("ir", double, "--fn", "double", "--args", "f32[n]", "--stage", stage)
    expect(f"ir --stage {stage}", status == 0 and len(out) > 10, (status, out, err))
status, out, err = tercet("ir", program("fn f(x) = exp(x) + tanh(x)", "fused.tct"), "--fn", "f", "--args", "f32[n]", "--stage", "asm")
if "no compiler" not in err:
    wide = "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
    expect("a fused kernel is vector code without calls", ("zmm" if wide else "ymm") in out and not re.search(r"\bcall", out), err)
status, out, err = tercet("ir", double, "--fn", "nothing", "--args", "f32[n]")
expect("ir of an unknown function", status == 1 and "error[name]" in err, (status, out, err))
status, out, err = tercet("ir", double, "--fn", "double", "--args", "f33[n]")
expect("ir with a malformed type", status in (1, 2) and err, (status, out, err))

# ---- the prompt, without a terminal ----
same("the prompt echoes type and value", tercet(given="[1, 2, 3]\n"), (0, "i32[3] [1, 2, 3]\n", ""))
same("ans is the last value", tercet(given="2 * 3\nans + 1\n|> (x => x * 2)\n"), (0, "i32 6\ni32 7\ni32 14\n", ""))
same("input over several lines", tercet(given="fn f(x) = {\n  x +\n  1\n}\nf(2)\n"), (0, "i32 3\n", ""))
status, out, err = tercet(given="let x = 1\nx[\n5]\nx + 1\n")
expect("an error leaves the session as it was", out == "i32 2\n" and "error[" in err, (status, out, err))
expect(":quit leaves", tercet(given=":quit\nprint(1)\n")[1] == "", "")
expect(":help", ":type" in tercet(given=":help\n")[1], "")
same("functions are echoed by signature", tercet(given="fn f(x, k=2) = x\njit vmap[_, 0] f\n")[1].replace(" ", ""), "jitvmap[_,0]fnf(x,k=2)\n")
same(":type", tercet(given=":type [1.0, 2.0]\n")[1].strip(), "f32[2]")
expect(":reset forgets", "error[name]" in tercet(given="let x = 1\n:reset\nx\n")[2], "")
expect("an unknown command", "no command" in tercet(given=":bogus\n")[2], "")

# ---- Ctrl-C ----
for what, text in (("a loop", "var x = 0\nwhile true { x = x + 1 }"),
                   ("compiled code", "fn f(n) { var x = 0; while x >= 0 { x = (x + 1) % n }; x }\n(jit f)(7)")):
    status, seconds, report = interrupted([program(text)])
    expect(f"Ctrl-C stops {what}", status == 130 and seconds < 0.5 and "error[interrupt]" in report, (status, seconds, report))

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
