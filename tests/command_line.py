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
os.environ["TERCET_CACHE"] = "off"
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
for arguments in (["--bogus"], ["--simd", "128", "x.tct"], ["--optimize", "much", "x.tct"], ["--compile-loops", "much", "x.tct"], ["check"], ["no_such_file.tct"], ["ir", "x.tct"], ["/"]):
    status, out, err = tercet(*arguments)
    expect(f"bad usage {arguments}", status == 2 and not out and err, (status, out, err))
same("version", tercet("--version")[0], 0)
expect("help", "Usage" in tercet("--help")[1], "")
for flags in (["--threads", "1"], ["--simd", "256"], ["--jit-all"], ["--optimize", "always"], ["--optimize", "never"], ["--compile-loops", "always"], ["--compile-loops", "never"]):
    same(f"flags {flags}", tercet(*flags, "-e", "sum(arange(10))"), (0, "45\n", ""))

# ---- fmt ----
path = program("let  x=1\n\n\n\nprint( x )   # one\n", "layout.tct")
same("fmt --check names what would change", tercet("fmt", "--check", path), (1, path + "\n", ""))
same("fmt rewrites", tercet("fmt", path), (0, "", ""))
expect("fmt has one layout", pathlib.Path(path).read_text() == "let x = 1\n\nprint(x)   # one\n", pathlib.Path(path).read_text())
same("fmt --check is content then", tercet("fmt", "--check", path), (0, "", ""))
same("fmt of standard input", tercet("fmt", "-", given="f( 1 )"), (0, "f(1)\n", ""))
path = program("let x = (1\n", "wrong.tct")
status, out, err = tercet("fmt", path)
expect("fmt leaves a wrong program alone", status == 1 and "wrong.tct:1" in err and pathlib.Path(path).read_text() == "let x = (1\n", err)
expect("fmt of nothing", tercet("fmt", "no_such_folder")[0] == 2, "")

# ---- test ----
path = program('''## Twice x.
## >>> twice(2)
## 4
## >>> let y = twice(
## ...   [1, 2])
## >>> print(y,
## ...       "and")
## [2, 4] and
fn twice(x) = x * 2
print(twice(1))
#> 2
''', "tested.tct")
same("test runs output and examples", tercet("test", path), (0, "4 passed, 0 failed\n", ""))
same("test compiles", tercet("test", "--jit-all", path), (0, "4 passed, 0 failed\n", ""))
program("assert(1 > 2, 'no')\n#! assert no\n".replace("'", '"'), "error.tct")
same("test of an error", tercet("test", str(pathlib.Path(path).parent / "error.tct")), (0, "1 passed, 0 failed\n", ""))
wrong = program("## >>> 1 + 1\n## 3\nfn f() = 1\nprint(5)\n#> 6\n", "failing.tct")
status, out, err = tercet("test", wrong)
expect("test tells what differs", status == 1 and f"FAIL {wrong}\nwanted\n 6\ngot\n5\n" in out and f"FAIL {wrong}:1\nwanted\n3\ngot\n2\n" in out and out.endswith("0 passed, 2 failed\n"), out)
expect("test of no tests fails", tercet("test", program("1", "plain.tct"))[0] == 1, "")

# ---- check ----
for text, wanted in (("fn f(x, y) = x + y\nfn g() = f(1)", "`f` needs the argument `y`"), ("fn f(x) = x\nf(1, 2)", "`f` takes 1 argument, and this call gives more"),
                     ("fn g(x) = sum(x, axes=1)", "did you mean `axis`?"), ("fn f(x) = x\nlet y = 1 |> f(2)", "`f` takes 1 argument, and this call gives more"),
                     ("fn f(x: f32[n], y: f32[m]) = x @ y\nfn g(x: f32[n], k: i32) = f(x, k)", "`y` of `f` is f32[m], and this is i32"),
                     ("fn f(x: i32[n]) = x + \"a\"", "error[type]")):
    status, out, err = tercet("check", program(text))
    expect(f"check of {text!r}", status == 1 and wanted in err, err)
