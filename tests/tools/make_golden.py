#!/usr/bin/env python3
"""Writes tests/cases/golden/*.tct: programs whose expected output NumPy and JAX computed. Needs both; the tests do not.

Each entry is (Tercet expression, Python expression). What is exact (integers, selections, shapes, one rounding) is
printed and compared as text; what is rounded more than once is compared within a tolerance, in the program itself.
Usage: make_golden.py [FOLDER]
"""
import math
import os
import pathlib
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
F = np.float32
nan, inf, pi = F("nan"), F("inf"), F(math.pi)
NAMES = {"bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
         "uint32": "u32", "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
NUMPY = {tct: name for name, tct in NAMES.items()}


def number(x):
    """A number as Tercet prints it: the shortest text that reads back in its dtype."""
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, (int, np.integer)):
        return str(int(x))
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    x = x if isinstance(x, np.floating) else F(x)
    if x != 0 and not 1e-4 <= abs(float(x)) < 1e16:
        mantissa, exponent = np.format_float_scientific(x, unique=True, trim="-").split("e")
        return f"{mantissa}e{int(exponent)}"
    return np.format_float_positional(x, unique=True, trim="0")


def text(x, inside=False):
    if isinstance(x, str):
        return f'"{x}"' if inside else x
    if isinstance(x, tuple):
        return "(" + ", ".join(text(e, True) for e in x) + (",)" if len(x) == 1 else ")")
    if isinstance(x, list):
        return "[" + ", ".join(text(e, True) for e in x) + "]"
    if isinstance(x, np.dtype):
        return NAMES[x.name]
    x = np.asarray(x)
    if x.ndim:
        return "[" + ", ".join(text(e, True) for e in x) + "]"
    return number(x[()])


def literal(x):
    """A value as a Tercet expression."""
    if isinstance(x, tuple):
        return "(" + ", ".join(map(literal, x)) + ",)"
    x = np.asarray(x)
    out = text(x)
    if x.dtype == np.float64:
        out = f"f64({out})" if x.ndim == 0 else out
    return out


def close(name, value, ulps, of_largest=False):
    """An expression that is true when `name` is within so many ulps (of the element, or the largest one) of `value`."""
    value = np.asarray(value)
    if not np.all(np.isfinite(value)):
        raise ValueError(f"{name}: use an exact entry for what is not finite")
    step = np.spacing(np.abs(value.astype(F))) if value.dtype != np.float64 else np.spacing(np.abs(value))
    step = np.maximum(np.max(step) if of_largest else step, np.finfo(F).tiny) * ulps
    return f"all(abs({name} - {literal(value.astype(F))}) <= {literal(step.astype(F))})"


class Group:
    """One program: values bound for both languages, then entries."""

    def __init__(self, name, about, **values):
        self.name, self.lines, self.count = name, [f"# Made by tests/tools/make_golden.py: {about}"], 0
        self.values = {k: np.asarray(v) for k, v in values.items()}
        for k, v in self.values.items():
            self.lines.append(f"let {k} = {self.bound(v)}")

    @staticmethod
    def bound(v):
        plain = v.dtype in (np.dtype("int32"), np.dtype("float32"), np.dtype("bool")) and v.size
        return text(v) if plain else f"{NAMES[v.dtype.name]}({text(v)})" if v.size else f"zeros({v.shape}, dtype={NAMES[v.dtype.name]})"

    def value(self, python):
        scope = {"np": np, "jnp": jnp, "jax": jax, "F": F, "nan": nan, "inf": inf, "pi": pi, **self.values}
        with np.errstate(all="ignore"):
            out = eval(python, scope)
        plain = lambda x: tuple(map(plain, x)) if isinstance(x, tuple) else list(x) if isinstance(x, list) else x if isinstance(x, (str, np.dtype)) else np.asarray(x)
        return plain(out)

    def exact(self, tercet, python=None):
        self.lines += [f"print({tercet})", f"#> {text(self.value(python or tercet))}"]
        self.count += 1

    def near(self, tercet, python=None, ulps=4, of_largest=False):
        value = self.value(python or tercet)
        self.lines += [f"print({close(tercet, value, ulps, of_largest)})", "#> true"]
        self.count += 1

    def write(self, folder):
        path = pathlib.Path(folder) / f"{self.name}.tct"
        path.write_text("\n".join(self.lines) + "\n")
        return self.count


def promotion():
    """Pairs of dtypes, and literals against dtypes, after JAX. Where JAX has no width of its own, the default is 32 bits."""
    g = Group("promotion", "result dtypes of x + y")
    names = list(NUMPY)
    for a in names:
        row = []
        for b in names:
            x, y = jnp.dtype(NUMPY[a]), jnp.dtype(NUMPY[b])
            signed, wide = {"i8", "i16", "i32", "i64"}, "u64"
            if (a == wide and b in signed) or (b == wide and a in signed):
                row.append("f32")   # a weak float in JAX: the default float
            else:
                row.append("i32" if a == b == "bool" else NAMES[jnp.promote_types(x, y).name])
        others = ", ".join(f"dtype({a}([1]) + {b}([1]))" for b in names)
        g.lines += [f"print([{others}])", f"#> {text(row)}"]
        g.count += len(names)
    for literal_, value in [("1", 1), ("1.5", 1.5)]:
        row = []
        for a in names:
            out = NAMES[(jnp.ones(1, NUMPY[a]) + value).dtype.name]
            integer = not a.startswith(("f", "b")) or a == "bool"
            row.append("f32" if value == 1.5 and integer else "i32" if a == "bool" and value == 1 else out)
        g.lines += [f"print([{', '.join(f'dtype({a}([1]) + {literal_})' for a in names)}])", f"#> {text(row)}"]
        g.count += len(names)
    return g


def arithmetic():
    g = Group("arithmetic", "operators and what rounds once", a=np.array([7, -7, 7, -7, 0], np.int32),
              b=np.array([2, 2, -2, -2, 3], np.int32), x=np.array([7.5, -7.5, 1e10, 0.1, -0.0], F),
              y=np.array([2.0, 2.0, -3.0, 0.3, 1.0], F), u=np.array([200, 100, 255, 1, 0], np.uint8),
              s=np.array([-128, 127, 100, -1, 5], np.int8), big=np.array([2147483647, -2147483648], np.int32),
              wide=np.array([2**62, -(2**62)], np.int64))
    for op in "+ - * // %".split():
        g.exact(f"a {op} b")
    g.exact("a / b", "F(a) / F(b)")
    for op in "+ - * /".split():
        g.exact(f"x {op} y")
    g.exact("x // y", "np.floor_divide(x, y)")
    g.exact("x % y", "np.mod(x, y)")
    g.exact("fmod(x, y)", "np.fmod(x, y)")
    for op in "+ - *".split():
        g.exact(f"u {op} u")
        g.exact(f"s {op} s")
    g.exact("big + 1", "big + np.int32(1)")
    g.exact("big * big", "big * big")
    g.exact("wide * 4", "wide * np.int64(4)")
    g.exact("wide + wide")
    g.exact("-s", "-s")
    g.exact("abs(s)", "np.abs(s)")
    g.exact("a ** 3", "a ** np.int32(3)")
    g.exact("s ** 2", "s ** np.int8(2)")
    g.exact("x ** 2", "x * x")
    for op in "& | ^".split():
        g.exact(f"a {op} b")
        g.exact(f"u {op} 15", f"u {op} np.uint8(15)")
    g.exact("~a")
    g.exact("~u")
    g.exact("a << 3", "a << np.int32(3)")
    g.exact("a >> 1", "a >> np.int32(1)")
    g.exact("u >> 2", "u >> np.uint8(2)")
    for op in "== != < <= > >=".split():
        g.exact(f"a {op} b")
        g.exact(f"x {op} y")
    g.exact("maximum(x, y)", "np.maximum(x, y)")
    g.exact("minimum(a, b)", "np.minimum(a, b)")
    g.exact("sign(x)", "np.array(jnp.sign(x))")
    for f in "floor ceil trunc".split():
        g.exact(f"{f}(x)", f"np.{f}(x)")
    g.exact("round([0.5, 1.5, 2.5, -0.5, -1.5, 2.4])", "np.round(np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4], F))")
    g.exact("sqrt([0.0, 2.0, 1e10, -1.0, inf])", "np.sqrt(np.array([0.0, 2.0, 1e10, -1.0, inf], F))")
    g.exact("copysign(x, [-1.0, 1.0, -0.0, 1.0, 1.0])", "np.copysign(x, np.array([-1, 1, -0.0, 1, 1], F))")
    g.exact("isnan(x / 0.0)", "np.isnan(x / F(0))")
    g.exact("x / 0.0", "x / F(0)")
    return g


