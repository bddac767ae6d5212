#!/usr/bin/env python3
"""The benchmark: Tercet beside JAX on CPU. docs/performance.md says how it measures; `./dev bench` builds and runs it.

Prints a table; times are medians. Without JAX in this Python, Tercet alone. Rows: bench/suite.tct, bench/jax_rows.py.
"""
import argparse
import fnmatch
import gc
import importlib.util
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))


class Failed(Exception):
    pass


class Tercet:
    """bench_runner behind its protocol of lines (bench/bench_runner.cpp)."""

    def __init__(self, program, suite):
        self.process = subprocess.Popen([program, suite], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        cwd=ROOT)

    def ask(self, command):
        try:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise SystemExit(f"bench_runner ended at `{command}` with status {self.process.wait()}")
        answer = json.loads(line)
        if isinstance(answer, dict) and "error" in answer:
            raise Failed(answer["error"].strip())
        return answer

    def load(self, row):
        self.ask("load " + row["name"])

    def first(self):
        return self.ask("first")["ns"]

    def run(self, times):
        return self.ask(f"run {times}")["ns"]

    def probe(self):
        return self.ask("probe")["leaves"]

    def release(self):
        self.ask("release")


class Jax:
    """The same in this process."""

    def __init__(self):
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        import jax

        import inputs
        import jax_rows
        self.jax, self.inputs, self.rows = jax, inputs, jax_rows.rows
        jax.block_until_ready(jax.jit(lambda x: x * 2)(jax.numpy.arange(3)))   # something has been compiled before
        self.release()

    def release(self):
        self.name = self.arguments = self.call = self.result = None
        self.jax.clear_caches()

    def load(self, row):
        if self.name != row["name"]:
            self.release()
            asarray = self.jax.numpy.asarray
            self.arguments = {i["name"]: asarray(self.inputs.input_array(**i)) for i in row["inputs"]}
            self.jax.block_until_ready(self.arguments)
            self.name, self.calls = row["name"], row["calls"]
        self.result = None
        self.call = self.rows[row["name"]](**self.arguments)

    def first(self):
        return self.timed(1)

    def run(self, times):
        return [self.timed(self.calls) for _ in range(times)]

    def timed(self, calls):
        self.result, call, clock, block = None, self.call, time.perf_counter_ns, self.jax.block_until_ready
        if calls == 1:
            begin = clock()
            self.result = block(call())
            return clock() - begin
        begin = clock()
        for _ in range(calls):
            result = call()
        block(result)
        took = clock() - begin
        self.result = result
        return took / calls

    def probe(self):
        import numpy as np
        return [leaf_of(np.asarray(x)) for x in self.jax.tree.leaves(self.result)]


def leaf_of(array):
    import numpy as np
    flat, n = array.ravel(), array.size
    at = range(n) if n <= 101 else [(n - 1) * k // 100 for k in range(101)]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "sum": float(np.sum(flat, dtype=np.float64)),
            "abs": float(sum(np.sum(np.abs(flat[i:i + (1 << 22)]), dtype=np.float64) for i in range(0, n, 1 << 22))),
            "samples": [float(flat[i]) for i in at]}


def difference(ours, theirs, tolerance):
    """What differs between two probes, or None. Tolerances are relative to the mean size of an element."""
    if [leaf["shape"] for leaf in ours] != [leaf["shape"] for leaf in theirs]:
        return f"shapes {[x['shape'] for x in ours]} and {[x['shape'] for x in theirs]}"
    for a, b in zip(ours, theirs):
        count = max(1, math.prod(a["shape"]))
        size = float(b["abs"]) / count
        for x, y in zip(a["samples"], b["samples"]):
            if not abs(float(x) - float(y)) <= tolerance * (size + abs(float(y))):
                return f"an element is {x} in Tercet, {y} in JAX"
        for key in ("sum", "abs"):
            if not abs(float(a[key]) - float(b[key])) <= tolerance * float(b["abs"]):
                return f"the {key} of all elements is {a[key]} in Tercet, {b[key]} in JAX"
    return None


