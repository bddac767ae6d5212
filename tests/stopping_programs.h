// Programs that are to stop soon after they are asked to: one a kind of work, over inputs of any size. For
// tests/interrupt_test.cpp, which counts polls, and tests/tools/stop_times.cpp, which measures.
#pragma once
#include <string>
#include <vector>

namespace tercet::test {

#if TERCET_HAS_LLVM
inline constexpr bool has_compiler = true;
#else
inline constexpr bool has_compiler = false;
#endif

struct StoppingProgram {
  const char* name;
  const char* setup;   // run before, with `let n` (elements) and `let file` (a prefix of paths to write to)
  const char* run;
  bool work = true;    // which grows with n, on this thread
};

/// `n` of every program is a number of elements: f32[n] takes some milliseconds from a few millions on.
inline const std::vector<StoppingProgram>& stopping_programs() {
  static const char* floats = "let x = uniform(key(0), (n,))\nlet m = reshape(x, (len(x) // 64, 64))";
  static const char* ints = "let i = randint(key(1), (n,), 0, n)\nlet x = f32(i)";
  static const char* rows = "let v = uniform(key(0), (n,))\nlet r = ragged(v, full(n // 16, 16))";
  static const char* one_row = "let v = uniform(key(0), (n,))\nlet r = ragged(v, [n, 0])";
  static const char* texts = "let t = tile([\"Some Words, of a text that is repeated OFTEN enough\", \"x 12\"], n // 16)";
  static const char* tokens = "let t = tile([\"some words of a text that is repeated\", \"x 12\"], n // 16)\nlet k = tokenize(t)";
  static const std::vector<StoppingProgram> all{
      // elementwise and views
      {"add", floats, "x + x"},
      {"exp", floats, "exp(x)"},
      {"pow", floats, "pow(x, x)"},
      {"erfinv", floats, "erfinv(x)"},
      {"compare", floats, "x < 0.5"},
      {"where", floats, "where(x < 0.5, x, -x)"},
      {"chain", floats, "sqrt(x * x + 1.0) - log1p(x) / (x + 2.0)"},
      {"cast", floats, "f64(x)"},
      {"cast to f16", floats, "f16(x)"},
      {"integers", ints, "i // 3 % 7 ^ i << 2"},
      {"zeros", "", "zeros(n)"},
      {"full", "", "full(n, 3.5)"},
      {"arange", "", "arange(n)"},
      {"linspace", "", "linspace(0.0, 1.0, n)"},
      {"transpose", floats, "transpose(m) + 0.0"},
      {"flip", floats, "flip(x)"},
      {"strided", floats, "x[::-2]"},
      {"broadcast", floats, "broadcast_to(x[:len(x) // 64, none], (len(x) // 64, 64)) + 0.0"},
      {"concat", floats, "concat((x, x))"},
      {"stack", floats, "stack([x, x], axis=1)"},
      {"tile", floats, "tile(x[:len(x) // 64], 64)"},
      {"roll", floats, "roll(x, 5)"},
      {"outer", floats, "sum(outer(x[:3000], x[:n // 3000 + 1]))"},
      // reductions and folds
      {"sum", floats, "sum(x)"},
      {"sum of rows", floats, "sum(m, axis=1)"},
      {"sum of columns", floats, "sum(m, axis=0)"},
      {"sum of short rows", floats, "sum(reshape(x, (len(x) // 4, 4)), axis=1)"},
      {"sum of f16", "let x = f16(uniform(key(0), (n,)))", "sum(x)"},
      {"max", floats, "max(x)"},
      {"prod", floats, "prod(x)"},
      {"argmax", floats, "argmax(x)"},
      {"argmax of columns", floats, "argmax(m, axis=0)"},
      {"any", floats, "any(x > 2.0)"},
      {"mean and var", floats, "(mean(x), var(x))"},
      {"softmax", floats, "softmax(m)"},
      {"cumsum", floats, "cumsum(x)"},
      {"cumsum of rows", floats, "cumsum(m, axis=1)"},
      {"cummax of columns", floats, "cummax(m, axis=0)"},
      {"median", floats, "median(x)"},
      {"histogram", floats, "histogram(x)"},
      // order
      {"sort", floats, "sort(x)"},
      {"sort descending", ints, "sort(i, descending=true)"},
      {"sort of rows", floats, "sort(m, axis=1)"},
      {"sort of columns", floats, "sort(m, axis=0)"},
      {"argsort", floats, "argsort(x)"},
      {"argsort of f64", "let x = f64(uniform(key(0), (n,)))", "argsort(x)"},
      {"top_k", floats, "top_k(x, 10)"},
      {"top_k, large", floats, "top_k(x, n // 2)"},
      {"unique", ints, "unique(i)"},
      {"searchsorted", floats, "searchsorted(x[:1000], x)"},
      {"nonzero", floats, "nonzero(x > 0.5)"},
      {"mask", floats, "x[x > 0.5]"},
      {"sort of texts", tokens, "sort(flatten(k))"},
      // indices
      {"gather", ints, "x[i]"},
      {"gather of rows", ints, "reshape(x, (len(x) // 8, 8))[i[:len(x) // 8] // 8]"},
      {"gather of pairs", ints, "reshape(x, (len(x) // 8, 8))[i // 8, i % 8]"},
      {"take, clip", ints, "take(x, i * 2, mode=\"clip\")"},
      {"put", ints, "put(x, i, x)"},
      {"put, add", ints, "put(x, i, x, op=\"add\")"},
      {"slice update", floats, "{ var y = x; y[1::2] = 0.0; y }"},
      {"window", floats, "x[n // 4 : n // 4 + n // 2]"},
      {"window of rows", floats, "vmap(s => x[s : s + 64])(arange(n // 64 - 64))"},
      {"bincount", ints, "bincount(i, length=n)"},
      {"segment_sum", ints, "segment_sum(x, i, n)"},
      {"one_hot", ints, "one_hot(i[:n // 64] % 64, 64)"},
      // products
      {"matmul", "let a = uniform(key(0), (n // 1024, 512))\nlet b = uniform(key(1), (512, 512))", "a @ b"},
      {"matmul of f64", "let a = f64(uniform(key(0), (n // 1024, 512)))\nlet b = f64(uniform(key(1), (512, 512)))", "a @ b"},
      {"matmul of bf16", "let a = bf16(uniform(key(0), (n // 1024, 512)))\nlet b = bf16(uniform(key(1), (512, 512)))", "a @ b"},
      {"matmul of i64", "let a = i64(ones((n // 1024, 512)))\nlet b = i64(ones((512, 512)))", "a @ b"},
      {"matmul, wide", "let a = uniform(key(0), (64, 512))\nlet b = uniform(key(1), (512, n // 512))", "a @ b"},
      {"matrix times vector", floats, "m @ m[0]"},
      {"dot", floats, "dot(x, x)"},
      {"batched products", "let a = uniform(key(0), (n // 4096, 64, 64))", "vmap((p, q) => p @ q)(a, a)"},
      // rows of different length
      {"sums of rows", rows, "vmap sum(r)"},
      {"sum of one long row", one_row, "vmap sum(r)"},
      {"elementwise on rows", rows, "vmap(e => exp(e) * 2.0)(r)"},
      {"folds of rows", rows, "vmap cumsum(r)"},
      {"fold of one long row", one_row, "vmap cumsum(r)"},
      {"sorted rows", rows, "vmap sort(r)"},
      {"sort of one long row", one_row, "vmap sort(r)"},
      {"top of one long row", one_row, "vmap(e => top_k(e, 5))(r[:1])"},
      {"normalised rows", rows, "vmap(e => e / sum(e))(r)"},
      {"masks of rows", rows, "vmap(e => e[e > 0.5])(r)"},
      {"pad", rows, "pad(r)"},
      {"pad of one long row", one_row, "pad(r)"},
      {"rows joined", rows, "vmap(e => concat((e, e)))(r)"},
      {"table by rows", "let t = uniform(key(0), (1000, 64))\nlet r = ragged(randint(key(1), (n // 8,), 0, 1000), full(n // 64, 8))",
       "vmap[_, 0]((t, e) => sum(t[e], axis=0))(t, r)"},
      {"table by one long row", "let t = uniform(key(0), (1000, 64))\nlet r = ragged(randint(key(1), (n // 8,), 0, 1000), [n // 8, 0])",
       "vmap[_, 0]((t, e) => sum(t[e], axis=0))(t, r)"},
      {"ragged", floats, "ragged(x, full(n // 4, 4))"},
      // random numbers
      {"uniform", "", "uniform(key(3), (n,))"},
      {"normal", "", "normal(key(3), (n,))"},
      {"randint", "", "randint(key(3), (n,), 0, 100)"},
      {"permutation", "", "permutation(key(3), n)"},
      {"split", "", "split(key(3), n // 8)"},
      {"draws by keys", "", "vmap(k => uniform(k))(split(key(3), n // 8))"},
      // text
      {"lower", texts, "lower(t)"},
      {"replace", texts, "replace(t, \"Words\", \"w\")"},
      {"matches", texts, "matches(t, r\"a.*e\")"},
      {"extract", texts, "extract(t, r\"(\\d+)\")"},
      {"find", texts, "find(t, \"OFTEN\")"},
      {"len of texts", texts, "len(t[0]) + sum(lengths(codepoints(t)))"},
      {"texts compared", texts, "t == t[::-1]"},
      {"texts joined", texts, "t + t"},
      {"normalize", texts, "normalize(t, form=\"NFKC\")"},
      {"bytes", texts, "bytes(t)"},
      {"tokenize", texts, "tokenize(t)"},
      {"tokenize by pattern", texts, "tokenize(t, kind=r\"\\w+\")"},
      {"split of texts", texts, "split(t, \" \")"},
      {"one long text", "let t = join(tile([\"Some Words of a text\"], n // 4), \" \")", "(lengths(tokenize([t])), lower(t))"},
      {"long text split", "let t = join(tile([\"Some Words of a text\"], n // 4), \" \")", "split(t, \" \")"},
      {"long text matched", "let t = join(tile([\"Some Words of a text\"], n // 4), \" \")", "matches(t, r\"z.*q\")", false},   // RE2 is not asked
      {"long text compared", "let t = join(tile([\"Some Words of a text\"], n // 4), \" \")", "replace(t, \"Words\", \"w\") == t"},
      {"join", tokens, "join(k, \" \")"},
      {"join of one row", tokens, "join(flatten(k), \" \")"},
      {"vocab", tokens, "vocab(k)"},
      {"vocab of many", "let t = vmap(i => f\"{i}\")(arange(n // 16))", "vocab(t)"},
      {"encode", "let t = tile([\"some words of a text that is repeated\", \"x 12\"], n // 16)\nlet k = tokenize(t)\nlet voc = vocab(k[:10])", "encode(voc, k)"},
      {"decode", "let t = tile([\"some words of a text\", \"x 12\"], n // 16)\nlet k = tokenize(t)\nlet voc = vocab(k)\nlet e = encode(voc, k)", "decode(voc, e)"},
      {"hash_tokens", tokens, "hash_tokens(k, 1000)"},
      {"minhash", tokens, "minhash(k[:len(k) // 16], n=32)"},
      {"texts made row by row", tokens, "vmap(e => { var s = \"\"; for w in e { s = s + w + \" \" }; tokenize(s) })(k)"},
      {"ngrams", tokens, "vmap(e => ngrams(e, 2))(k)"},
      {"numbers of texts", "let t = tile([\"12\", \"345\"], n // 8)", "parse_int(t)"},
      {"floats of texts", "let t = tile([\"12.5\", \"3e4\"], n // 8)", "parse_float(t)"},
      {"texts of numbers", floats, "vmap(e => f\"{e:.3f}\")(x[:n // 64])"},
      {"a formatted array", floats, "f\"{x:.3f}\"", false},
      {"print", floats, "print(x, m)", false},
      {"edit distance", texts, "edit_distance(join(tile([\"abcd\"], n // 1024 + 8), \"\"), join(tile([\"abdd\"], n // 1024 + 8), \"\"))"},
      // files
      {"write and read lines", texts, "{ write_lines(file + \".txt\", t); read_lines(file + \".txt\") }"},
      {"write and read gzip", texts, "{ write_lines(file + \".txt.gz\", t); read_lines(file + \".txt.gz\") }"},
      {"write and read zstd", texts, "{ write_lines(file + \".txt.zst\", t); read_lines(file + \".txt.zst\") }"},
      {"npy written", floats, "save_npy(file + \".npy\", x)"},
      {"npy read", "save_npy(file + \".npy\", uniform(key(0), (n,)))", "load_npy(file + \".npy\")"},
      {"npz written", floats, "save_npz(file + \".npz\", (a=x, b=m))"},
      {"npz read", "save_npz(file + \".npz\", (a=uniform(key(0), (n,)), b=arange(n)))", "load_npz(file + \".npz\")"},
      {"safetensors written", floats, "save_safetensors(file + \".st\", (a=x, b=m))"},
      {"safetensors read", "save_safetensors(file + \".st\", (a=uniform(key(0), (n,)), b=arange(n)))", "load_safetensors(file + \".st\")"},
      {"jsonl written", "let t = tile([\"some words of a text\", \"x 12\"], n // 32)\nlet v = arange(len(t))", "write_jsonl(file + \".jsonl\", (text=t, v=v))"},
      {"jsonl read", "let t = tile([\"some words of a text\", \"x 12\"], n // 32)\nlet v = arange(len(t))\nwrite_jsonl(file + \".jsonl\", (text=t, v=v))", "read_jsonl(file + \".jsonl\")"},
      {"csv read", "let t = tile([\"some words,12,1.5\", \"x,12,7.0\"], n // 32)\nwrite_lines(file + \".csv\", concat((t[:1], t)))", "read_csv(file + \".csv\")"},
      {"streamed lines", "write_lines(file + \".s.txt\", tile([\"some words\", \"x\"], n // 32))", "{ var s = 0; for c in stream_lines(file + \".s.txt\", 1000) { s += len(c) }; s }"},
      {"plot", floats, "plot(x)"},
      {"bars", "let t = tile([\"a\", \"b\"], n // 128)\nlet v = f32(arange(len(t)))", "bars(t, v)"},
      // control flow
      {"while", "", "{ var i = 0; while i < n { i += 1 }; i }"},
      {"while in for", "", "{ var s = 0; for i in 0..3 { var j = 0; while j < n { s += i ^ j; j += 1 } }; s }"},
      {"for over numbers", "", "{ var s = 0.0; for i in 0..n // 8 { s += sin(f32(i)) }; s }"},
      {"for over rows", floats, "{ var s = 0.0; for row in m { s += max(row) }; s }"},
      {"scan", floats, "scan((c, e) => (c * 0.5 + e, c), 0.0, x[:n // 8])"},
      {"while in lanes", ints, "vmap(v => { var k = v; var s = 0; while k > 0 { k = k // 2; s += 1 }; s })(i)"},
      {"recursion", "fn fib(k) = if k < 2 { k } else { fib(k - 1) + fib(k - 2) }", "fib(if n > 1000000 { 25 } else { 5 })"},
      {"map", floats, "map(row => sum(row), m)"},
      {"comprehension", "", "[i * i for i in 0..n if i % 3 == 0]"},
      {"gradient", floats, "grad(v => sum(exp(v) * sin(v)))(x)"},
      {"gradient of a loop", floats, "grad(v => { var s = v; for i in 0..20 { s = sin(s) * v }; sum(s) })(x[:n // 16])"},
      // devices
      {"pmap", floats, "pmap(row => exp(row) * 2.0)(reshape(x[:len(x) // 2 * 2], (2, len(x) // 2)))", false},
      {"psum", floats, "pmap(row => psum(row) + 1.0)(reshape(x[:len(x) // 2 * 2], (2, len(x) // 2)))", false},
      {"all_gather", floats, "pmap(row => all_gather(row) * 2.0)(reshape(x[:len(x) // 2 * 2], (2, len(x) // 2)))", false},
      {"ppermute", floats, "pmap(row => ppermute(row, [[0, 1], [1, 0]]))(reshape(x[:len(x) // 2 * 2], (2, len(x) // 2)))", false},
      {"loop of collectives", "", "pmap(s => { var t = s; for i in 0..n // 1024 { t = psum(t) % 7 }; t })(arange(2))", false},
  };
  return all;
}

}  // namespace tercet::test