def casts():
    g = Group("casts", "conversions between dtypes", f=np.array([-255.9, -1.5, -0.5, 0.5, 1.5, 254.9, 255.5, 1e20, -1e20], F),
              i=np.array([-255, -1, 0, 127, 128, 256, 70000], np.int32))
    limits = {t: np.iinfo(NUMPY[t]) for t in "i8 i16 i32 i64 u8 u16 u32 u64".split()}
    for t, info in limits.items():
        g.exact(f"{t}(f)", f"np.array([min(max(int(v), {info.min}), {info.max}) for v in f.astype(object)], np.{NUMPY[t]})")
        g.exact(f"{t}(i)", f"i.astype(np.{NUMPY[t]})")
        g.exact(f"{t}([nan, inf, -inf])", f"np.array([0, {info.max}, {info.min}], np.{NUMPY[t]})")
    g.exact("f16(f)", "f.astype(np.float16)")
    g.exact("f64(f)", "f.astype(np.float64)")
    g.exact("bf16([1.0, 3.14159, 65505.0])", "[F(1.0), F(3.14), F(65500.0)]")
    g.exact("bool([0, 1, 2])", "np.array([0, 1, 2]).astype(bool)")
    g.exact("bool([0.0, -0.0, 0.1, nan])", "np.array([0.0, -0.0, 0.1, nan]).astype(bool)")
    g.exact("f32(i)", "i.astype(F)")
    g.exact("f32([16777217, 2147483647])", "np.array([16777217, 2147483647], np.int32).astype(F)")
    g.exact("i32([true, false])", "np.array([1, 0])")
    g.exact("u8(-1)", "np.uint8(255)")
    return g


def math_functions():
    g = Group("math", "elementary functions, within 2 ulps of the f64 value", x=np.array([-2.5, -1.0, -0.1, 0.001, 0.5, 1.0, 3.0, 20.0], F),
              p=np.array([1e-6, 0.1, 0.5, 1.0, 2.0, 100.0, 1e10], F), q=np.array([-0.99, -0.5, 0.0, 0.25, 0.875], F))
    for f in "exp expm1 sin cos tan atan sinh cosh tanh cbrt exp2".split():
        g.near(f"{f}(x)", f"F(np.{ {'atan': 'arctan'}.get(f, f)}(x.astype(float)))", ulps=2)
    g.near("asinh(x)", "F(np.arcsinh(x.astype(float)))", ulps=2)
    for f in "log log2 log10 log1p".split():
        g.near(f"{f}(p)", f"F(np.{f}(p.astype(float)))", ulps=2)
    g.near("rsqrt(p)", "F(1 / np.sqrt(p.astype(float)))", ulps=2)
    g.near("acosh([1.0, 2.0, 100.0])", "F(np.arccosh(np.array([1.0, 2.0, 100.0])))", ulps=2)
    for f, n in [("asin", "arcsin"), ("acos", "arccos"), ("atanh", "arctanh")]:
        g.near(f"{f}(q)", f"F(np.{n}(q.astype(float)))", ulps=2)
    g.near("erf(x)", "F(np.vectorize(__import__('math').erf)(x.astype(float)))", ulps=2)
    g.near("erfc(x[:7])", "F(np.vectorize(__import__('math').erfc)(x[:7].astype(float)))", ulps=3)
    g.near("lgamma(p)", "F(np.vectorize(__import__('math').lgamma)(p.astype(float)))", ulps=4)
    g.near("erfinv(q)", "F(jax.scipy.special.erfinv(q.astype(np.float64)))", ulps=4)
    g.near("sigmoid(x)", "F(1 / (1 + np.exp(-x.astype(float))))", ulps=3)
    g.near("softplus(x)", "F(np.log1p(np.exp(x.astype(float))))", ulps=3)
    g.near("atan2(x, x[::-1])", "F(np.arctan2(x.astype(float), x[::-1].astype(float)))", ulps=2)
    g.near("hypot(x, x[::-1])", "F(np.hypot(x.astype(float), x[::-1].astype(float)))", ulps=2)
    g.near("logaddexp(x, x[::-1])", "F(np.logaddexp(x.astype(float), x[::-1].astype(float)))", ulps=4)
    g.near("p ** 1.7", "F(p.astype(float) ** float(F(1.7)))", ulps=2)
    g.exact("exp([0.0, inf, -inf, nan, 1000.0, -1000.0])", "np.array([1, inf, 0, nan, inf, 0], F)")
    g.exact("log([1.0, 0.0, -1.0, inf, nan])", "np.array([0, -inf, nan, inf, nan], F)")
    g.exact("tanh([0.0, -0.0, inf, -inf, 50.0])", "np.array([0, -0.0, 1, -1, 1], F)")
    g.exact("[2.0, 0.0, -2.0, inf, 1.0] ** [3.0, 0.0, 3.0, -1.0, nan]", "np.power(np.array([2, 0, -2, inf, 1], F), np.array([3, 0, 3, -1, nan], F))")
    g.exact("fma(3.0, 4.0, 5.0)", "F(17)")
    return g


