#!/usr/bin/env python3
"""The installed library from outside: installs a build into a folder of its own, moves it, builds hosts against it in the
ways there are, runs them, and looks at what the library exports. Ends with "N passed, N failed".

  python3 tests/embedding.py --build build/release
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--build", type=pathlib.Path, required=True, help="a build folder in which everything is built")
args = parser.parse_args()
passed = failed = 0


def check(what, good, detail=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {what}: {detail}"[:2000])


def run(*command, env=None, cwd=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=env, cwd=cwd, timeout=300)
    return done.returncode, done.stdout, done.stdout + done.stderr


work = pathlib.Path(tempfile.mkdtemp(prefix="tercet-embedding-"))
try:
    status, _, log = run("cmake", "--install", args.build, "--prefix", work / "first", "--strip")
    check("cmake --install", status == 0, log)
    prefix = (work / "first").rename(work / "moved")
    library = next((p for p in prefix.rglob("libtercet.so")), None)
    check("libtercet.so is installed", library is not None)
    lib = library.parent
    env = {**os.environ, "LD_LIBRARY_PATH": str(lib), "TERCET_CACHE": "off",
           "PKG_CONFIG_PATH": str(lib / "pkgconfig")}

    # ---- what is exported is what the header declares ----
    exported = set(re.findall(r" [TWVD] (\w+)", run("nm", "-D", "--defined-only", library)[1]))
    declared = set(re.findall(r"^TCT_API [^;(]*?\b(tct_\w+)\(", (prefix / "include/tercet/tercet.h").read_text(), re.M))
    check("exported symbols", exported == declared, f"{sorted(exported ^ declared)}")
    abi = re.search(r"TCT_ABI_VERSION (\d+)", (prefix / "include/tercet/tercet.h").read_text())[1]
    check("SONAME", f"libtercet.so.{abi}]" in run("readelf", "-d", library)[1])

    # ---- hosts through find_package ----
    hosts = ROOT / "examples" / "embedding"
    status, _, log = run("cmake", "-S", hosts, "-B", work / "hosts", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    status2, _, log2 = run("cmake", "--build", work / "hosts")
    check("hosts by find_package", status == 0 and status2 == 0, log + log2)
    want = {"host_c": "i64[2] [5, 6]\n", "host_cpp": "f32[2, 10] 0.5 2\nindex\n"}
    for host, text in want.items():
        status, out, log = run(work / "hosts" / host, env=env)
        check(f"{host} runs", status == 0 and out == text, log)
    for source in hosts.glob("host.c*"):
        check(f"{source.name} is short", len(source.read_text().splitlines()) <= 30)

    # ---- hosts through pkg-config; the header as old C; warnings ----
    flags = run("pkg-config", "--cflags", "--libs", "tercet", env=env)[1].split()
    status, _, log = run("cc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", hosts / "host.c", *flags, "-o", work / "by_pkg_config")
    check("host.c by pkg-config", status == 0, log)
    status, out, log = run(work / "by_pkg_config", env=env)
    check("host.c by pkg-config runs", status == 0 and out == want["host_c"], log)
    status, _, log = run("c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", ROOT / "tests/embedding/check.cpp", *flags, "-pthread", "-o", work / "check")
    check("check.cpp", status == 0, log)
    text = "#include <tercet/tercet.hpp>\nint main() { return tercet::Value(1).view<int>().size(); }\n"
    (work / "dangling.cpp").write_text(text)
    status, _, log = run("c++", "-std=c++20", "-fsyntax-only", work / "dangling.cpp", *flags)
    check("a view of a temporary does not compile", status != 0 and "deleted function" in log, log)

    # ---- the interface itself ----
    status, out, log = run(work / "check", env=env)
    total = re.search(r"(\d+) passed, (\d+) failed\n$", out)
    print("".join(line + "\n" for line in out.splitlines()[:-1]), end="")
    check("check runs to its end", total is not None, f"status {status}: {log}")
    if total:
        passed, failed = passed + int(total[1]), failed + int(total[2])
    status, _, log = run("c++", "-std=c++20", "-O1", "-Wall", "-Wextra", ROOT / "tests/embedding/ladder.cpp", *flags, "-pthread", "-o", work / "ladder")
    check("ladder.cpp", status == 0, log)
    status, out, log = run(work / "ladder", env=env)
    total = re.search(r"(\d+) passed, (\d+) failed\n$", out)
    check("every allocation failing", status == 0 and total, f"status {status}: {log}")
    if total:
        passed, failed = passed + int(total[1]), failed + int(total[2])
finally:
    shutil.rmtree(work, ignore_errors=True)
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
