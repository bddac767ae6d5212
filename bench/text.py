#!/usr/bin/env python3
"""Text pipelines beside scikit-learn, and a mean pool of embeddings over rows of different length beside JAX.

  python3 bench/text.py DATA.jsonl [--tercet build/release/bin/tercet] [--rounds 5]

DATA has one JSON object a line with a `text`. Both sides do the same work on the same texts and alternate; figures are medians.
The last lines of each row say how far the results differ. Needs scikit-learn; JAX where it is there.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

import numpy as np

PATTERN = r"[\pL\pN_]{2,}"
SETUP = r"""
let docs = read_jsonl("@DATA@", columns=("text",))
let texts = docs.text
let weigh = jit tf_idf_rows
fn weights_of(texts) {
  let tokens = texts |> lower |> tokenize(r"[\pL\pN_]{2,}")
  let voc = vocab(tokens)
  weigh(encode(voc, tokens), len(voc))
}
let tokens = texts |> lower |> tokenize(r"[\pL\pN_]{2,}")
let voc = vocab(tokens)
let ids = encode(voc, tokens)
let weighed = weigh(ids, len(voc))
let index = search_index(weighed.ids, weighed.weights, len(voc))
fn answer(index, idf, queries) {
  let weighed = tf_idf_rows(queries, len(idf), idf=idf)
  vmap[ids=0, weights=0] search(index, weighed.ids, weighed.weights, 10)
}
let search_all = jit answer
let queries = split(texts, "\n")[:, 0][::len(texts) // 100][:100]
fn answers(queries) = search_all(index, weighed.idf, encode(voc, queries |> lower |> tokenize(r"[\pL\pN_]{2,}")))
let table = reshape(f32(arange(len(voc) * 128)) % 977.0 / 977.0, (len(voc), 128))
let pool = jit vmap[_, 0] ((table, ids) => mean(table[ids], axis=0))
save_npz("@OUT@", (lengths=lengths(weighed.ids), weights=flatten(weighed.weights), cosines=answers(queries)[0], pooled=pool(table, ids), ids=flatten(ids), counts=lengths(ids)))
write_lines("@TERMS@", decode(voc, flatten(weighed.ids)))
"""
TIMED = {"tf-idf of all texts": "weights_of(texts)", "100 queries, the 10 best": "answers(queries)", "mean pool of embeddings": "pool(table, ids)",
         "lower": "lower(texts)", "tokens": "tokenize(texts)"}


def tercet(program, setup, statements):
    """Milliseconds of each statement, by the prompt's :time."""
    text = setup + "\n".join(f":time {s}" for s in statements) + "\n"
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    found = re.findall(r"first ([\d.e+-]+) (\w+)(?:, then ([\d.e+-]+) (\w+))?", done.stdout)
    units = {"s": 1e3, "ms": 1, "us": 1e-3, "ns": 1e-6}
    if len(found) != len(statements):
        raise SystemExit(done.stdout + done.stderr)
    return [float(b or a) * units[d or c] for a, c, b, d in found]


def timed(work):
    begin = time.perf_counter()
    result = work()
    return 1e3 * (time.perf_counter() - begin), result


def read_options(text):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--tercet", default="build/release/bin/tercet")
    parser.add_argument("--rounds", type=int, default=5)
    return parser.parse_args()


def main():
    options = read_options(__doc__)
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import linear_kernel

    texts = [json.loads(line)["text"] for line in open(options.data, encoding="utf-8")]
    queries = [t.split("\n")[0] for t in texts[:: len(texts) // 100]][:100]
    size = sum(len(t.encode()) for t in texts)
    print(f"{len(texts)} texts, {size / 1e6:.1f} MB")

    def fit():
        model = TfidfVectorizer()
        return model, model.fit_transform(texts)

    model, matrix = fit()

    def ask():
        scores = linear_kernel(model.transform(queries), matrix)
        best = np.argpartition(-scores, 10, axis=1)[:, :10]
        return np.take_along_axis(scores, best, 1)

    with tempfile.TemporaryDirectory() as folder:
        out, terms = pathlib.Path(folder) / "out.npz", pathlib.Path(folder) / "terms.txt"
        setup = SETUP.replace("@DATA@", options.data).replace("@OUT@", str(out)).replace("@TERMS@", str(terms))
        ours, theirs = {name: [] for name in TIMED}, {name: [] for name in TIMED}
        for _ in range(options.rounds):
            for name, ms in zip(TIMED, tercet(options.tercet, setup, TIMED.values())):
                ours[name].append(ms)
            theirs["tf-idf of all texts"].append(timed(fit)[0])
            theirs["100 queries, the 10 best"].append(timed(ask)[0])
            theirs["lower"].append(timed(lambda: [t.lower() for t in texts])[0])
            theirs["tokens"].append(timed(lambda: [re.findall(r"\w+", t) for t in texts])[0])
        got = np.load(out)
        names = terms.read_text(encoding="utf-8").split("\n")

    # The same weights? Row by row, term by term.
    place, worst = 0, 0.0
    for row, count in enumerate(got["lengths"]):
        theirs_row = matrix.getrow(row)
        if theirs_row.nnz != count:
            raise SystemExit(f"row {row}: {count} terms, scikit-learn has {theirs_row.nnz}")
        columns = [model.vocabulary_[names[place + i]] for i in range(count)]
        weights = np.asarray(theirs_row.toarray()[0])[columns]
        worst = max(worst, np.abs(weights - got["weights"][place : place + count]).max(initial=0.0))
        place += count
    cosines = np.sort(ask(), axis=1)[:, ::-1]
    for name in TIMED:
        a = statistics.median(ours[name])
        line = f"{name:28} tercet {a:8.2f} ms"
        if theirs[name]:
            b = statistics.median(theirs[name])
            line += f"   scikit-learn or Python {b:8.1f} ms   ratio {b / a:6.1f}"
        if name == "lower":
            line += f"   {size / a / 1e6:.2f} GB/s"
        print(line)
    print(f"largest difference of weights {worst:.1e}, of cosines {np.abs(cosines - got['cosines']).max():.1e}")

    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return
    ids, counts = got["ids"], got["counts"]
    offsets = np.concatenate(([0], np.cumsum(counts)))
    table = jnp.asarray((np.arange(got["ids"].max() * 128 + 128, dtype=np.float32) % 977 / 977).reshape(-1, 128))

    def one(table, row):
        known = row >= 0
        return jnp.where(known[:, None], table[jnp.maximum(row, 0)], 0).sum(0) / known.sum()

    ways = {"vmap": jax.jit(jax.vmap(one, (None, 0))), "map": jax.jit(lambda t, rows: jax.lax.map(lambda r: one(t, r), rows))}
    ours_ms = statistics.median(ours["mean pool of embeddings"])
    for length in (256, int(counts.max())):
        padded = np.full((len(counts), length), -1, np.int32)
        for r in range(len(counts)):
            row = ids[offsets[r] : offsets[r + 1]][:length]
            padded[r, : len(row)] = row
        padded = jnp.asarray(padded)
        for how, f in ways.items():
            if how == "vmap" and padded.size * 128 * 4 > 8e9:
                print(f"JAX padded to {length}, {how}: needs {padded.size * 128 * 4 / 1e9:.0f} GB")
                continue
            result = f(table, padded).block_until_ready()
            ms = statistics.median(timed(lambda: f(table, padded).block_until_ready())[0] for _ in range(3))
            note = "" if length < counts.max() else f", differs by {np.nanmax(np.abs(np.asarray(result) - got['pooled'])):.1e}"
            print(f"JAX padded to {length}, {how}: {ms:.1f} ms   ratio {ms / ours_ms:.1f}{note}")


if __name__ == "__main__":
    main()