def reductions():
    r = np.random.default_rng(1)
    g = Group("reductions", "reductions and cumulative folds", i=r.integers(-50, 50, (3, 4)).astype(np.int32), t=r.integers(0, 9, (2, 3, 4)).astype(np.int32),
              f=(r.integers(-100, 100, (3, 4)) / 8).astype(F), m=r.random((3, 4)) < 0.5, u=np.array([200, 100], np.uint8), s=np.array([100, 100], np.int8),
              n=np.array([1.0, nan, 3.0], F))
    for f in "sum prod max min argmax argmin".split():
        for axis in ["", ", axis=0", ", axis=-1"]:
            kind = ".astype(np.int32)" if f in ("sum", "prod") else ""
            g.exact(f"{f}(i{axis})", f"np.{f}(i{axis}){kind}")
    for f in "sum max argmin".split():
        g.exact(f"{f}(f, axis=1)", f"np.{f}(f, axis=1)")
    g.exact("sum(t, axis=(0, 2))", "np.sum(t, axis=(0, 2))")
    g.exact("max(t, axis=(1, 2))", "np.max(t, axis=(1, 2))")
    g.exact("shape(sum(t, axis=1, keepdims=true))", "(2, 1, 4)")
    g.exact("sum(i, axis=0, keepdims=true)", "np.sum(i, axis=0, keepdims=True)")
    for f in "any all".split():
        g.exact(f"{f}(m)", f"np.{f}(m)")
        g.exact(f"{f}(m, axis=0)", f"np.{f}(m, axis=0)")
    g.exact("count(i, axis=1)", "np.count_nonzero(i, axis=1)")
    g.exact("(sum(u), dtype(sum(u)))", "(300, 'u32')")
    g.exact("(sum(s), dtype(sum(s)))", "(200, 'i32')")
    g.exact("(sum(m), dtype(sum(m)))", "(np.sum(m), 'i32')")
    g.exact("(cumsum(s), dtype(cumsum(s)))", "(np.array([100, -56]), 'i8')")
    for f in "max min sum prod".split():
        g.exact(f"{f}(n)", "nan")
    g.exact("(argmax(n), argmin(n))", "(1, 1)")
    g.exact("mean(i, axis=0)", "F(np.mean(i, axis=0))")
    g.exact("mean(f)", "np.mean(f.astype(float)).astype(F)")
    g.near("var(f, axis=0)", "F(np.var(f.astype(float), axis=0))")
    g.near("std(f, axis=1, ddof=1)", "F(np.std(f.astype(float), axis=1, ddof=1))")
    g.near("norm(f, axis=0)", "F(np.linalg.norm(f.astype(float), axis=0))")
    g.near("logsumexp(f, axis=1)", "F(jax.scipy.special.logsumexp(f.astype(np.float64), axis=1))")
    for f, n in [("cumsum", "cumsum"), ("cumprod", "cumprod")]:
        g.exact(f"{f}(i)", f"np.{n}(i).astype(np.int32)")
        g.exact(f"{f}(i, axis=0)", f"np.{n}(i, axis=0).astype(np.int32)")
        g.exact(f"{f}(i, axis=1)", f"np.{n}(i, axis=1).astype(np.int32)")
    for f, n in [("cummax", "maximum"), ("cummin", "minimum")]:
        g.exact(f"{f}(i, axis=0)", f"np.{n}.accumulate(i, axis=0)")
        g.exact(f"{f}(f, axis=1)", f"np.{n}.accumulate(f, axis=1)")
    g.exact("(sum([]), prod([]), any([]), all([]))", "(F(0), F(1), False, True)")
    for f in "median ptp".split():
        g.exact(f"{f}(f, axis=0)", f"np.{f}(f, axis=0)")
    g.near("quantile(f, 0.3, axis=1)", "F(np.quantile(f.astype(float), float(F(0.3)), axis=1))", ulps=16)
    g.near("quantile(f, [0.0, 0.25, 1.0])", "F(np.quantile(f.astype(float), [0.0, 0.25, 1.0]))")
    g.near("percentile(f, 75, axis=0)", "F(np.percentile(f.astype(float), 75, axis=0))", ulps=16)
    g.near("average(f, m + 1, axis=0)", "F(np.average(f.astype(float), weights=m + 1, axis=0))")
    g.near("cov(f)", "F(np.cov(f.astype(float)))", ulps=4, of_largest=True)
    g.near("corrcoef(f)", "F(np.corrcoef(f.astype(float)))", ulps=4, of_largest=True)
    for f in "nansum nanmean nanmax nanmin".split():
        g.exact(f"{f}(n)", f"np.{f}(n)")
    return g


def shapes():
    g = Group("shapes", "shape operations", a=np.arange(24, dtype=np.int32).reshape(2, 3, 4), m=np.arange(6, dtype=np.int32).reshape(2, 3),
              v=np.array([3, 1, 2], np.int32))
    same = ["transpose(m)", "transpose(a, axes=(2, 0, 1))", "swapaxes(a, 0, 2)", "moveaxis(a, 0, -1)", "expand_dims(v, 0)",
            "expand_dims(m, -1)", "squeeze(m[:, :1, None], axis=-1)", "broadcast_to(v, (2, 3))", "flip(m)", "flip(m, axis=1)", "flip(a, axis=(0, 2))", "tile(v, 2)",
            "tile(m, (2, 1, 2))", "repeat(v, 2)", "repeat(m, 2, axis=0)", "repeat(m, 2, axis=1)", "repeat(m, 2)", "roll(v, 1)",
            "roll(v, -5)", "roll(m, 1)", "roll(m, 1, axis=0)", "roll(m, -1, axis=1)", "diff(v)", "diff(m)", "diff(m, axis=0)", "outer(v, v)",
            "tril(m)", "triu(m, k=1)", "tril(m, k=-1)", "tril(a)", "rot90(m)", "flipud(m)", "fliplr(m)", "ravel(m)", "diagonal(m)", "diagonal(m, 1)",
            "diag(v)", "diag(v, k=1)", "diag(v, k=-2)", "diag(m)", "trace(m)", "kron(m, m)", "cross(v, m)", "inner(m, m)", "inner(v, v)", "vdot(m, m)",
            "append(v, 9)", "hstack((v, v))", "hstack((m, m))", "vstack((v, m))", "concat((m, m), axis=1)", "stack((v, v), axis=1)", "stack((m, m), axis=-1)"]
    python = {"flip": "np.flip", "concat": "np.concatenate"}
    for e in same:
        name = e.split("(")[0]
        g.exact(e.replace("None", "none"), f"np.{ {'concat': 'concatenate'}.get(name, name)}" + e[len(name):])
    g.exact("reshape(a, (4, -1))", "a.reshape(4, -1)")
    g.exact("shape(a[:, none])", "a[:, None].shape")
    g.exact("arange(3, 20, 4)", "np.arange(3, 20, 4)")
    g.exact("arange(5, -5, -3)", "np.arange(5, -5, -3)")
    g.exact("arange(5, 5)", "np.arange(5, 5)")
    g.exact("linspace(0, 1, 5)", "np.linspace(0, 1, 5, dtype=F)")
    g.near("linspace(-1.0, 2.0, 7)", "F(np.linspace(-1, 2, 7))", of_largest=True)
    g.exact("eye(2, 3)", "np.eye(2, 3, dtype=F)")
    g.exact("tri(2, 3, k=1)", "np.tri(2, 3, k=1, dtype=F)")
    g.exact("meshgrid(v, [7, 8])", "tuple(np.meshgrid(v, [7, 8]))")
    g.exact("take_along_axis(m, [[2, 0], [1, 1]])", "np.take_along_axis(m, np.array([[2, 0], [1, 1]]), axis=1)")
    g.exact("take_along_axis(m, [[1, 0, 1]], axis=0)", "np.take_along_axis(m, np.array([[1, 0, 1]]), axis=0)")
    return g


def indexing():
    g = Group("indexing", "reading by index", a=np.arange(24, dtype=np.int32).reshape(2, 3, 4), v=np.arange(10, dtype=np.int32),
              i=np.array([2, 0, -1], np.int32), k=np.array([[True, False, True], [False, True, False]]))
    same = ["v[3]", "v[-1]", "v[2:5]", "v[:3]", "v[-3:]", "v[::3]", "v[::-1]", "v[8:2:-2]", "v[-1:-4:-1]", "v[2:100]", "v[100:]", "v[5:2]", "v[:-11]",
            "v[-100:2]", "v[9::-4]", "v[:2:-3]", "a[1]", "a[1, 2]", "a[1, 2, 3]", "a[-1, -1, -1]", "a[:, 1]", "a[..., 0]", "a[0, ..., 1]", "a[1, ...]",
            "a[:, ::2, ::-1]", "a[:, None, 0]", "a[None, 1, :, 0]", "a[..., None, 2]", "v[i]", "a[:, i]", "a[:, :, i]", "a[0, i]", "a[[1, 0], i[:2]]",
            "a[[[0, 1], [1, 0]], 2]", "a[:, [0, 2], 1:3]", "a[[0, 1], :, [3, 0]]", "a[[1], [0, 2]]", "a[[1, 0], 1:, 2]", "a[0, :, [1, 2]]", "a[[0, 1], None, [1, 2]]",
            "v[v % 3 == 0]", "a[:, [True, False, True]]", "a[[False, True]]", "a[:, :, v[:4] > 1]"]
    for e in same:
        g.exact(e.replace("None", "none").replace("True", "true").replace("False", "false"), e)
    g.exact("take(v, [3, -1])", "np.take(v, [3, -1])")
    g.exact("take(a, [2, 0], axis=1)", "np.take(a, [2, 0], axis=1)")
    g.exact('take(v, [-11, -1, 4, 12], mode="wrap")', 'np.take(v, [-11, -1, 4, 12], mode="wrap")')
    g.exact('take(v, [-11, -1, 4, 12], mode="clip")', "np.array([0, 9, 4, 9])")
    g.exact('take(v, [-11, -1, 4, 12], mode="fill", fill=-5)', "np.array([-5, 9, 4, -5])")
    g.exact("where(v > 4, v, -v)", "np.where(v > 4, v, -v)")
    g.exact("nonzero(v % 4)", "np.nonzero(v % 4)[0]")
    g.exact("where(v > 7)", "np.nonzero(v > 7)[0]")
    g.exact("flatnonzero(k)", "np.flatnonzero(k)")
    return g


