"""What is measured: Tercet in a process of its own, JAX in this one. Both have load, first, run, probe, release."""
import json
import math
import os
import pathlib
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")    # 2^20 cycles, or NumPy's threads wait awake in others' time


class Failed(Exception):
    """A row that does not run."""


class Tercet:
    """bench_runner behind its protocol of lines (bench/bench_runner.cpp)."""

    def __init__(self, program, suite, cache=None):
        self.process = subprocess.Popen([program, suite] + (["--cache", cache] if cache else []), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)

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

    def has(self, row):
        return True

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

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class Jax:
    """A table of bench/jax_rows.py."""

    def __init__(self, table):
        import jax

        import inputs
        import jax_rows
        self.jax, self.inputs, self.rows = jax, inputs, getattr(jax_rows, table)
        jax.block_until_ready(jax.jit(lambda x: x * 2)(jax.numpy.arange(3)))   # something has been compiled before
        self.release()

    def has(self, row):
        return row["name"] in self.rows

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
        end, out = time.monotonic() + 1, []
        while len(out) < times and (not out or time.monotonic() < end):
            out.append(self.timed(self.calls))
        return out

    def timed(self, calls):
        """Nanoseconds of one call, until its values are there; the value before is dropped outside."""
        self.result, call, clock, block = None, self.call, time.perf_counter_ns, self.jax.block_until_ready
        begin = clock()
        if calls == 1:
            result = block(call())
        else:
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
    """What the runner's `probe` tells of an array."""
    import numpy as np
    flat, n, block = array.ravel(), array.size, 1 << 22
    at = range(n) if n <= 101 else [(n - 1) * k // 100 for k in range(101)]
    return {"dtype": str(array.dtype), "shape": list(array.shape), "sum": float(np.sum(flat, dtype=np.float64)),
            "abs": float(sum(np.sum(np.abs(flat[i:i + block]), dtype=np.float64) for i in range(0, n, block))),
            "samples": [float(flat[i]) for i in at]}


def difference(ours, theirs, tolerance):
    """What differs between two probes, or None. Tolerances are relative to the mean size of an element."""
    shapes = [[leaf["shape"] for leaf in leaves] for leaves in (ours, theirs)]
    if shapes[0] != shapes[1]:
        return f"the shapes are {shapes[0]} and {shapes[1]}"
    for a, b in zip(ours, theirs):
        size = float(b["abs"]) / max(1, math.prod(a["shape"]))
        for x, y in zip(map(float, a["samples"]), map(float, b["samples"])):
            if not abs(x - y) <= tolerance * (size + abs(y)):
                return f"an element is {x} and {y}"
        for key in ("sum", "abs"):
            if not abs(float(a[key]) - float(b[key])) <= tolerance * float(b["abs"]):
                return f"the sums ({key}) are {a[key]} and {b[key]}"
    return None
