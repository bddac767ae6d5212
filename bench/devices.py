#!/usr/bin/env python3
"""pmap over host devices beside JAX's pmap and shard_map.

  python3 bench/devices.py [--tercet build/release/bin/tercet] [--rounds 5] [--devices 2,4]

Compute-bound work (50 steps of tanh and exp on f32[n, 50000]), a pmap that does nothing, and psum of 4 numbers and of 16 MB, for
each number of devices n; and the compute-bound work by `vmap` on one thread, for the speed-up. Both sides alternate; figures are
medians of a run, the least of all rounds, as other work on the machine only adds. Without JAX only Tercet's are shown.
"""
import argparse
import subprocess
import sys

from text import tercet

SETUP = """
fn steps(x) {{ var y = x; for i in 0..50 {{ y = tanh(1.01 * y) + 0.1 * exp(-y * y) }}; y }}
let x = reshape(f32(arange({n} * 50000)) % 977.0 / 977.0, ({n}, 50000))
let one = f32(arange({n}))
let four = ones(({n}, 4))
let large = ones(({n}, 4000000))
let work = jit pmap steps
let whole = jit[threads=1] vmap steps
let nothing = jit pmap (v => v)
let total = jit pmap (v => psum(v))
"""
ROWS = [("50 steps of tanh and exp", "work(x)"), ("the same by vmap, one thread", "whole(x)"), ("nothing", "nothing(one)"),
        ("psum of 4 numbers", "total(four)"), ("psum of 16 MB", "total(large)")]

JAX = """
import os, statistics, sys, time
n = int(sys.argv[1])
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={n}"
os.environ["JAX_PLATFORMS"] = "cpu"
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from functools import partial
def steps(x):
    return jax.lax.fori_loop(0, 50, lambda i, y: jnp.tanh(1.01 * y) + 0.1 * jnp.exp(-y * y), x)
mesh = Mesh(np.array(jax.devices()), ("d",))
def mapped(f):
    return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("d"), out_specs=P("d")))
def put(x):
    return jax.device_put(x, NamedSharding(mesh, P("d")))
x = jnp.asarray(np.arange(n * 50000, dtype=np.float32).reshape(n, 50000) % 977 / 977)
rows = [("50 steps of tanh and exp", jax.pmap(steps), mapped(steps), x),
        ("the same by jit, no devices", jax.jit(steps), None, x),
        ("nothing", jax.pmap(lambda v: v + 0), mapped(lambda v: v + 0), jnp.arange(n, dtype=jnp.float32)),
        ("psum of 4 numbers", jax.pmap(lambda v: jax.lax.psum(v, "i"), "i"), mapped(lambda v: v * 0 + jax.lax.psum(v, "d")), jnp.ones((n, 4))),
        ("psum of 16 MB", jax.pmap(lambda v: jax.lax.psum(v, "i"), "i"), mapped(lambda v: v * 0 + jax.lax.psum(v, "d")), jnp.ones((n, 4000000)))]
for name, by_pmap, by_shard_map, argument in rows:
    out = []
    for f, a in ((by_pmap, argument), (by_shard_map, put(argument))):
        if f is None:
            continue
        if f is by_pmap and by_shard_map is not None:
            a = jax.block_until_ready(jax.pmap(lambda v: v)(a))
        jax.block_until_ready(f(a))
        times = []
        for _ in range(60):
            t = time.perf_counter()
            jax.block_until_ready(f(a))
            times.append(time.perf_counter() - t)
        out.append(f"{statistics.median(times) * 1e3:.4g}")
    print(name, *out, sep="\\t")
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tercet", default="build/release/bin/tercet")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--devices", default="2,4")
    options = parser.parse_args()
    for n in map(int, options.devices.split(",")):
        ours = {name: [] for name, _ in ROWS}
        theirs = {}
        for _ in range(options.rounds):
            for (name, _), ms in zip(ROWS, tercet(options.tercet, SETUP.format(n=n), [s for _, s in ROWS])):
                ours[name].append(ms)
            done = subprocess.run([sys.executable, "-c", JAX, str(n)], capture_output=True, text=True)
            for line in done.stdout.splitlines():
                name, *figures = line.split("\t")
                theirs.setdefault(name, []).append([float(f) for f in figures])
        print(f"{n} devices: milliseconds of Tercet; of JAX by pmap, by shard_map")
        for name, _ in ROWS:
            best = [min(column) for column in zip(*theirs.get(name, []))]
            print(f"  {name:<32}{min(ours[name]):>10.4g}" + "".join(f"{b:>10.4g}" for b in best))


if __name__ == "__main__":
    main()
