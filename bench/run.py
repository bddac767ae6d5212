#!/usr/bin/env python3
"""The benchmark: Tercet beside JAX on CPU. docs/performance.md says how it measures; `./dev bench` builds and runs it.

Prints a table; times are medians. Without JAX in this Python, Tercet alone. Rows: bench/suite.tct, bench/jax_rows.py.
"""
import argparse
import fnmatch
import gc
import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from systems import ROOT, Failed, Jax, Tercet, difference
from table import OTHERS, Table, print_summary


def measure(row, systems, options):
    """{system: figures} as in bench/table.py, and under "differs" what two systems do not agree in."""
    quick, typical = options.quick, min if options.best else statistics.median
    out, live = {}, {name: s for name, s in systems.items() if s.has(row)}

    def each(step):
        """step(name, system) of every live system in turn; its value by name. One that fails is out of the race."""
        values = {}
        for name in list(live):
            try:
                values[name] = step(name, live[name])
            except Failed as failure:
                out[name] = {"error": str(failure)}
                del live[name]
        return values

    firsts, warm = {name: [] for name in live}, {name: [] for name in live}
    start = time.monotonic()
    for i in range(1 if quick else 3):
        if i and time.monotonic() - start > 20:
            break
        each(lambda name, s: s.load(row))
        for name, ns in each(lambda name, s: s.first()).items():
            firsts[name].append(ns)
    if row["notes"].get("only") != "first":
        guess = each(lambda name, s: min(s.run(2)))
        budget, rounds = (0.05, 3) if quick else (0.12, 9)
        times = {name: max(1, min(100, int(budget * 1e9 / (ns * row["calls"])))) for name, ns in guess.items()}
        for _ in range(rounds):
            for name, values in each(lambda name, s: s.run(times[name])).items():
                warm[name] += values
    probes = each(lambda name, s: s.probe())
    each(lambda name, s: s.release())
    for name in live:
        out[name] = {"first": typical(firsts[name]), "warm": typical(warm[name]) if warm[name] else None}
        if warm[name]:
            out[name] |= {"fastest": min(warm[name]), "runs": len(warm[name])}
    for name in probes:
        if name != "tercet" and "tercet" in probes:
            found = difference(probes["tercet"], probes[name], float(row["notes"].get("tolerance", 1e-4)))
            if found:
                out["differs"] = f"Tercet and {name}: {found}"
    return out


def measure_found(row, options):
    """Nanoseconds of the first call where an earlier process has compiled the same and left it on disk."""
    times = []
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(2):
            runner = Tercet(str(options.programs / "bench_runner"), "bench/suite.tct", cache)
            for _ in range(3):
                runner.load(row)
                times.append(runner.first())
            runner.end()
    return statistics.median(times[3:])


def whole_processes(tercet, python):
    """Rows that are measured from the start of a process to its end: name, title, two commands, and whether the second one
    is about JAX (else it stays out of the means)."""
    yield ("start", "start to first result", [tercet, "-e", "sum(arange(10))"],
           [python, "-c", "import jax.numpy as jnp; print(jnp.sum(jnp.arange(10)))"], True)
    yield ("start_jit", "start to first result of a compiled function", [tercet, "-e", "jit (x => sum(x * x))(arange(10))"],
           [python, "-c", "import jax, jax.numpy as jnp; print(jax.jit(lambda x: jnp.sum(x * x))(jnp.arange(10)))"], True)
    yield ("text_pipeline", "texts to counts, 6,400 texts, whole process (Python and JAX)", [tercet, "bench/text_pipeline.tct"],
           [python, "bench/text_pipeline.py"], False)


def measure_processes(commands, options):
    rounds, typical = 3 if options.quick else 11, min if options.best else statistics.median
    times, printed = {side: [] for side in commands}, {}
    for _ in range(rounds):
        for side, command in commands.items():
            begin = time.perf_counter_ns()
            done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
            times[side].append(time.perf_counter_ns() - begin)
            printed[side] = done.stdout
            if done.returncode:
                raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr}")
    out = {side: {"first": typical(t), "warm": None} for side, t in times.items()}
    if len(set(printed.values())) > 1:
        out["differs"] = f"printed were {printed}"
    return out


