#!/usr/bin/env python3
"""A training step of examples/section_classifier.tct (embedding bag, softmax regression, Adam) beside the same model in JAX on
padded ids.

  python3 bench/training.py DATA.jsonl [--tercet build/release/bin/tercet] [--rounds 5]

DATA has one JSON object a line with a `text` and a `section`. Both take the same 128 documents and start with the same numbers; they
alternate, and figures are medians. JAX gets rows padded to the longest of all documents, and cut and padded to 256. The last
lines say how far the losses differ. Needs JAX.
"""
import pathlib
import re
import statistics
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

from text import read_options, tercet, timed

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "section_classifier.tct"
AFTER = r"""
let rows = minibatches(key(1), trained, batch)[0]
let some_ids = ids[rows]
let some_labels = labels[rows]
let start = adam_start(p)
save_npz("@OUT@", (ids=flatten(some_ids), counts=lengths(some_ids), labels=some_labels, longest=max(lengths(ids)), embedding=p.embedding, w=p.w, b=p.b, loss=@STEP@[2]))
"""
STEP = "train_step(p, start, some_ids, some_labels, 0.003)"


def program(data, out):
    """The example up to its loop of epochs, with data and a batch."""
    text = EXAMPLE.read_text().split("for epoch in")[0]
    text = re.sub(r"let path = .*", f'let path = "{data}"', text)
    return text + AFTER.replace("@OUT@", str(out)).replace("@STEP@", STEP)


def logits(p, row):
    known = row >= 0
    total = jnp.where(known[:, None], p["embedding"][jnp.maximum(row, 0)], 0).sum(0)
    return total / jnp.maximum(jnp.sqrt(known.sum().astype(jnp.float32)), 1.0) @ p["w"] + p["b"]


def loss(p, ids, labels):
    out = jax.vmap(logits, (None, 0))(p, ids)
    return jnp.mean(jax.nn.logsumexp(out, axis=-1) - jnp.take_along_axis(out, labels[:, None], axis=-1)[:, 0])


@jax.jit
def train_step(p, state, ids, labels, rate):
    value, g = jax.value_and_grad(loss)(p, ids, labels)
    t = state["step"] + 1
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, state["mean"], g)
    v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, state["square"], g)
    new = jax.tree.map(lambda x, a, b: x - rate * (a / (1 - 0.9**t)) / (jnp.sqrt(b / (1 - 0.999**t)) + 1e-8), p, m, v)
    return new, {"step": t, "mean": m, "square": v}, value


def main():
    options = read_options(__doc__)
    ours, theirs = [], {}
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npz"
        for _ in range(options.rounds):
            ours += tercet(options.tercet, program(options.data, out), [STEP])
            got = np.load(out)
            p = {name: jnp.asarray(got[name]) for name in ("embedding", "w", "b")}
            zeros = jax.tree.map(jnp.zeros_like, p)
            state = {"step": jnp.float32(0), "mean": zeros, "square": zeros}
            offsets = np.concatenate(([0], np.cumsum(got["counts"])))
            for length in (256, int(got["longest"])):
                padded = np.full((len(got["counts"]), length), -1, np.int32)
                for r in range(len(padded)):
                    row = got["ids"][offsets[r] : offsets[r + 1]][:length]
                    padded[r, : len(row)] = row
                arguments = (p, state, jnp.asarray(padded), jnp.asarray(got["labels"]), 0.003)
                value = float(jax.block_until_ready(train_step(*arguments))[2])
                for _ in range(5):
                    theirs.setdefault((length, value), []).append(timed(lambda: jax.block_until_ready(train_step(*arguments)))[0])
    ms = statistics.median(ours)
    print(f"tercet: {ms:.2f} ms a step, loss {float(got['loss']):.6f}; {got['embedding'].shape[0]} words, rows of {got['counts'].min()} to {got['counts'].max()}")
    for (length, value), times in theirs.items():
        b = statistics.median(times)
        print(f"JAX, padded to {length}: {b:.2f} ms, ratio {b / ms:.2f}, loss {value:.6f}")


if __name__ == "__main__":
    main()
