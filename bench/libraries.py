#!/usr/bin/env python3
"""Our matrix products beside those of libraries: `./dev bench --libraries OpenBLAS=cblas:/usr/lib/.../libopenblas.so.0 …`.

Each argument is NAME=KIND:FILE, KIND as in bench/libraries/libraries.cpp. Every library runs in a process of its own, with as many threads
as the process may use; bursts alternate, with a pause after each so that the threads of the last one sleep; figures are those of the
fastest run, or with --cpu, under `taskset -c 0`, of the processor time. Prints a table: GFlop/s (GB/s of the matrix for a vector), and ours as a part of the best library's.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/release/bin/bench_libraries"


class Library:
    def __init__(self, kind, file=None):
        threads = str(len(os.sched_getaffinity(0)))
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | {name: threads for name in names}
        self.process = subprocess.Popen([PROGRAM, kind] + ([file] if file else []), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.products = self.ask("products")

    def ask(self, command):
        print(command, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args} ended")
        return json.loads(line)


def measure(libraries, at, options):
    """{name: fastest ns} of product `at`."""
    best, sums = {}, {}
    for _ in range(options.rounds):
        for name, library in libraries.items():
            if library.products[at]["fits"]:
                answer = library.ask(f"run {at} {options.burst * 1e9:.0f}")
                time_of_run = answer["cpu" if options.cpu else "ns"]
                best[name] = min(best.get(name, time_of_run), time_of_run)
                sums[name] = answer["sum"]
                time.sleep(0.03)
    for name, value in sums.items():
        if abs(value - sums["Tercet"]) > 1e-3 * sums["Tercet"]:
            sys.exit(f"{libraries[name].products[at]}: {name} computes something else, {value} instead of {sums['Tercet']}")
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("libraries", nargs="*", metavar="NAME=KIND:FILE")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--burst", type=float, default=0.1, metavar="SECONDS")
    parser.add_argument("--cpu", action="store_true", help="processor time of a run, the least of all bursts: for one processor that others use too")
    parser.add_argument("--only", default="", help="products whose name or dtype has this in it")
    options = parser.parse_args()
    libraries = {"Tercet": Library("tercet")}
    for argument in options.libraries:
        name, _, rest = argument.partition("=")
        libraries[name] = Library(*rest.split(":", 1))
    print("| product | " + " | ".join(libraries) + " | of the best |")
    print("| --- |" + " ---: |" * (len(libraries) + 1))
    for at, product in enumerate(libraries["Tercet"].products):
        title = f"{product['name']}, {product['dtype']}"
        if options.only not in title:
            continue
        best = measure(libraries, at, options)
        elements = product["batch"] * product["m"] * product["k"]
        work = elements * {"f64": 8, "f32": 4}.get(product["dtype"], 2) if product["n"] == 1 else 2 * elements * product["n"]
        others = [ns for name, ns in best.items() if name != "Tercet"]
        part = f"{min(others) / best['Tercet']:.0%}" if others else ""
        print(f"| {title} | " + " | ".join(f"{work / best[name]:.0f}" if name in best else "" for name in libraries) + f" | {part} |", flush=True)


main()