class RandomIndex:
    """A random index into an array of the given shape, as Tercet text and as a Python value."""

    def __init__(self, random, shape):
        self.random, self.texts, values, axis = random, [], [], 0
        for _ in range(random.randint(1, len(shape) + 1)):
            if axis == len(shape):
                break
            if "..." not in self.texts and random.random() < 0.12:
                self.add(values, "...", Ellipsis)
                continue
            size = min(shape) if "..." in self.texts else shape[axis]
            kind = random.random()
            if kind < 0.1:
                self.add(values, "none", None)
                continue
            axis += 1
            if kind < 0.35:
                i = random.randint(-size, size - 1)
                self.add(values, str(i), i)
            elif kind < 0.7:
                start, stop = (random.choice([None, random.randint(-size - 2, size + 2)]) for _ in range(2))
                step = random.choice([None, None, 1, 2, -1, -2, 3])
                words = ["" if v is None else str(v) for v in (start, stop)] + ([] if step is None else [str(step)])
                self.add(values, ":".join(words), slice(start, stop, step))
            elif kind < 0.9 or "..." in self.texts:
                count = random.choice([(2,), (3,), (1,), (2, 1), (1, 3)])
                i = np.array([random.randint(-size, size - 1) for _ in range(math.prod(count))]).reshape(count)
                self.add(values, text(i), i)
            else:
                mask = np.array([random.random() < 0.5 for _ in range(size)])
                self.add(values, text(mask), mask)
        self.value = tuple(values)

    def add(self, values, word, value):
        self.texts.append(word)
        values.append(value)

    def __str__(self):
        return ", ".join(self.texts)


def random_indexing():
    """Reads and updates at random indices; where NumPy refuses, another is drawn."""
    random = __import__("random").Random(5)
    g = Group("random_indexing", "random indices, read and assigned")
    shaped = lambda x: f"reshape(arange({x.size}), {text(tuple(x.shape))})"
    while g.count < 300:
        x = np.arange(math.prod(shape := tuple(random.randint(1, 4) for _ in range(random.randint(1, 3)))), dtype=np.int32).reshape(shape)
        index = RandomIndex(random, shape)
        try:
            part = x[index.value]
        except (IndexError, ValueError):
            continue
        if not index.texts or part.size == 0:
            continue
        if random.random() < 0.6:
            g.lines += [f"print({shaped(x)}[{index}])", f"#> {text(part)}"]
        else:
            y, op = x.copy(), random.choice(["=", "+=", "*="])
            value = np.array(7) if part.ndim == 0 or random.random() < 0.5 else np.arange(part.size).reshape(part.shape)
            if op == "=":
                y[index.value] = value
            else:
                {"+=": np.add, "*=": np.multiply}[op].at(y, index.value, value)
            g.lines += [f"{{ var x = {shaped(x)}; x[{index}] {op} {'7' if value.ndim == 0 else shaped(value)}; print(x) }}", f"#> {text(y)}"]
        g.count += 1
    return g


def order():
    r = np.random.default_rng(2)
    g = Group("order", "sorting, searching, counting", i=r.integers(0, 8, 12).astype(np.int32), m=r.integers(-9, 9, (3, 5)).astype(np.int32),
              f=np.array([2.5, nan, -inf, 0.0, -0.0, inf, 2.5], F), e=np.array([0.0, 1.0, 2.5, 4.0, 10.0], F), x=np.array([0.2, 6.4, 3.0, 1.6, 10.0, -1.0], F))
    g.exact("sort(i)", "np.sort(i)")
    g.exact("argsort(i)", "np.argsort(i, kind='stable')")
    g.exact("sort(i, descending=true)", "np.sort(i)[::-1]")
    g.exact("argsort(i, descending=true)", "np.array(jnp.argsort(i, stable=True, descending=True))")
    g.exact("sort(m)", "np.sort(m)")
    g.exact("sort(m, axis=0)", "np.sort(m, axis=0)")
    g.exact("argsort(m, axis=0)", "np.argsort(m, axis=0, kind='stable')")
    g.exact("sort(f)", "np.array(jnp.sort(f))")
    g.exact("argsort(f)", "np.array(jnp.argsort(f, stable=True))")
    g.exact("top_k(i, 4)", "tuple(np.array(t) for t in jax.lax.top_k(i, 4))")
    g.exact("top_k(m, 2)", "tuple(np.array(t) for t in jax.lax.top_k(m, 2))")
    for side in "left right".split():
        g.exact(f'searchsorted([1, 2, 2, 3], [0, 1, 2, 3, 4], side="{side}")', f"np.searchsorted([1, 2, 2, 3], [0, 1, 2, 3, 4], side='{side}')")
        g.exact(f'searchsorted([0.0, 1.0, nan, nan], [nan, 1.0, inf, -inf], side="{side}")', f"np.searchsorted(np.array([0.0, 1.0, nan, nan]), np.array([nan, 1.0, inf, -inf]), side='{side}')")
    g.exact("searchsorted(e, x)", "np.searchsorted(e, x)")
    g.exact("digitize(x, e)", "np.digitize(x, e)")
    g.exact("digitize(x, e, right=true)", "np.digitize(x, e, right=True)")
    g.exact("unique(i)", "np.unique(i)")
    g.exact("unique_counts(i)", "tuple(np.unique(i, return_counts=True))")
    g.exact("isin(m, [1, -3, 5])", "np.isin(m, [1, -3, 5])")
    g.exact("bincount(i)", "np.bincount(i)")
    g.exact("bincount(i, length=10)", "np.bincount(i, minlength=10)")
    g.exact("bincount(i, weights=i)", "np.bincount(i, weights=i).astype(np.int32)")
    g.exact("bincount(i, weights=f32(i) / 4)", "np.bincount(i, weights=i / 4).astype(F)")
    g.exact('bincount([-1, -1, 1, 3, 10], length=5, mode="drop")', "np.array([0, 1, 0, 1, 0])")
    g.exact("histogram([1.0, 2.0, 1.0, 4.0], bins=3)", "(np.array([2, 1, 1]), np.array([1, 2, 3, 4], F))")
    g.exact("histogram([0.1, 0.5, 0.9, 2.0], bins=2, lo=0, hi=1)[0]", "np.histogram([0.1, 0.5, 0.9, 2.0], bins=2, range=(0, 1))[0]")
    g.exact("segment_sum(i, [0, 0, 2, 2, 1, 0, 1, 2, 0, 1, 2, 0])", "np.array(jax.ops.segment_sum(i, np.array([0, 0, 2, 2, 1, 0, 1, 2, 0, 1, 2, 0])))")
    g.exact("segment_sum(m, [1, 1, 3], n=5)", "np.array(jax.ops.segment_sum(m, np.array([1, 1, 3]), num_segments=5))")
    for f in "max min prod".split():
        g.exact(f"segment_{f}(m, [1, 1, 3], n=4)", f"np.array(jax.ops.segment_{f}(m, np.array([1, 1, 3]), num_segments=4))")
    g.exact("segment_max([1.5, 0.5], [2, 2])", "np.array(jax.ops.segment_max(np.array([1.5, 0.5], F), np.array([2, 2])))")
    g.exact('segment_sum([1, 2, 3], [0, -1, 7], n=2, mode="drop")', "np.array(jax.ops.segment_sum(np.array([1, 2, 3]), np.array([0, -1, 7]), num_segments=2))")
    return g