same("check knows pipes, shadows and later functions", tercet("check", program("fn g(x) = x |> f(2)\nfn f(a, b) = a * b\nfn h(f) = f(1)\nprint(1 |> f(2), 2)")), (0, "", ""))
program("fn twice(x: f32[n]) = x * 2\nlet one = 1\n", "lib.tct")
same("check knows what imports bind, and runs nothing of them",
     tercet("check", program('import "lib.tct"\nprint(lib.twice([1.0]), lib.one)\nfn f(x: f32[n]) = lib.twice(x)')), (0, "", ""))
status, out, err = tercet("check", program('import "lib.tct"\nprint(lib.twic([1.0]))'))
expect("check finds names that a module has not", status == 1 and "the module has no name `twic`" in err and "`twice`" in err, err)
status, out, err = tercet("check", program('import "lib.tct"\nfn f(x: f32) = lib.twice(x)'))
expect("check finds types of a module's functions", status == 1 and "error[type]" in err, err)
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
line = program("fn f(p, x) = x @ p.w + p.b.0".replace(".0", "[0]"), "line.tct")
status, out, err = tercet("ir", line, "--fn", "f", "--args", "(w=f32[d, k], b=(f32[k], i32)), f32[n, d]")
expect("ir of records and tuples", status == 0 and "%0: f32[d, k], %1: f32[k], %2: i32, %3: f32[n, d]" in out, out + err)
for wrong in ("(w=f32[d, k]", "(w=f32, i32)", "f32)", "(" * 500):
    status, out, err = tercet("ir", line, "--fn", "f", "--args", wrong)
    expect(f"ir of wrong types {wrong[:20]}", status == 1 and "types of the arguments" in err or "parts of a record" in err, err)
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

