"""The rows of bench/suite.tct in JAX.

`rows[name](**inputs)` prepares a row: it makes new functions, so that a first call compiles again, and returns a function
without arguments that starts the computation. Inputs are JAX arrays. `rows` has each row as JAX's users write it, in the
form that was fastest on CPU of those that say the same thing; `tuned` has, for some, the form that someone arrives at who
gives up what the row is about (`vmap`, say) because XLA makes something better of it; `library` has products by the
library behind NumPy (OpenBLAS in what pip installs).
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rows, tuned, library = {}, {}, {}


def row(*names, table=rows):
    def add(prepare):
        for name in names:
            table[name] = prepare
        return prepare
    return add


def fresh(function):
    """The function as a new object, which jit has not seen."""
    return lambda *args: function(*args)


# ---- elementwise ----

@row("axpy_1e3", "axpy_1e6", "axpy_1e8")
def axpy(a, x, y):
    f = jax.jit(lambda a, x, y: a * x + y)
    return lambda: f(a, x, y)


@row("chain_1e3", "chain_1e6", "chain_1e8")
def chain(x):
    f = jax.jit(lambda x: -(jnp.minimum(jnp.maximum(jnp.sqrt(jnp.abs(x * 1.5 + 0.25)) * x - 0.5, -0.75), 0.9)
                            / (x * x + 1.5)))
    return lambda: f(x)


@row("gelu_1e6")
def gelu(x):
    f = jax.jit(lambda x: jax.nn.gelu(x, approximate=True))
    return lambda: f(x)


# ---- rows and reductions ----

@row("softmax")
def softmax(x):
    f = jax.jit(lambda x: jax.nn.softmax(x, axis=-1))
    return lambda: f(x)


def normalised(x):
    mean = jnp.mean(x, axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)


@row("layer_norm")
def layer_norm(x, scale, shift):
    f = jax.jit(lambda x, scale, shift: normalised(x) * scale + shift)
    return lambda: f(x, scale, shift)


@row("sum_1e8")
def total(x):
    f = jax.jit(lambda x: jnp.sum(x))
    return lambda: f(x)


@row("logsumexp_1e8")
def logsumexp(x):
    f = jax.jit(lambda x: jax.nn.logsumexp(x))
    return lambda: f(x)


@row("argmax_small", "argmax_large")
def argmax(x):
    f = jax.jit(lambda x: jnp.argmax(x, axis=-1))
    return lambda: f(x)


@row("moving_mean")
def moving_mean(x):
    def mean(row, w):
        n = row.shape[0] - w + 1
        return sum(row[i:i + n] for i in range(w)) / w
    f = jax.jit(jax.vmap(mean, in_axes=(0, None)), static_argnums=1)
    return lambda: f(x, 9)


# ---- text ----

@row("mean_pool")
def mean_pool(table, ids):
    f = jax.jit(jax.vmap(lambda table, ids: jnp.mean(table[ids], axis=0), in_axes=(None, 0)))
    return lambda: f(table, ids)


@row("mean_pool", table=tuned)
def mean_pool_by_position(table, ids):
    def pool(table, ids):
        start = jnp.zeros((ids.shape[0], table.shape[1]))
        return lax.fori_loop(0, ids.shape[1], lambda i, total: total + table[ids[:, i]], start) / ids.shape[1]
    f = jax.jit(pool)
    return lambda: f(table, ids)


@row("term_counts")
def term_counts(ids):
    f = jax.jit(jax.vmap(lambda ids: jnp.bincount(ids, length=10000)))
    return lambda: f(ids)


@row("windows")
def windows(ids):
    def cut(ids, w):                                      # twice as fast as ids[positions[:, None] + arange(w)]
        return jax.vmap(lambda i: lax.dynamic_slice(ids, (i,), (w,)))(jnp.arange(ids.shape[0] - w + 1))
    f = jax.jit(jax.vmap(cut, in_axes=(0, None)), static_argnums=1)
    return lambda: f(ids, 3)


@row("cosine_top_10")
def cosine_top_10(queries, docs):
    def unit(x):
        return x / jnp.linalg.norm(x, axis=-1, keepdims=True)
    f = jax.jit(lambda queries, docs: lax.top_k(unit(queries) @ unit(docs).T, 10))
    return lambda: f(queries, docs)


# ---- products ----

@row("matmul_64", "matmul_256", "matmul_1024", "matmul_2048", "matmul_batched")
def matmul(x, y):
    f = jax.jit(lambda x, y: x @ y)
    return lambda: f(x, y)


@row("matmul_1024_f64")
def matmul_f64(x, y):
    with jax.enable_x64(True):                            # inputs are f32 values, in both systems
        x, y = jnp.asarray(np.asarray(x), jnp.float64), jnp.asarray(np.asarray(y), jnp.float64)
    f = jax.jit(lambda x, y: x @ y)

    def call():
        with jax.enable_x64(True):
            return f(x, y)
    return call


@row("matmul_1024_bf16")
def matmul_bf16(x, y):
    return matmul(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16))


@row("matmul_1024_f16")
def matmul_f16(x, y):
    return matmul(x.astype(jnp.float16), y.astype(jnp.float16))


@row("matvec")
def matvec(x, v):
    f = jax.jit(lambda x, v: x @ v)
    return lambda: f(x, v)


@row("matmul_64", "matmul_256", "matmul_1024", "matmul_2048", "matmul_batched", table=library)
def matmul_by_numpy(x, y):
    x, y = np.asarray(x), np.asarray(y)
    return lambda: x @ y


@row("matmul_1024_f64", table=library)
def matmul_f64_by_numpy(x, y):
    return matmul_by_numpy(np.asarray(x, np.float64), np.asarray(y, np.float64))


@row("matvec", table=library)
def matvec_by_numpy(x, v):
    return matmul_by_numpy(x, v)


@row("gather_matmul")
def gather_matmul(table, ids, w):
    f = jax.jit(lambda table, ids, w: table[ids] @ w)
    return lambda: f(table, ids, w)


# ---- control ----

def collatz_steps(n):
    def step(state):
        k, steps = state
        return jnp.where(k & 1 == 0, k >> 1, 3 * k + 1), steps + 1
    return lax.while_loop(lambda state: state[0] != 1, step, (n, 0))[1]


@row("collatz")
def collatz(start):
    f = jax.jit(jax.vmap(fresh(collatz_steps)))
    return lambda: f(start)


@row("collatz", table=tuned)
def collatz_one_by_one(start):
    f = jax.jit(lambda start: lax.map(collatz_steps, start))
    return lambda: f(start)


@row("logistic")
def logistic(s):
    f = jax.jit(lambda s: lax.fori_loop(0, 1_000_000, lambda i, x: np.float32(3.7) * x * (1 - x), s))
    return lambda: f(s)


def length_of_common_subsequence(a, b):
    def line(i, row):
        def step(j, state):
            row, diagonal = state
            above = row[j + 1]
            best = jnp.where(a[i] == b[j], diagonal + 1, jnp.maximum(above, row[j]))
            return row.at[j + 1].set(best), above
        return lax.fori_loop(0, b.shape[0], step, (row, jnp.int32(0)))[0]
    return lax.fori_loop(0, a.shape[0], line, jnp.zeros(b.shape[0] + 1, jnp.int32))[-1]


@row("lcs")
def longest_common_subsequence(a, b):
    f = jax.jit(length_of_common_subsequence)
    return lambda: f(a, b)


@row("lcs_batch")
def longest_common_subsequences(a, b):
    f = jax.jit(jax.vmap(length_of_common_subsequence))
    return lambda: f(a, b)


# ---- latency ----

@row("lengths")
def lengths(x):
    f = jax.jit(lambda x: (x - jnp.mean(x)) * lax.rsqrt(jnp.var(x) + 1e-5))
    x = np.asarray(x)                                     # NumPy's slices: JAX's would compile once a length too

    def run():
        for n in range(2, 201):
            r = f(x[:n])
        return r
    return run


@row("call")
def call(s):
    f = jax.jit(lambda x: x * x + 1.0)
    return lambda: f(s)


@row("call_statement")
def call_statement(s):
    names = {"f": jax.jit(lambda x: x * x + 1.0), "s": s}
    return lambda: eval("f(s)", names)                    # read from text, as in Tercet


@row("first_small")
def first_small(x):
    f = jax.jit(lambda x: jnp.tanh(x * 2.0 + 1.0) * x)
    return lambda: f(x)


@row("first_medium")
def first_medium(embedding, w1, b1, w2, b2, ids, labels):
    def classify(p, ids):
        v = normalised(jnp.mean(p["embedding"][ids], axis=0))
        return jax.nn.gelu(v @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]

    def loss(p, ids, labels):
        logits = jax.vmap(classify, in_axes=(None, 0))(p, ids)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=-1)
        return -jnp.mean(picked), jnp.argmax(logits, axis=-1)
    f = jax.jit(loss)
    p = dict(embedding=embedding, w1=w1, b1=b1, w2=w2, b2=b2)
    return lambda: f(p, ids, labels)


def heads(x):
    return jnp.swapaxes(x.reshape(x.shape[0], 4, 16), 0, 1)


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T / np.float32(np.sqrt(q.shape[-1]))) @ v


def block(p, i, x):
    n = normalised(x)
    a = jax.vmap(attention)(heads(n @ p["wq"][i]), heads(n @ p["wk"][i]), heads(n @ p["wv"][i]))
    y = x + jnp.swapaxes(a, 0, 1).reshape(x.shape) @ p["wo"][i]
    return y + jax.nn.gelu(normalised(y) @ p["w1"][i]) @ p["w2"][i]


@row("first_large")
def first_large(embedding, ids, **weights):
    def transformer(p, ids):
        h = p["embedding"][ids]
        for i in range(12):
            h = block(p, i, h)
        return normalised(h)
    f = jax.jit(transformer)
    p = dict(weights, embedding=embedding)
    return lambda: f(p, ids)


@row("first_large_loop")
def first_large_loop(embedding, ids, **weights):
    def transformer(p, ids):
        layers = {name: w for name, w in p.items() if name != "embedding"}

        def step(h, layer):
            return block({name: w[None] for name, w in layer.items()}, 0, h), None
        return normalised(lax.scan(step, p["embedding"][ids], layers)[0])
    f = jax.jit(transformer)
    p = dict(weights, embedding=embedding)
    return lambda: f(p, ids)


# ---- the tutorial's table ----

def classify(p, ids):
    v = jnp.mean(p["embedding"][ids], axis=0)
    return jax.nn.softmax(jnp.tanh(v @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])


@row("loop_32", "loop_4096")
def by_loop(ids, **p):
    return lambda: jnp.stack([classify(p, row) for row in ids])


@row("vmap_32", "vmap_4096")
def by_vmap(ids, **p):
    f = jax.vmap(fresh(classify), in_axes=(None, 0))
    return lambda: f(p, ids)


@row("jit_32", "jit_4096")
def by_jit(ids, **p):
    f = jax.jit(jax.vmap(fresh(classify), in_axes=(None, 0)))
    return lambda: f(p, ids)


# ---- gradients ----

def cross_entropy(logits, labels):
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - jnp.take_along_axis(logits, labels[:, None], axis=-1)[:, 0])


def training_step(loss):
    def step(p, x, labels):
        value, g = jax.value_and_grad(loss)(p, x, labels)
        return value, jax.tree.map(lambda a, b: a - b * 0.1, p, g)
    return jax.jit(step)


@row("mlp_step")
def mlp_step(x, labels, **p):
    f = training_step(lambda p, x, labels: cross_entropy(jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"], labels))
    return lambda: f(p, x, labels)


@row("regression_step")
def regression_step(x, labels, **p):
    f = training_step(lambda p, x, labels: cross_entropy(x @ p["w"] + p["b"], labels))
    return lambda: f(p, x, labels)


@row("attention_grad")
def attention_grad(q, k, v):
    f = jax.jit(jax.grad(lambda q, k, v: jnp.sum(jax.vmap(attention)(q, k, v) ** 2), argnums=(0, 1, 2)))
    return lambda: f(q, k, v)


def last(w, u, xs):
    return lax.scan(lambda h, x: (jnp.tanh(x @ w + h @ u), None), jnp.zeros(64), xs)[0]


@row("rnn_grad")
def rnn_grad(x, w, u):
    f = jax.jit(jax.grad(lambda w, u, x: jnp.sum(jax.vmap(last, in_axes=(None, None, 0))(w, u, x) ** 2), argnums=(0, 1)))
    return lambda: f(w, u, x)


@row("bag_grad")
def bag_grad(embedding, w, ids, labels):
    def logits(p, ids):
        return jnp.mean(p["embedding"][ids], axis=0) @ p["w"]
    f = jax.jit(jax.grad(lambda p, ids, labels: cross_entropy(jax.vmap(logits, in_axes=(None, 0))(p, ids), labels)))
    p = dict(embedding=embedding, w=w)
    return lambda: f(p, ids, labels)


# ---- whole programs ----

@row("rnn")
def rnn(x, w, u):
    f = jax.jit(jax.vmap(last, in_axes=(None, None, 0)))
    return lambda: f(w, u, x)


@row("attention")
def attention_row(q, k, v):
    f = jax.jit(jax.vmap(jax.vmap(attention)))
    return lambda: f(q, k, v)


@row("einsum_scores")
def einsum_scores(q, k):
    f = jax.jit(lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k))
    return lambda: f(q, k)


@row("sort_1e6")
def sort(x):
    f = jax.jit(lambda x: jnp.sort(x))
    return lambda: f(x)


@row("top_k_1e6")
def top_k(x):
    f = jax.jit(lambda x: lax.top_k(x, 100))
    return lambda: f(x)


@row("cumsum_1e7")
def cumsum(x):
    f = jax.jit(lambda x: jnp.cumsum(x))
    return lambda: f(x)


@row("uniform_1e8")
def uniform(seed):
    f = jax.jit(lambda seed: jax.random.uniform(jax.random.key(seed), (100_000_000,)))
    return lambda: f(seed)


@row("normal_1e8")
def normal(seed):
    f = jax.jit(lambda seed: jax.random.normal(jax.random.key(seed), (100_000_000,)))
    return lambda: f(seed)