def linear():
    r = np.random.default_rng(3)
    g = Group("linear", "contractions", a=r.integers(-5, 5, (3, 4)).astype(np.int32), b=r.integers(-5, 5, (4, 2)).astype(np.int32), v=np.array([1, -2, 3, 4], np.int32),
              t=r.integers(-3, 3, (2, 3, 4)).astype(np.int32), x=(r.integers(-40, 40, (3, 4)) / 4).astype(F), y=(r.integers(-40, 40, (4, 2)) / 4).astype(F), s=np.array([[100, 100]], np.int8))
    for e in ["a @ b", "a @ v", "v @ b", "v @ v", "t @ b", "a @ t.transpose(0, 2, 1)", "x @ y", "x @ v"]:
        g.exact(e.replace("t.transpose(0, 2, 1)", "transpose(t, axes=(0, 2, 1))"), e)
    g.exact("(s @ transpose(s), dtype(s @ transpose(s)))", "(np.array([[32]]), 'i8')")
    g.exact("dot(a, b)", "a @ b")
    g.exact("matmul(t, b)", "np.matmul(t, b)")
    g.exact("convolve([1, 2, 3], [0, 1, 2])", "np.convolve([1, 2, 3], [0, 1, 2])")
    g.exact("interp([0.5, 2.5, 9.0, -1.0], [0.0, 1.0, 3.0], [10.0, 20.0, 40.0])", "F(np.interp([0.5, 2.5, 9.0, -1.0], [0.0, 1.0, 3.0], [10.0, 20.0, 40.0]))")
    g.exact("trapezoid([1.0, 2.0, 4.0], dx=0.5)", "F(np.trapezoid([1.0, 2.0, 4.0], dx=0.5))")
    return g


def networks():
    r = np.random.default_rng(4)
    g = Group("networks", "functions for networks", x=r.normal(size=(3, 5)).astype(F), w=r.normal(size=(2, 3, 4)).astype(F), s=r.normal(size=(6, 3)).astype(F), y=np.array([4, 0, 2], np.int32))
    d = "x.astype(np.float64)"
    g.near("softmax(x)", f"F(jax.nn.softmax({d}))", ulps=8)
    g.near("softmax(x, axis=0)", f"F(jax.nn.softmax({d}, axis=0))", ulps=8)
    g.near("log_softmax(x)", f"F(jax.nn.log_softmax({d}))", ulps=8)
    g.exact("one_hot(y, 5)", "np.array(jax.nn.one_hot(y, 5, dtype=F))")
    g.exact("relu(x)", "np.maximum(x, 0)")
    g.near("gelu(x)", f"F(jax.nn.gelu({d}))", ulps=24)
    g.near("silu(x)", f"F(jax.nn.silu({d}))", ulps=8)
    g.near("elu(x)", f"F(jax.nn.elu({d}))", ulps=4)
    g.near("leaky_relu(x)", f"F(jax.nn.leaky_relu({d}))", ulps=2)
    g.near("log_sigmoid(x)", f"F(jax.nn.log_sigmoid({d}))", ulps=4)
    g.near("soft_sign(x)", f"F(jax.nn.soft_sign({d}))", ulps=4)
    g.near("layer_norm(x)", f"F(jax.nn.standardize({d}, axis=-1, epsilon=1e-5))", ulps=4, of_largest=True)
    g.near("cross_entropy(x, y)", f"F(-np.mean(jax.nn.log_softmax({d})[np.arange(3), y]))", ulps=8)
    g.near("attention(x, x, x)", f"F(jax.nn.softmax({d} @ {d}.T / np.sqrt(5)) @ {d})", ulps=4, of_largest=True)
    g.near("conv1d(s, w)", "F(np.array([[np.sum(s[i:i + 2].astype(float)[:, :, None] * w, axis=(0, 1))] for i in range(5)])[:, 0])", ulps=4, of_largest=True)
    g.exact("clip([1, 5, 9], 2, 6)", "np.clip(np.array([1, 5, 9]), 2, 6)")
    g.exact("(isclose([1.0, inf, nan, 1.00001], [1.0, inf, nan, 1.0]), allclose([1.0], [1.0001]))", "(np.isclose(np.array([1, inf, nan, 1.00001], F), np.array([1, inf, nan, 1.0], F)), False)")
    g.exact("nan_to_num([nan, 1.0, inf])", "np.nan_to_num(np.array([nan, 1.0, inf], F))")
    return g