def measure(row, systems, quick):
    """{system: {"first": ns, "warm": ns or None}} and what differs; a system that fails has {"error": text}."""
    out, live = {name: {} for name in systems}, dict(systems)

    def each(step):
        """step(name, system) of every live system in turn; its value by name."""
        values = {}
        for name in list(live):
            try:
                values[name] = step(name, live[name])
            except Failed as failure:
                out[name], _ = {"error": str(failure)}, live.pop(name)
        return values

    firsts = {name: [] for name in systems}
    start = time.monotonic()
    for i in range(1 if quick else 3):
        if i and time.monotonic() - start > 20:
            break
        each(lambda name, s: s.load(row))
        for name, ns in each(lambda name, s: s.first()).items():
            firsts[name].append(ns)
    probes = each(lambda name, s: s.probe())
    warm = {name: [] for name in systems}
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
        out[name] = {"first": statistics.median(firsts[name]), "warm": statistics.median(warm[name]) if warm[name] else None}
    differs = None
    if len(probes) == 2 and len(live) == 2:
        differs = difference(probes["tercet"], probes["jax"], float(row["notes"].get("tolerance", 1e-4)))
    return out, differs


def measure_starts(tercet, python, rounds):
    """Whole processes: start to the first result."""
    sides = {
        "start": ("start to first result",
                  [tercet, "-e", "sum(arange(10))"],
                  [python, "-c", "import jax.numpy as jnp; print(jnp.sum(jnp.arange(10)))"]),
        "start_jit": ("start to first result of a compiled function",
                      [tercet, "-e", "jit (x => sum(x * x))(arange(10))"],
                      [python, "-c", "import jax, jax.numpy as jnp; print(jax.jit(lambda x: jnp.sum(x * x))(jnp.arange(10)))"]),
    }
    for name, (title, ours, theirs) in sides.items():
        commands = {"tercet": ours} | ({"jax": theirs} if python else {})
        times = {side: [] for side in commands}
        for _ in range(rounds):
            for side, command in commands.items():
                begin = time.perf_counter_ns()
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT,
                                      env=os.environ | {"JAX_PLATFORMS": "cpu"})
                times[side].append(time.perf_counter_ns() - begin)
                if done.returncode:
                    raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
        row = {"name": name, "title": title, "notes": {"group": "latency", "only": "first"}}
        yield row, {side: {"first": statistics.median(t), "warm": None} for side, t in times.items()}


# ---- the table ----

def duration(ns):
    if ns is None:
        return ""
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if ns < 999.5 * size or unit == "s":
            return f"{ns / size:.3g} {unit}"


def ratio(row, which):
    ours, theirs = row["tercet"].get(which), row.get("jax", {}).get(which)
    return theirs / ours if ours and theirs else None


def figure(value, form="{:.2f}"):
    return "" if value is None else form.format(value)


def bound_text(row):
    return f"{row['bound']:.0%} of {row['bound_by']}" if row.get("bound") else ""


HEAD = ("row", "tercet", "jax", "ratio", "first call tercet", "first call jax", "ratio", "bound")


def cells(row):
    if "error" in row["tercet"]:
        return (row["title"], "failed", duration(row.get("jax", {}).get("warm")), "", "", "", "", "")
    jax = row.get("jax", {})
    return (row["title"], duration(row["tercet"]["warm"]), duration(jax.get("warm")), figure(ratio(row, "warm")),
            duration(row["tercet"]["first"]), duration(jax.get("first")), figure(ratio(row, "first"), "{:.1f}"),
            bound_text(row))


def line(values, widths):
    return "| " + " | ".join(v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(values, widths))) + " |"


