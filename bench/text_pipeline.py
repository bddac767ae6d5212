"""bench/text_pipeline.tct as it is written in Python today: words with `re`, numbers with `collections`, counts with JAX."""
import collections
import json
import re

import jax
import jax.numpy as jnp
import numpy as np

WORDS = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")

with open("examples/data/descriptions.jsonl", encoding="utf-8") as file:
    texts = [json.loads(line)["text"] for line in file] * 20
tokens = [WORDS.findall(text.lower()) for text in texts]
counts = collections.Counter(token for row in tokens for token in row)      # in order of first appearance
voc = {token: i for i, (token, _) in enumerate(counts.most_common(2000))}   # stable, so ties stay in that order
rows = [[voc[token] for token in row if token in voc] for row in tokens]
ids = np.full((len(rows), max(map(len, rows))), len(voc), np.int32)
for i, row in enumerate(rows):
    ids[i, :len(row)] = row
count_terms = jax.jit(jax.vmap(lambda ids: jnp.bincount(ids, length=len(voc) + 1)[:-1]))
print(len(texts), len(voc), ids.shape, jnp.sum(count_terms(ids)))