# ---- explain ----
center = """fn center(x) = x - mean(x, axis=1, keepdims=true)
let x = ones((4, 100))
"""
HAS_COMPILER = "no compiler" not in tercet(program(center + "print(explain(center, x))"))[1]
if HAS_COMPILER:
    EXPLAINED = [
        "center(f32[4, 100])", "made now for a function that is new", "compiled in T",
        "1. kernel, reduction along the vector loop: sum",
        "   for i0 < 4, i1 < 100 reduced in vectors",
        "   reads 1600 B, writes 16 B; 1 thread",
        "   gives f32[4]: stored for step 2; a reduction ends before it is read",
        "2. kernel, element by element: cast, div, sub",
        "   for i0 < 4, i1 < 100 in vectors",
        "   reads 1616 B, writes 1600 B; 1 thread",
        "   gives f32[4, 100]: a result",
        "memory: 4832 B moved; arguments and results have 3200 B (1.5 times)",
        "copies: none",
        "checks left: none",
    ]

    def explained(text, *flags):
        status, out, err = tercet("--threads", "2", *flags, program(text))
        return [re.sub(r"^compiled in .*", "compiled in T", line) for line in out.splitlines() if line]

    core = min(os.sched_getaffinity(0))
    alone = tercet(program("print(explain(x => x + 1.0, ones(3)))"), preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    expect("a process that may use one processor has one thread", "1 thread at most" in alone[1], alone)
    for flags in ([], ["--jit-all"], ["--simd", "256"]):
        same(f"explain {flags}", explained(center + "print(explain(center, x))", *flags), EXPLAINED)
    lines = explained(center + "let f = jit center\nf(x)\nprint(explain(f, x), compile_count(f))")
    same("explain after a call", (lines[0], lines[1], lines[-1]),
         ("jit center(f32[4, 100])", "made by an earlier call for a function that is new", "checks left: none 1"))
    lines = explained(center + "(jit center)(x)\nprint(explain(center, ones((1, 9))), explain(center, f64(x)))")
    expect("explain tells which sizes are 1", "made now for sizes that are 1: axis 0 of array 1" in lines, lines)
    expect("explain tells of new types", "made now for arguments of other types, or a size that has to be known" in lines, lines)
    lines = explained("fn f(x) = argmax(x, axis=-1)\nprint(explain(f, ones((4096, 10))))")
    expect("explain tells that short rows go to two threads", any(line.endswith("; 2 threads") for line in lines), lines)
    same("explain compiles and does not run", "ran" in tercet(program('print(explain(x => { print("ran"); x }, 1.0))'))[1].split("\n"), False)
    same(":explain", tercet(given=center + ":explain center(x)\n")[1].splitlines()[-1], EXPLAINED[-1])
    lines = explained("fn f(n) { var i = 0; while i < n { i = i + 1 }; i }\nprint(explain(f, 3))")
    expect("explain shows bodies", any("runs bodies" in line for line in lines) and "body 1:" in lines, lines)
    lines = explained("fn f(x, i) = x[i] * 2.0\nprint(explain(f, arange(9.0), [3, 4]))")
    expect("explain counts checks", lines[-1] == "checks left: 1" and "   checks: check_index" in lines, lines)
    expect("explain takes a function", "error[type]" in tercet("-e", "explain(3, 4)")[2], "")
    expect("explain is not compiled", "error[compile]" in tercet("-e", "(jit (x => { explain(sum, x); x }))([1])")[2], "")

# ---- the cache of compiled code ----
if HAS_COMPILER:
    cache = pathlib.Path(FOLDER.name) / "cache"
    source = program("let f = jit (x => exp(x) * 2.0)\nprint(f([0.0, 1.0]))\nprint(explain(f, [0.0, 1.0]))", "cached.tct")

    def with_cache(*arguments, cache=str(cache), **more):
        environment = {k: v for k, v in os.environ.items() if k not in ("TERCET_CACHE", "XDG_CACHE_HOME")}
        return tercet(*arguments, env={**environment, **({"TERCET_CACHE": cache} if cache is not None else {}), **more})

    def entries():
        return sorted(p for p in cache.rglob("*") if p.is_file())

    def ran(what, hit, **options):
        status, out, err = with_cache(source, **options)
        good = status == 0 and not err and out.startswith("[2.0, 5.4365635]\n")
        expect(what, good and ("found in the cache" in out) == hit, (status, out, err))

    same("info of a cache that is not there", with_cache("cache", "info"), (0, f"{cache}: 0 compiled programs, 0 kB of at most 536870 kB\n", ""))
    expect("and it is not made by asking", not cache.exists(), "")
    ran("the first run compiles", False)
    ran("the second finds the code", True)
    expect("info counts", with_cache("cache", "info")[1].startswith(f"{cache}: 1 compiled program, "), with_cache("cache", "info"))
    [entry] = entries()
    whole = entry.read_bytes()
    for what, damaged in (("an empty file", b""), ("half a file", whole[:len(whole) // 2]), ("a flipped bit", whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]),
                          ("another program's file", b"\x7fELF" + whole)):
        entry.write_bytes(damaged)
        ran(f"{what} is compiled again", False)
        expect(f"{what} is replaced", entry.read_bytes() == whole, "")
        ran(f"the replacement of {what} is found", True)
    children = [subprocess.Popen([TERCET, program(f"print((jit (x => x + {i % 3}.0))([1.0]))", f"cached{i}.tct")], stdout=subprocess.PIPE,
                                 text=True, env={**os.environ, "TERCET_CACHE": str(cache)}) for i in range(9)]
    same("processes at once", [c.communicate()[0] for c in children], [f"[{1.0 + i % 3}]\n" for i in range(9)])
    same("they keep one file for each program", len(entries()), 4)
    same("clear", with_cache("cache", "clear"), (0, f"removed 4 compiled programs from {cache}\n", ""))
    same("after clear nothing is left", entries(), [])
    ran("and code is compiled again", False)
    ran("off", False, cache="off")
    same("info of a cache that is off", with_cache("cache", "info", cache="off"), (0, "the cache is off\n", ""))
    ran("a folder that cannot be made", False, cache="/proc/nothing")
    ran("a file in the folder's place", False, cache=source)
    home = pathlib.Path(FOLDER.name) / "home"
    ran("without a variable it is in the home folder", False, cache=None, HOME=str(home))
    expect("that is ~/.cache/tercet", (home / ".cache" / "tercet").is_dir(), "")
    ran("XDG_CACHE_HOME", False, cache=None, HOME=str(home), XDG_CACHE_HOME=str(home / "xdg"))
    expect("comes first", (home / "xdg" / "tercet").is_dir(), "")
    os.chmod(cache, 0o777)
    ran("a folder that others may write to is not read", False)
    expect("and info says why", "others may write" in with_cache("cache", "info")[2], with_cache("cache", "info"))
    same("cache takes an action", with_cache("cache")[0], 2)
    same("which it knows", with_cache("cache", "drop")[0], 2)

# ---- examples that need arguments ----
EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples"
model = pathlib.Path(FOLDER.name) / "model"
model.mkdir()
status, output, report = tercet(str(EXAMPLES / "section_classifier.tct"), str(EXAMPLES / "data" / "descriptions.jsonl"), str(model))
expect("the classifier is trained and saved", status == 0 and output.count("\n") == 5 and len(list(model.iterdir())) == 3, (output, report))
status, output, report = tercet(str(EXAMPLES / "classify.tct"), str(model), given="a library for Perl\ndocumentation of a package\n")
expect("and classifies lines of standard input", status == 0 and re.fullmatch(r"(\w+ \d\.\d\d, \w+ \d\.\d\d: [\w ]+\n){2}", output), (output, report))

# ---- a bar for loops that take long ----
def on_terminal(*arguments, columns=100):
    """What a program writes to a terminal as standard error, and to a pipe as standard output."""
    import fcntl
    import pty
    import struct
    import termios
    import threading
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    seen = []

    def read():
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:      # the other side is closed
                return
            if not part:
                return
            seen.append(part)

    child = subprocess.Popen([TERCET, *arguments], cwd=FOLDER.name, stdout=subprocess.PIPE, stderr=theirs,
                             env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    reader = threading.Thread(target=read)
    reader.start()
    out, _ = child.communicate(timeout=120)
    reader.join()
    os.close(ours)
    return child.returncode, out.decode(), b"".join(seen).decode()


SLOW = "fn busy(n) { var s = 0.0\nfor k in 0..n { s += sin(s) + 1.0 }\ns }\n"
long_loop = program(SLOW + """
let n = 60
var total = 0.0
for i in 0..n {
  if i == 30 { print("half") }
  total += busy(80000)
}
print("done", total > 0.0)
""", "long.tct")
status, out, bar = on_terminal("--compile-loops", "never", long_loop)
same("a long loop prints", (status, out), (0, "half\ndone true\n"))
expect("it has a bar", re.search(r"\r\x1b\[K *\d+% [█▏▎▍▌▋▊▉]* +\d+ of 60(, [\d,]+ of 80,000)? · 0:\d\d gone, 0:\d\d left", bar), repr(bar[-300:]))
expect("the bar is taken away", bar.endswith("\r\x1b[K"), repr(bar[-80:]))
same("without a bar", on_terminal("--no-progress", "--compile-loops", "never", long_loop), (0, "half\ndone true\n", ""))
same("no bar where standard error is no terminal", tercet(long_loop), (0, "half\ndone true\n", ""))
same("no bar for what is quick", on_terminal("-e", "for i in 0..1000 { let x = i }"), (0, "", ""))
with open(pathlib.Path(FOLDER.name) / "many.txt", "w") as many:
    many.write("some words in a line\n" * 4000)
status, out, bar = on_terminal("--compile-loops", "never", program(SLOW + 'var total = 0.0\nfor lines in stream_lines("many.txt", 50) { total += busy(80000) }\nprint(total > 0.0)', "stream.tct"))
expect("a stream knows its share", status == 0 and re.search(r"\d+% [█▏▎▍▌▋▊▉]* +step \d+", bar), (status, repr(bar[-300:])))
status, out, bar = on_terminal("--compile-loops", "never", program(SLOW + "var total = 0.0\nfor i in 0..400 { total += busy(60000)\nif i == 100 { let x = [1][i] } }", "fails.tct"))
expect("an error stands where the bar was", status == 1 and "\r\x1b[Kerror[index]" in bar.replace("\x1b[1m", ""), (status, repr(bar[-400:])))
status, out, bar = on_terminal(program(SLOW + "print(busy(150000000) > 0.0)", "compiled.tct"))
expect("a loop that was compiled has a bar", status == 0 and out == "true\n" and re.search(r"\d+% [█▏▎▍▌▋▊▉]* +[\d,]+ of 150,000,000", bar), (status, out, repr(bar[-300:])))

# ---- Ctrl-C ----
for what, text in (("a loop", "var x = 0\nwhile true { x = x + 1 }"),
                   ("compiled code", "fn f(n) { var x = 0; while x >= 0 { x = (x + 1) % n }; x }\n(jit f)(7)")):
    status, seconds, report = interrupted([program(text)])
    expect(f"Ctrl-C stops {what}", status == 130 and seconds < 0.5 and "error[interrupt]" in report, (status, seconds, report))

# ---- bench ----
timed = program("""let x = linspace(0.0, 1.0, 1000)
print("ready")
fn bench_sum() = sum(x * x)
jit fn bench_fast() { print("not shown"); sum(x) }
fn bench_of(n) = n
fn other() = 1
""", "timed.tct")
status, out, err = tercet("bench", "--seconds", "0.05", timed)
lines = out.splitlines()
expect("bench", status == 0 and lines[0] == "ready" and lines[1].split() == ["median", "least", "most", "first", "calls"] and
       [line.split()[0] for line in lines[2:]] == ["bench_sum", "bench_fast"] and all(re.fullmatch(r"\w+( +[\d.e+]+ (ns|us|ms|s)){4}  \d+ x \d+", line) for line in lines[2:]), out + err)
status, out, err = tercet("bench", "--seconds", "0.05", "--only", "fast", timed)
expect("bench --only", status == 0 and [line.split()[0] for line in out.splitlines()[2:]] == ["bench_fast"], out + err)
status, out, err = tercet("bench", "--only", "nothing", timed)
expect("bench of nothing", status == 1 and "no function without parameters" in err, out + err)
status, out, err = tercet("bench", "--seconds", "0.05", program("fn bench_a() = [1][len(arguments()) + 3]\nfn bench_b() = 2", "fails.tct"))
expect("bench goes on after a failure", status == 1 and "error[index]" in err and "bench_b" in out, out + err)
status, out, err = tercet("bench", "no_such_file.tct")
expect("bench of no file", status == 2, err)

# ---- hostile programs: each is answered, the same interpreted and compiled, and nothing crashes ----
pathlib.Path(FOLDER.name, "cycle_a.tct").write_text('import "cycle_b.tct"\n')
pathlib.Path(FOLDER.name, "cycle_b.tct").write_text('import "cycle_a.tct"\n')
HOSTILE = {
    "a line of 1 MB": ("let x = " + "1 + " * 250_000 + "1\nprint(x)", ""),
    "a name of 1 MB": ("a" * 1_000_000, "name"),
    "a string of 1 MB": ('print(len("' + "x" * 1_000_000 + '"))', ""),
    "an array of 1 MB": ("print(sum([" + "1, " * 300_000 + "1]))", ""),
    "signs": ("print(" + "-" * 500_000 + "1)", "limit"),
    "members": ("print(x" + ".a" * 300_000 + ")", "limit"),
    "transforms": ("print((" + "jit " * 200_000 + "abs)(1))", "limit"),
    "lambdas": ("let f = " + "x => " * 150_000 + "1", "limit"),
    "else if": ("let x = 3\nif x == 0 { 0 } " + "else if x == 1 { 1 } " * 40_000, "limit"),
    "parameters": ("fn f(" + ",".join(f"a{i}" for i in range(50_000)) + ") = 1\nprint(f(1))", "type"),
    "arguments": ("fn f(a) = 1\nprint(f(" + "1," * 300_000 + "1))", "type"),
    "NUL bytes": ("let x = 1\0\nprint(x)", "syntax"),
    "bytes that are no text": (b'print("\xff\xfe\xc3")', "syntax"),
    "a cut text": (b"# \xe4\xb8\nprint(1)\xe4", "syntax"),
    "a surrogate": ('print("\\u{d800}")', "syntax"),
    "brackets": ("(" * 1_000_000, "limit"),
    "a huge shape": ("print(zeros(1000000000000000000))", "limit"),
    "a huge shape that is only known when it runs": ("fn f(n) = zeros((n, n))\nprint(f(4000000000))", "limit"),
    "a huge text": ('print(len(join(broadcast_to("abcdefgh", 1000000000000), "")))', "limit"),
    "huge repetition": ("print(tile([1, 2], 5000000000000000000))", "limit"),
    "huge padding": ("print(pad(ragged([1], [1]), length=1000000000000000000))", "limit"),
    "huge random": ("print(permutation(key(0), 1000000000000000000))", "limit"),
    "huge lanes": ("print(vmap[size=1000000000000](() => 1)())", "limit"),
    "endless recursion": ("fn f(n) = f(n + 1) + 1\nprint(f(0))", "limit"),
    "endless recursion of two": ("fn f(n) = if n < 0 { 0 } else { g(n + 1) }\nfn g(n) = f(n + 1) + 1\nprint(f(0))", "limit"),
    "endless self-application": ("let f = g => g(g)\nf(f)", "limit"),
    "a type that grows": ("fn f(x) = f((x, x))\nf(1)", "limit"),
    "an integer of many digits": ("print(" + "9" * 100_000 + ")", "syntax"),
    "a float of many digits": ("print(1" + "0" * 100_000 + ".5)", "syntax"),
    "a wide format": ('print(f"{1:999999999999999999999}")', "value"),
    "a long precision": ('print(f"{1.5:.999999999f}")', "value"),
    "a huge pattern": ('print(matches("a", "(a{1000}){1000}{1000}"))', "value"),
    "a slow pattern": ('print(matches("' + "a" * 50_000 + '", r"(a*)*b"))', ""),
    "a file that imports itself": ('import "cycle_a.tct"', "name"),
    "a device as a module": ('import "/dev/zero"', "io"),
    "the least integer": ("print(-9223372036854775808i64 // -1, abs(-9223372036854775808i64), 1 << 99, 1 >> -1)", ""),
    "an axis out of all ranges": ("print(sum([1], axis=9223372036854775807))", "shape"),
    "a window that overflows": ("let k = 9223372036854775807\nprint([1, 2, 3][k : k + 2])", "index"),
    "steps that overflow": ("print([1, 2, 3][::9223372036854775807], [1, 2, 3][::-9223372036854775807])", ""),
    "a long chain of texts": ('let x = "a"\nlet y = ' + " + ".join(["x"] * 80_000) + "\nprint(len(y))", ""),
    "a text of many holes": ('let x = 1\nprint(len(f"' + "{x}" * 80_000 + '"))', ""),
    "a text doubled again and again": ('fn f() {\nlet s0 = ""\n' + "".join(f"let s{i + 1} = s{i} + s{i}\n" for i in range(60)) + 's60 == ""\n}\nprint(f())', ""),
    "too many axes": ("print(reshape([1], (" + "1, " * 70 + "1)))", "limit"),
    "too many devices": ("print(pmap[devices=1000000](x => x)(arange(1000000)))", "device"),
}
for what, (text, kind) in HOSTILE.items():
    path = pathlib.Path(FOLDER.name, "hostile.tct")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    results = [tercet("--memory", "4G", *flags, str(path), errors="replace") for flags in ([], ["--jit-all"])]
    status, out, err = results[0]
    expect(what, status == (1 if kind else 0) and err.startswith(f"error[{kind}]" if kind else "") and "inside Tercet" not in err, (status, err[:300]))
    expect(what + ", compiled", results[0] == results[1], (results[1][0], results[1][2][:300]))

print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