class Machine:
    """The bounds, measured between the rows."""

    def __init__(self, runner):
        self.runner, self.triads = runner, {}
        self.fma = runner.ask("fma")["operations_per_second"]

    def triad(self, size):
        if size not in self.triads:
            self.triads[size] = self.runner.ask(f"triad {int(size)}")["bytes_per_second"]
        return self.triads[size]

    def bound(self, row, warm):
        """What share of what bounds the row it reaches."""
        notes = {key: float(value) for key, value in row["notes"].items() if key in ("bytes", "flops", "footprint")}
        if warm and "bytes" in notes:
            best = self.triad(notes.get("footprint", notes["bytes"]))
            return {"bound": notes["bytes"] / (warm / 1e9) / best, "bound_by": "triad"}
        if warm and "flops" in notes:
            return {"bound": notes["flops"] / (warm / 1e9) / self.fma, "bound_by": "fma"}
        return {}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", metavar="PATTERNS", default="*", help="names of rows: shell patterns, with commas between")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--best", action="store_true",
                        help="the fastest run instead of the median: for a machine that others use at the same time")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--no-jax", action="store_true", help="Tercet alone")
    parser.add_argument("--build", default="build/release", help="build folder")
    options = parser.parse_args()
    options.wanted = lambda name: any(fnmatch.fnmatch(name, p) for p in options.rows.split(","))
    options.programs = (ROOT / options.build / "bin").resolve()
    return options


def main():
    options = read_options()
    os.environ["TERCET_CACHE"] = "off"      # first calls compile, but where a row says otherwise
    runner = Tercet(str(options.programs / "bench_runner"), "bench/suite.tct")
    systems = {"tercet": runner}
    if not options.no_jax and importlib.util.find_spec("jax"):
        systems |= {"jax": Jax("rows")} | {side: Jax(side) for side in OTHERS}
    machine = Machine(runner)
    memory, jax = machine.triad(12e8), systems["jax"].jax.__version__ if "jax" in systems else None
    about = {"statistic": "fastest" if options.best else "median", "processors": len(os.sched_getaffinity(0)),
             "load": os.getloadavg()[0], "triad_bytes_per_second": memory, "fma_operations_per_second": machine.fma, "jax": jax}
    print(f"{about['processors']} processors; triad {memory / 1e9:.1f} GB/s; fma {machine.fma / 1e9:.0f} GFlop/s; "
          f"jax {jax or 'absent'}; load average at the start {about['load']:.1f}; {about['statistic']} of all runs\n")

    rows = [row for row in runner.ask("rows") if options.wanted(row["name"])]
    processes = [p for p in whole_processes(str(options.programs / "tercet"), sys.executable) if options.wanted(p[0])]
    table, measured = Table([row["title"] for row in rows] + [p[1] for p in processes]), []
    table.print_head()

    def done(row):
        measured.append(row)
        table.print_row(row)

    gc.disable()
    for row in rows:
        figures = measure(row, systems, options)
        gc.collect()
        done({"name": row["name"], "title": row["title"], "group": row["notes"].get("group")} | figures
             | machine.bound(row, figures["tercet"].get("warm")))
        if row["notes"].get("only") == "first" and row["notes"].get("group") == "latency" and "error" not in figures["tercet"]:
            found = {"tercet": {"first": measure_found(row, options), "warm": None}}
            done({"name": row["name"] + "_found", "title": "- its code found on disk", "group": "latency", "aside": True} | found
                 | {side: figures[side] for side in figures if side == "jax"})
    for name, title, ours, theirs, is_jax in processes:
        commands = {"tercet": ours} | ({"jax": theirs} if "jax" in systems else {})
        done({"name": name, "title": title, "group": "processes", "aside": not is_jax}
             | measure_processes(commands, options))
    print_summary(measured)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"about": about, "rows": measured}, indent=1) + "\n")
    sys.exit(any("differs" in row for row in measured))


if __name__ == "__main__":
    main()