def random_draws():
    """Draws of 16 keys each, bit for bit; what goes through a logarithm or erfinv within 4 ulps or 1e-6."""
    r = np.random.default_rng(5)
    seeds = np.concatenate([np.array([0, 1, 42, 2**31, 2**32 - 1], np.uint32), r.integers(0, 2**32, 11).astype(np.uint32)])
    g = Group("random_draws", "jax.random with its default generator", seeds=seeds)

    def values(python):
        return g.value(f"np.array(jax.vmap(lambda s: (lambda k: {python})(jax.random.key(s)))(seeds))")

    def same(tercet, python):
        g.lines += [f"print(vmap(s => {tercet.replace('KEY', 'key(s)')})(seeds))", f"#> {text(values(python))}"]
        g.count += len(seeds)

    def near(tercet, python):
        value = values(python)
        step = np.maximum(4 * np.spacing(np.abs(value)), value.dtype.type(1e-6))
        g.lines += [f"print(all(abs(vmap(s => {tercet.replace('KEY', 'key(s)')})(seeds) - {literal(value)}) <= {literal(step)}))", "#> true"]
        g.count += len(seeds)

    shape = lambda t: f"({t},)" if t and "," not in t else f"({t})"
    for t in ["u8", "u16", "u32", "u64"]:
        for d in ["", "7", "2, 3"]:
            same(f"random_bits(KEY, {shape(d)}, dtype={t})", f"jax.random.bits(k, {shape(d)}, '{NUMPY[t]}')")
    children = "jax.vmap(lambda c: jax.random.bits(c, (), 'uint64'))"
    for n in ["2", "5", "2, 3"]:
        words = "vmap(c => random_bits(c, dtype=u64))"
        words = f"vmap({words})" if "," in n else words
        same(f"{words}(split(KEY, {shape(n)}))", f"{'jax.vmap(' + children + ')' if ',' in n else children}(jax.random.split(k, {shape(n)}))")
    for i in ["0", "1", "77", "-1", "4294967295u32"]:
        same(f"random_bits(fold_in(KEY, {i}), dtype=u64)", f"jax.random.bits(jax.random.fold_in(k, np.uint32({int(i.removesuffix('u32')) % 2**32})), (), 'uint64')")
    g.exact("[random_bits(key(s), dtype=u64) for s in [-1i64, 5000000000, 9223372036854775807]]",
            "np.array([jax.random.bits(jax.random.key(np.int64(s)), (), 'uint64') for s in [-1, 5000000000, 2**63 - 1]])")
    for d in ["", "1", "9", "2, 2"]:
        same(f"uniform(KEY, {shape(d)})", f"jax.random.uniform(k, {shape(d)}, 'float32')")
    for lo, hi in [("-10", "10"), ("0.1", "0.3"), ("-5", "-1e-6"), ("1e-30", "1e30"), ("3", "1")]:
        same(f"uniform(KEY, 4, {lo}, {hi})", f"jax.random.uniform(k, (4,), 'float32', {lo}, {hi})")
    same("uniform(KEY, (2, 3), [0.0, 1.0, -1.0], [1.0, 1.5, 5.0])", "jax.random.uniform(k, (2, 3), 'float32', np.array([0, 1, -1], F), np.array([1, 1.5, 5], F))")
    same("uniform(KEY, 3, dtype=f64)", "jax.random.uniform(k, (3,), 'float64')")
    same("uniform(KEY, 3, -2, 7.5, dtype=f64)", "jax.random.uniform(k, (3,), 'float64', -2, 7.5)")
    same("f32(uniform(KEY, 5, dtype=f16))", "jax.random.uniform(k, (5,), 'float16').astype(F)")
    same("f32(uniform(KEY, 5, dtype=bf16))", "jax.random.uniform(k, (5,), 'bfloat16').astype(F)")
    ranges = {"i8": [(-5, 5), (-128, 128), (0, 100)], "u8": [(0, 256), (3, 200)], "i16": [(-1000, 1000), (0, 40000)], "u16": [(7, 65536)],
              "i32": [(0, 8), (-5, 5), (0, 50257), (-(2**31), 2**31 - 1), (-(2**31), 2**31), (3, 3), (5, -5), (0, 1)],
              "u32": [(0, 10), (1, 2**32), (-3, 9)], "i64": [(0, 10), (-(2**62), 2**62), (-(2**63), 2**63 - 1)], "u64": [(0, 1000), (5, 2**63 - 1)]}
    for t, bounds in ranges.items():
        for lo, hi in bounds:
            same(f"randint(KEY, 5, {lo}, {hi}, dtype={t})", f"jax.random.randint(k, (5,), np.int64({lo}), np.int64({hi}), '{NUMPY[t]}')")
    same("randint(KEY, (2, 3), [0, 10, -4], [5, 11, 4])", "jax.random.randint(k, (2, 3), np.array([0, 10, -4]), np.array([5, 11, 4]), 'int32')")
    for n in [1, 2, 10, 50]:
        same(f"permutation(KEY, {n})", f"jax.random.permutation(k, {n})")
    for n in [1625, 1626, 5000]:
        same(f"permutation(KEY, {n})[:6]", f"jax.random.permutation(k, {n})[:6]")
    same("permutation(KEY, [1.5, 2.5, 3.5, 4.5, 5.5])", "jax.random.permutation(k, np.array([1.5, 2.5, 3.5, 4.5, 5.5], F))")
    same("permutation(KEY, reshape(arange(8), (4, 2)))", "jax.random.permutation(k, np.arange(8).reshape(4, 2))")
    for p in ["0.5", "0.1", "0.999"]:
        same(f"bernoulli(KEY, {p}, 9)", f"jax.random.bernoulli(k, F({p}), (9,))")
    same("bernoulli(KEY, [0.2, 0.5, 0.8])", "jax.random.bernoulli(k, np.array([0.2, 0.5, 0.8], F))")
    same("categorical(KEY, [0.0, 1.0, 2.0, 3.0])", "jax.random.categorical(k, np.arange(4, dtype=F))")
    same("categorical(KEY, zeros((3, 4)))", "jax.random.categorical(k, np.zeros((3, 4), F))")
    same("categorical(KEY, zeros((3, 4)), axis=0)", "jax.random.categorical(k, np.zeros((3, 4), F), axis=0)")
    same("categorical(KEY, zeros((3, 4)), shape=(2, 3))", "jax.random.categorical(k, np.zeros((3, 4), F), shape=(2, 3))")
    same("choice(KEY, 10, 4)", "jax.random.randint(k, (4,), 0, 10, 'int32')")   # choice draws 64-bit numbers where JAX has them
    same("choice(KEY, 10, (2, 2), replace=false)", "jax.random.choice(k, 10, (2, 2), replace=False)")
    same("choice(KEY, [1.5, 2.5, 3.5], 2, replace=false)", "jax.random.choice(k, np.array([1.5, 2.5, 3.5], F), (2,), replace=False)")
    p, q = "[0.1, 0.2, 0.3, 0.4]", "np.array([0.1, 0.2, 0.3, 0.4], F)"
    same(f"choice(KEY, 4, 8, p={p})", f"jax.random.choice(k, 4, (8,), p={q})")
    same(f"choice(KEY, 4, 3, replace=false, p={p})", f"jax.random.choice(k, 4, (3,), replace=False, p={q})")
    for f in ["normal", "gumbel", "exponential"]:
        for d in ["", "20", "3, 4"]:
            near(f"{f}(KEY, {shape(d)})", f"jax.random.{f}(k, {shape(d)}, 'float32')")
    near("truncated_normal(KEY, 8, -1, 2)", "jax.random.truncated_normal(k, F(-1), F(2), (8,), 'float32')")
    near("truncated_normal(KEY, 8, -inf, 0.5)", "jax.random.truncated_normal(k, -inf, F(0.5), (8,), 'float32')")
    return g


def wide(x):
    """f64 numbers as a Tercet expression, digit for digit."""
    x = np.asarray(x)
    return "[" + ", ".join(map(wide, x)) + "]" if x.ndim else text(x) + "f64"


class Gradients(Group):
    """Programs that compare gradients with JAX's, both in f64."""

    def gradient(self, tercet, python=None, at=(), wrt="x", rtol=1e-9):
        """`at`: the values of x, y, … that the lambda over them gets; the gradient by the first."""
        self.same(f"sum({tercet})", lambda f: jax.grad(lambda *a: f(*a).sum()), python or tercet, at, rtol, "grad")

    def same(self, tercet, of, python, at, rtol=1e-9, function=""):
        """The value of function(lambda) at `at`, where `of` makes the Python function of that lambda."""
        names = "xyzw"[:len(at)]
        given = [np.asarray(v, np.float64) if np.asarray(v).dtype.kind == "f" else np.asarray(v) for v in at]
        scope = {"np": np, "jnp": jnp, "jax": jax, "F": F, "lax": jax.lax, **vars(jnp), **{n: getattr(jax.nn, n) for n in "relu gelu silu softplus sigmoid softmax log_softmax logsumexp".split()},
                 "erf": jax.scipy.special.erf, "lgamma": jax.scipy.special.gammaln, "scan": jax.lax.scan, "rsqrt": jax.lax.rsqrt}
        given = [jnp.asarray(v) for v in given]
        f = eval(f"lambda {', '.join(names)}: {python}", scope)
        value = np.asarray(of(f)(*given))
        if not np.all(np.isfinite(value)):
            raise ValueError(f"{tercet} at {at}: {value}")
        arguments = ", ".join(wide(v) if v.dtype == np.float64 else text(v) for v in given)
        call = f"{function}(({', '.join(names)}) => {tercet})({arguments})"
        self.lines += [f"print(all(abs({call} - {wide(value)}) <= 1e-12 + {rtol} * abs({wide(value)})))", "#> true"]
        self.count += 1