def geometric_mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def print_summary(result):
    rows = [row for row in result["rows"] if "error" not in row["tercet"]]
    means = {"after the first call": [ratio(r, "warm") for r in rows],
             "of first calls": [ratio(r, "first") for r in rows],
             "of the suite (the first call's where only that is measured)":
                 [ratio(r, "warm" if r["tercet"]["warm"] else "first") for r in rows]}
    print()
    for what, ratios in means.items():
        if any(ratios):
            print(f"geometric mean of {sum(map(bool, ratios))} ratios {what}: {geometric_mean(ratios):.2f}")
    by_name = {row["name"]: row for row in rows}
    for size in ("32", "4096"):
        kinds = [by_name.get(f"{kind}_{size}", {}) for kind in ("loop", "vmap", "jit")]
        for side in ("tercet", "jax"):
            times = [k.get(side, {}).get("warm") for k in kinds]
            if all(times):
                loop, vmap, jit = times
                print(f"{size:>4} documents, {side:6}: loop {duration(loop)}, vmap {duration(vmap)} ({loop / vmap:.1f}x), "
                      f"vmap and jit {duration(jit)} ({loop / jit:.1f}x)")
    for row in result["rows"]:
        for side in ("tercet", "jax"):
            if "error" in row.get(side, {}):
                print(f"\n{row['name']} fails in {side}:\n{row[side]['error']}")
        if row.get("differs"):
            print(f"\n{row['name']} DIFFERS: {row['differs']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", metavar="PATTERN", default="*", help="names of rows, as a shell pattern; several with commas")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--no-jax", action="store_true", help="Tercet alone")
    parser.add_argument("--build", default=str(ROOT / "build" / "release"), help="build folder")
    options = parser.parse_args()
    wanted = lambda name: any(fnmatch.fnmatch(name, p) for p in options.rows.split(","))

    runner = Tercet(f"{options.build}/bin/bench_runner", str(ROOT / "bench" / "suite.tct"))
    systems = {"tercet": runner}
    if not options.no_jax and importlib.util.find_spec("jax"):
        systems["jax"] = Jax()
    peak = runner.ask("fma")["operations_per_second"]
    triads = {}

    def triad(size):
        if size not in triads:
            triads[size] = runner.ask(f"triad {int(size)}")["bytes_per_second"]
        return triads[size]

    memory = triad(12e8)
    about = {"processors": len(os.sched_getaffinity(0)), "load": os.getloadavg()[0], "triad_bytes_per_second": memory,
             "fma_operations_per_second": peak, "jax": getattr(systems.get("jax"), "jax", None) and systems["jax"].jax.__version__}
    print(f"{about['processors']} processors; triad {memory / 1e9:.1f} GB/s; fma {peak / 1e9:.0f} GFlop/s; "
          f"jax {about['jax'] or 'absent'}; load average at the start {about['load']:.1f}\n")

    result = {"about": about, "rows": []}
    every = [row for row in runner.ask("rows") if wanted(row["name"])]
    starts = [name for name in ("start", "start_jit") if wanted(name)]
    widths = [max([len("row")] + [len(row["title"]) for row in every]), 8, 8, 6, 17, 14, 6, 18]
    print(line(HEAD, widths))
    print("|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(widths)) + "|")

    def finish(row, figures, differs=None):
        notes = row["notes"]
        entry = {"name": row["name"], "title": row["title"], "group": notes.get("group")} | figures
        if differs:
            entry["differs"] = differs
        warm = figures["tercet"].get("warm")
        if warm and "bytes" in notes:
            size = float(notes["bytes"])
            entry["bound"] = size / (warm / 1e9) / triad(float(notes.get("footprint", size)))
            entry["bound_by"] = "triad"
        elif warm and "flops" in notes:
            entry["bound"], entry["bound_by"] = float(notes["flops"]) / (warm / 1e9) / peak, "fma"
        result["rows"].append(entry)
        print(line(cells(entry), widths) + (" DIFFERS" if differs else ""), flush=True)

    gc.disable()
    for row in every:
        finish(row, *measure(row, systems, options.quick))
        gc.collect()
    if starts:
        python = sys.executable if "jax" in systems else None
        for row, figures in measure_starts(f"{options.build}/bin/tercet", python, 3 if options.quick else 11):
            if row["name"] in starts:
                finish(row, figures)
    print_summary(result)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(any(row.get("differs") for row in result["rows"]))


if __name__ == "__main__":
    main()