def gradients():
    g = Gradients("gradients", "gradients by jax.grad, in f64")
    inside, above, signed = [0.1, 0.35, 0.6, 0.85], [1.2, 1.7, 2.5, 4.0], [-2.0, -0.7, 0.4, 1.9]
    for f in "sin cos tan exp expm1 exp2 sinh cosh tanh sigmoid silu gelu softplus erf square".split():
        for points in (signed, inside, above):
            g.gradient(f"{f}(x)", at=[points])
    jax_names = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh"}
    for f in "log log2 log10 log1p sqrt rsqrt cbrt lgamma".split():
        for points in (inside, above, [0.01, 7.0, 30.0]):
            g.gradient(f"{f}(x)", at=[points])
    g.gradient("lgamma(x)", at=[[-0.5, -1.3, -2.7]])
    for f, points in [("asin", inside), ("acos", inside), ("atanh", inside), ("atan", signed), ("asinh", signed), ("acosh", above)]:
        g.gradient(f"{f}(x)", f"{jax_names[f]}(x)", at=[points])
    g.gradient("relu(x)", at=[[-2.0, 0.0, 3.0]])
    g.gradient("abs(x)", at=[[-2.0, -0.5, 3.0]])   # at 0 it is 0 here
    g.gradient("sign(x) + floor(x) + round(x)", at=[[-1.6, 0.2, 3.3]])
    for op in ["x + y", "x - y", "x * y", "x / y", "y / x", "x ** y", "y ** x", "maximum(x, y)", "minimum(x, y)", "hypot(x, y)", "logaddexp(x, y)", "x % y", "y % x", "where(x > y, x * y, x - y)"]:
        for a, b in [(inside, above), (above, inside), (above, above[::-1])]:
            python = op if "%" not in op else f"jnp.remainder({op.replace(' %', ',')})"
            g.gradient(op, python, at=[a, b])
        g.gradient(op, op if "%" not in op else f"jnp.remainder({op.replace(' %', ',')})", at=[1.7, inside])   # a scalar against an array
    g.gradient("maximum(x, y)", at=[[1.0, 2.0, 3.0], [1.0, 2.5, 2.0]])   # a tie
    g.gradient("minimum(x, y)", at=[[1.0, 2.0, 3.0], [1.0, 2.5, 2.0]])
    g.gradient("atan2(x, y)", "arctan2(x, y)", at=[signed, above])
    for n in range(-3, 5):
        g.gradient(f"x ** {n}" if n >= 0 else f"x ** ({n})", f"x ** ({n})", at=[signed])
    g.gradient("x ** 0.0 + x ** 1.0 + x ** 2.0", at=[[0.5, 1.0, 2.0]])
    rows = [[0.3, -1.2, 2.0], [1.5, 0.25, -0.75]]
    for axis in ("", ", axis=0", ", axis=1", ", axis=-1"):
        for f in "sum prod mean max min".split():
            g.gradient(f"{f}(x{axis}) ** 2", at=[rows])
        g.gradient(f"var(x{axis})", at=[rows])
        g.gradient(f"std(x{axis})", at=[rows])
        g.gradient(f"logsumexp(x{axis}) ** 2", at=[rows])
        g.gradient(f"norm(x{axis})", f"sqrt(sum(x * x{axis}))", at=[rows])
        if axis:
            for f in "cumsum cumprod".split():
                g.gradient(f"{f}(x{axis}) ** 2", at=[rows])
            g.gradient(f"softmax(x{axis}) ** 2", at=[rows])
            g.gradient(f"log_softmax(x{axis}) ** 2", at=[rows])
            g.gradient(f"sort(x{axis}) * sort(x{axis}) ** 2", at=[rows])
    g.gradient("max(x) * 3.0", at=[[1.0, 4.0, 4.0, 2.0]])
    g.gradient("prod(x)", at=[[2.0, 0.0, 3.0]])
    g.gradient("prod(x)", at=[[0.0, 0.0, 3.0]])
    g.gradient("cumprod(x)", at=[[2.0, 0.0, 3.0, 4.0]])
    g.gradient("cummax(x) * [1.0, 2.0, 4.0, 8.0]", "lax.cummax(x) * jnp.array([1.0, 2.0, 4.0, 8.0])", at=[[1.0, 3.0, 2.0, 5.0]])
    g.gradient("top_k(x, 2)[0] ** 2", "lax.top_k(x, 2)[0] ** 2", at=[[1.0, 4.0, 3.0, 2.0]])
    g.gradient("x[1:3] * x[:2] + x[::-1][:2]", at=[above])
    g.gradient("x[[0, 2, 2, 1]] ** 2", "x[jnp.array([0, 2, 2, 1])] ** 2", at=[above])
    g.gradient("x[-1] * x[0]", at=[above])
    g.gradient("reshape(x, (3, 2)) @ y", "reshape(x, (3, 2)) @ y", at=[rows, [[1.0, 2.0], [3.0, 5.0]]])
    g.gradient("concat((x, y, x)) ** 2", "concatenate((x, y, x)) ** 2", at=[inside, above])
    g.gradient("stack((x, y)) * stack((y, x))", at=[inside, above])
    g.gradient("flip(x) * roll(x, 1)", at=[above])
    g.gradient("transpose(x) @ x", at=[rows])
    a, b, v = np.linspace(-1, 1, 12).reshape(3, 4), np.linspace(0.5, 2, 20).reshape(4, 5), np.linspace(1, 2, 4)
    for tercet, at in [("x @ y", [a, b]), ("(x @ y) ** 2", [a, b]), ("x @ y", [v, b]), ("x @ y", [a, v]), ("x @ y", [v, v]), ("sin(y @ x)", [b, a]),
                       ("x @ y", [np.stack([a, a + 1]), np.stack([b, b * b])]), ("outer(x, y)", [v, inside]), ("softmax(x @ transpose(y)) @ y", [a, a * 2])]:
        g.gradient(tercet, at=at)
    ids = np.array([2, 0, 2, 1], np.int32)
    g.gradient("mean(x[y], axis=0) ** 2", at=[a, ids])
    g.gradient("logsumexp(x, axis=1) - x[arange(3), y]", at=[a, ids[:3]])
    g.gradient("put(x, y, z, op=\"add\") ** 2", "x.at[y].add(z) ** 2", at=[above, ids, inside])
    g.gradient("put(z, y, x, op=\"add\") ** 2", "z.at[y].add(x) ** 2", at=[inside, ids, above])
    g.gradient("put(x, y, z) ** 2", "x.at[y].set(z) ** 2", at=[above, ids[1:], inside[1:]])
    g.gradient("put(x, y, z, op=\"max\") ** 2", "x.at[y].max(z) ** 2", at=[inside, ids[1:], above[1:]])
    g.gradient("put(x, y, z, op=\"min\") ** 2", "x.at[y].min(z) ** 2", at=[above, ids[1:], inside[1:]])
    g.gradient("layer_norm(x)", "(x - x.mean(-1, keepdims=True)) * rsqrt(x.var(-1, keepdims=True) + 1e-5) * 1.0", at=[a], rtol=1e-6)
    g.gradient("attention(x, y, z)", "softmax(x @ y.T / sqrt(4.0)) @ z", at=[a, a * 2, a + 1], rtol=1e-6)
    g.gradient("{ var s = x; for i in 0..4 { s = s * x + sin(s) }; s }", "lax.fori_loop(0, 4, lambda i, s: s * x + sin(s), x)", at=[inside])
    g.gradient("fold((c, r) => tanh(c @ y + r), zeros(3, dtype=f64), x)", "lax.scan(lambda c, r: (tanh(c @ y + r), 0.0), jnp.zeros(3), x)[0]", at=[np.array(rows), np.linspace(-1, 1, 9).reshape(3, 3)])
    g.gradient("fold((c, r) => tanh(c @ x + r), zeros(3, dtype=f64), y)", "lax.scan(lambda c, r: (tanh(c @ x + r), 0.0), jnp.zeros(3), y)[0]", at=[np.linspace(-1, 1, 9).reshape(3, 3), np.array(rows)])
    g.gradient("scan((c, r) => (c * r + 1.0, c ** 2), 1.0f64, x)[1]", "lax.scan(lambda c, r: (c * r + 1.0, c ** 2), 1.0, x)[1]", at=[above])
    g.gradient("map(r => sin(r) * sum(r), x)", "lax.map(lambda r: sin(r) * sum(r), x)", at=[rows])
    g.gradient("vmap(r => r * max(r))(x)", "jax.vmap(lambda r: r * max(r))(x)", at=[rows])
    g.gradient("if x > 0.5 { x ** 3 } else { sin(x) }", "lax.cond(x > 0.5, lambda: x ** 3, lambda: sin(x))", at=[0.3])
    g.gradient("if x > 0.5 { x ** 3 } else { sin(x) }", "lax.cond(x > 0.5, lambda: x ** 3, lambda: sin(x))", at=[0.8])
    g.gradient("vmap(r => if r > 0.5 { r ** 3 } else { sin(r) })(x)", "jax.vmap(lambda r: lax.cond(r > 0.5, lambda: r ** 3, lambda: sin(r)))(x)", at=[inside])
    random = np.random.default_rng(3)
    terms = ["sin(x)", "x * y", "tanh(x - y)", "exp(x * 0.3)", "x / (1.5 + y * y)", "maximum(x, y * 0.5)", "sqrt(x * x + 1.0)", "where(x > y, x, y * x)",
             "logsumexp(x) * y", "softmax(x) * y", "cumsum(x)", "sum(x) - y", "mean(x * y) + x", "sort(x) * y", "x[::-1] * y", "x ** 3", "abs(x - 0.2) * y", "log1p(x * x)"]
    while g.count < 500:   # compositions: one term inside another, times a third
        outer, inner, factor = (terms[i] for i in random.integers(len(terms), size=3))
        tercet = re.sub(r"\bx\b", f"({inner})", outer)
        tercet = f"({tercet}) * ({factor})"
        try:
            g.gradient(tercet, at=[np.round(random.uniform(-1, 1, 4), 3), np.round(random.uniform(-1, 1, 4), 3)])
        except ValueError:
            continue
    return g


def matrices():
    g = Gradients("matrices", "einsum, factorisations and systems by JAX, in f64; vectors up to their signs")
    r = np.random.default_rng(11)
    m = lambda *shape: np.round(r.uniform(-1, 1, shape), 3)
    einsums = [("ij,jk->ik", (3, 4), (4, 2)), ("ij,jk", (3, 4), (4, 2)), ("ij->ji", (3, 4)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("ij->", (3, 4)), ("i,j->ij", (3,), (2,)),
               ("i,i", (5,), (5,)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), ("...ij,...jk->...ik", (2, 3, 4), (4, 2)), ("...i,...i->...", (2, 1, 3), (4, 3)), ("bij,kj->bik", (2, 3, 4), (2, 4)),
               ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)), ("bqd,bkd->bqk", (2, 3, 4), (2, 5, 4)), ("abc,cd,b->ad", (2, 3, 4), (4, 2), (3,)), ("iij,j->i", (3, 3, 2), (2,)),
               ("ba", (2, 3)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij,kl->jk", (2, 3), (2, 2)), ("ijkl,lk->ij", (2, 3, 2, 2), (2, 2)), ("...->...", (2, 3)), (" i j , j -> i ", (2, 3), (3,)),
               ("i,ij,ij,j", (2,), (2, 3), (2, 3), (3,)), ("ijij->ij", (2, 3, 2, 3))]
    for spec, *shapes in einsums:
        names = ", ".join("xyzw"[:len(shapes)])
        values = [m(*s) for s in shapes]
        g.same(f'einsum("{spec}", {names})', lambda f: f, f'einsum("{spec}", {names})', values)
        g.gradient(f'einsum("{spec}", {names}) ** 2', at=values)
    general = [m(n, n) + 2 * np.eye(n) for n in (1, 2, 3, 5)] + [m(2, 3, 3) + 2 * np.eye(3)]
    for a in general:
        n = a.shape[-1]
        spd = a @ np.swapaxes(a, -1, -2) + np.eye(n)
        b = m(*a.shape[:-1], 2)
        for name, x in [("det(x)", a), ("slogdet(x)[0]", a), ("slogdet(x)[1]", a), ("inv(x)", a), ("cholesky(x)", spd), ("eigh(x)[0]", spd), ("abs(eigh(x)[1])", spd)]:
            g.same(name, lambda f: f, name.replace("slogdet", "linalg.slogdet").replace("det(x)", "linalg.det(x)") if name == "det(x)" else "linalg." + name if not name.startswith("abs") else "abs(linalg.eigh(x)[1])", [x])
        g.same("solve(x, y)", lambda f: f, "linalg.solve(x, y)", [a, b])
        g.gradient("solve(x, y) ** 2", "linalg.solve(x, y) ** 2", at=[a, b])
        g.gradient("solve(y, x) ** 2", "linalg.solve(y, x) ** 2", at=[b, a])
        g.gradient("det(x) ** 2", "linalg.det(x) ** 2", at=[a])
        g.gradient("slogdet(x)[1] ** 2", "linalg.slogdet(x)[1] ** 2", at=[a])
        g.gradient("inv(x) ** 2", "linalg.inv(x) ** 2", at=[a])
        g.gradient("cholesky(x) ** 3", "linalg.cholesky(x) ** 3", at=[spd])
        g.gradient("eigh(x)[0] ** 2", "linalg.eigh(x)[0] ** 2", at=[spd], rtol=1e-8)
        g.gradient("eigh(x)[1] ** 4", "linalg.eigh(x)[1] ** 4", at=[spd], rtol=1e-7)
        lower = "jax.scipy.linalg.solve_triangular"
        for tercet, python in [("triangular_solve(x, y)", f"{lower}(x, y, lower=True)"), ("triangular_solve(x, y, lower=false)", f"{lower}(x, y)"),
                               ("triangular_solve(x, y, transposed=true)", f"{lower}(x, y, lower=True, trans=1)")]:
            g.same(tercet, lambda f: f, python, [a, b])
            g.gradient(f"{tercet} ** 2", f"{python} ** 2", at=[a, b])
    for a in [m(4, 4), m(5, 3), m(3, 5), m(2, 4, 3)]:
        for name in ("qr(x)[0]", "qr(x)[1]"):
            g.same(f"abs({name})", lambda f: f, f"abs(linalg.{name})", [a])
            if a.shape[-2] >= a.shape[-1]:
                g.gradient(f"{name} ** 4", f"linalg.{name} ** 4", at=[a], rtol=1e-8)
        for i in range(3):
            g.same(f"abs(svd(x)[{i}])", lambda f: f, f"abs(linalg.svd(x, full_matrices=False)[{i}])", [a])
            g.gradient(f"svd(x)[{i}] ** 4", f"linalg.svd(x, full_matrices=False)[{i}] ** 4", at=[a], rtol=1e-7)
        g.same("pinv(x)", lambda f: f, "linalg.pinv(x)", [a], rtol=1e-8)
        g.same("matrix_rank(x)", lambda f: f, "linalg.matrix_rank(x) * 1.0", [a])
    a, b = m(6, 3), m(6)
    g.same("lstsq(x, y)", lambda f: f, "linalg.lstsq(x, y)[0]", [a, b], rtol=1e-8)
    return g


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "cases" / "golden")
    folder.mkdir(parents=True, exist_ok=True)
    groups = [promotion, arithmetic, casts, math_functions, reductions, shapes, indexing, random_indexing, order, linear, networks, random_draws, gradients, matrices]
    print(sum(make().write(folder) for make in groups), "values")


main()
