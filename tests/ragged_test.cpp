// vmap over rows of different length means a loop over the rows, bit for bit: interpreted, jit, --jit-all; with empty rows,
// one row, no row, and a row much longer than the others.
#include <catch2/catch.hpp>

#include "tests/random/equal.h"
#include "tests/session_runner.h"

namespace tercet {
namespace {

using test::Ran;
using test::Runner;

/// A function of one row x of numbers. `flat`: it must not need a loop over the rows.
struct Case {
  const char* function;
  bool flat = true;
  bool several = false;   // more than one axis of its result differs: compared element by element
};

const Case cases[] = {
    {"x => x * 2 + 1"},
    {"x => where(x > 3, x, -x)"},
    {"x => sum(x)"},
    {"x => prod(x)"},
    {"x => any(x > 5)"},
    {"x => all(x > -50)"},
    {"x => count(x)"},
    {"x => mean(x)"},
    {"x => var(x)"},
    {"x => sum(x * x, keepdims=true)"},
    {"x => cumsum(x)"},
    {"x => cumprod(x)"},
    {"x => cummax(x)"},
    {"x => cummin(x)"},
    {"x => sort(x)"},
    {"x => sort(x, descending=true)"},
    {"x => argsort(x)"},
    {"x => x[::-1]"},
    {"x => x[1:]"},
    {"x => x[:-1]"},
    {"x => x[2:5]"},
    {"x => x[::2]"},
    {"x => x[x > 3]"},
    {"x => nonzero(x > 3)"},
    {"x => x[1:] - x[:-1]"},
    {"x => len(x)"},
    {"x => x + len(x)"},
    {"x => arange(len(x))"},
    {"x => x - mean(x)"},
    {"x => concat((x, x))"},
    {"x => concat(([1.0], x[1:], x))"},
    {"x => concat((zeros(3), f32(x)))"},
    {"x => bincount(i32(abs(x)) % 7, length=7)"},
    {"x => table[i32(abs(x)) % 11]"},
    {"x => sum(wide[i32(abs(x)) % 11], axis=0)"},
    {"x => mean(wide[i32(abs(x)) % 11], axis=0)"},
    {"x => mean(wide[i32(abs(x)) % 11], axis=1)"},
    {"x => max(wide[i32(abs(x)) % 11], axis=1)"},
    {"x => sum(wide[i32(abs(x)) % 11])"},
    {"x => wide[i32(abs(x)) % 11] @ ones((5, 2))"},
    {"x => wide[i32(abs(x)) % 11] @ [1.0, 2.0, 3.0, 4.0, 5.0]"},
    {"x => [1.0, 2.0, 3.0, 4.0, 5.0] @ transpose(wide[i32(abs(x)) % 11])", false},
    {"x => dot(f32(x), f32(x))"},
    {"x => f32(x) @ wide[i32(abs(x)) % 11]"},
    {"x => wide[i32(abs(x)) % 11][:, 2]"},
    {"x => wide[i32(abs(x)) % 11][:, 1:3]"},
    {"x => sort(wide[i32(abs(x)) % 11], axis=1)"},
    {"x => cumsum(wide[i32(abs(x)) % 11], axis=1)"},
    {"x => cumsum(wide[i32(abs(x)) % 11], axis=0)"},
    {"x => sort(wide[i32(abs(x)) % 11], axis=0)"},
    {"x => reshape(wide[i32(abs(x)) % 11], -1)"},
    {"x => expand_dims(x, 1) * [1, 2, 3]"},
    {"x => sum(expand_dims(x, 1) * [1, 2, 3], axis=0)"},
    {"x => one_hot(i32(abs(x)) % 4, 4)"},
    {"x => [v * 2 for v in x]"},
    {"x => [x[i : i + 2] for i in 0..max([len(x) - 1, 0])]"},
    {"x => vmap(y => y * 2)(x)"},
    {"x => if sum(x) > 10 { x } else { -x }"},
    {"x => if len(x) > 2 { sum(x) } else { x[0:1] |> sum }"},
    {"x => put(zeros(8), i32(abs(x)) % 8, f32(x), op=\"add\")"},
    {"x => put(x, i32(abs(x)) % 3, 9, mode=\"drop\")"},
    {"x => diff(x)"},
    {"x => flip(x)"},
    {"x => exp(-abs(f32(x))) / 3"},
    {"x => unique(x)"},
    {"x => norm(x)"},
    {"x => median(concat((x, [1])))"},
    {"x => outer(x, x)", false, true},
    {"x => transpose(wide[i32(abs(x)) % 11])", false, true},
    {"x => { var s = 0\nfor v in x { s = s * 3 + i32(v) }\ns }", false},
    {"x => { var i = 0\nwhile i < len(x) { i += 2 }\ni }", false},
    {"x => { var y = x\ny[0:1] = 7\ny }"},
    {"x => { var y = x\ny[1:] = y[:-1]\ny }"},
    {"x => { var y = x\ny[::-2] = y[::2]\ny }"},
    {"x => { var y = x\ny[:2] += 1\ny }"},
    {"x => { var y = x\ny[0] = 5\ny }"},
    {"x => { var y = wide[i32(abs(x)) % 11]\ny[1:] = 0.5\ny }"},
    {"x => { var y = wide[i32(abs(x)) % 11]\ny[:1] = [1.0, 2.0, 3.0, 4.0, 5.0]\ny }"},
    {"x => { let k = len(x) // 3\nvar y = x\ny[k : k + 1] = 8\ny }"},
    {"x => { var y = zeros(4)\ny[1:3] = f32(len(x))\ny }"},
    {"x => ngrams(f\"{len(x)} a b\".split(\" \")[:len(x)], 2)", false},
    {"x => windows(x, 2)"},
    {"x => scan((c, v) => (c + v, c * v), zeros((), dtype(x)), x)[1]", false},
    // compiled callees stay compiled, and get rows
    {"jit (x => x * 2 + sum(x))"},
    {"x => (jit ((y, k) => y[y > k]))(x, 2) |> (z => z[::-1])"},
    {"x => (jit (y => sum(y)))(x) + (jit (y => y + 1))(x)"},
    {"jit (x => x[1])"},
    // errors: the first row that fails, as a loop finds it
    {"x => x[0]"},
    {"x => x[2]"},
    {"x => x[-1]"},
    {"x => max(x)"},
    {"x => argmax(x)"},
    {"x => top_k(x, 2)[0]"},
    {"x => softmax(x)"},
    {"x => logsumexp(x)"},
    {"x => x[i32(x)]"},
    {"x => table[i32(x)]"},
    {"x => x + [1, 2, 3]", false},
    {"x => { assert(len(x) < 3, \"long\")\nx }"},
    {"x => 10 // i32(x)"},
    {"x => zeros(len(x) - 2)"},
    {"x => arange(3 - len(x))"},
    {"x => x[1 : 1 + 2]"},
    {"x => { let k = len(x) // 2\nx[k : k + 2] }"},
    {"x => bincount(i32(x), length=5)"},
    {"x => if len(x) > 3 { x[5] } else { 0 }"},
    {"x => [table[i32(v)] for v in x]"},
};

/// Functions of one row of texts.
const Case text_cases[] = {
    {"x => lower(x)"},
    {"x => upper(x)"},
    {"x => strip(x)"},
    {"x => replace(x, \"a\", \"<>\")"},
    {"x => starts_with(x, \"b\")"},
    {"x => contains(x, \"c\")"},
    {"x => find(x, \"c\")"},
    {"x => matches(x, r\"^[a-c]+$\")"},
    {"x => normalize(x, form=\"NFD\")"},
    {"x => extract(x, r\"([a-b])c?\")"},
    {"x => x == \"a\""},
    {"x => where(x == \"a\", 1, 2)"},
    {"x => hash_tokens(x, 1000)"},
    {"x => minhash(x, 4)"},
    {"x => encode(voc, x)"},
    {"x => decode(voc, encode(voc, x))"},
    {"x => join(x, \"-\")"},
    {"x => ngrams(x, 2)"},
    {"x => join(windows(x, 2), \"+\")"},
    {"x => x[::-1]"},
    {"x => x[1:]"},
    {"x => x[x != \"a\"]"},
    {"x => x[lengths(tokenize(x, \"chars\")) > 1]", false},
    {"x => len(x)"},
    {"x => sort(x)"},
    {"x => argsort(x)"},
    {"x => concat((x, [\"z\"]))"},
    {"x => x[0]"},
    {"x => vmap(len)(x)"},
    {"x => { var y = x\ny[:1] = \"new\"\ny }"},
};
const char* const text_inputs[] = {
    "tokenize([\"b a\", \"\", \"bc A a\", \"été a word that is longer than twelve bytes\"])",
    "tokenize([\"a\"])",
    "tokenize([\"\", \"\"])",
};

/// What is written of a whole ragged array r, and of each row x; w is f32[n, *, 5]. `several`: more than one axis differs.
struct Whole {
  const char *whole, *row;
  bool several = false;
};
const Whole wholes[] = {
    {"zeros_like(r)", "zeros_like(x)"},
    {"full_like(r, 3)", "full_like(x, 3)"},
    {"digitize(r, [1, 4])", "digitize(x, [1, 4])"},
    {"searchsorted([1, 5], r)", "searchsorted([1, 5], x)"},
    {"take(table, i32(abs(r)) % 11)", "take(table, i32(abs(x)) % 11)"},
    {"take_along_axis(r, argsort(r), axis=1)", "take_along_axis(x, argsort(x), axis=0)"},
    {"expand_dims(r, 1)", "expand_dims(x, 0)", true},
    {"expand_dims(r, 2)", "expand_dims(x, 1)"},
    {"squeeze(r[:, :, none], axis=2)", "x"},
    {"transpose(w, axes=(0, 2, 1))", "transpose(v)", true},
    {"swapaxes(w, 1, 2)", "transpose(v)", true},
    {"stack((r, r + 1), axis=1)", "stack((x, x + 1))", true},
    {"stack((r, r + 1), axis=2)", "stack((x, x + 1), axis=1)"},
    {"concat((w, w), axis=2)", "concat((v, v), axis=1)"},
    {"concat((w, w), axis=1)", "concat((v, v), axis=0)"},
    {"concat((r, r))[:len(r)]", "x"},
    {"tile(r, 2)", "tile(x, 2)"},
    {"repeat(r, 2, axis=1)", "repeat(x, 2, axis=0)"},
    {"r[..., ::-1]", "x[::-1]"},
    {"w[..., 0]", "v[:, 0]"},
    {"windows(r, 2)", "windows(x, 2)"},
    {"w @ ones((5, 2))", "v @ ones((5, 2))"},
    {"{ var y = r\ny[:, 0:1] = 7\ny }", "{ var y = x\ny[0:1] = 7\ny }"},
    {"{ var y = r\ny[:, ::2] += 1\ny }", "{ var y = x\ny[::2] += 1\ny }"},
    {"{ var y = r\ny[r > 3] = 0\ny }", "{ var y = x\ny[x > 3] = 0\ny }"},
    {"{ var y = r\ny[r > 3] *= 2\ny }", "{ var y = x\ny[x > 3] *= 2\ny }"},
    {"{ var y = w\ny[:, :, 1] = 0.5\ny }", "{ var y = v\ny[:, 1] = 0.5\ny }"},
    {"{ var y = w\ny[:, 1:] -= 1.0\ny }", "{ var y = v\ny[1:] -= 1.0\ny }"},
    {"{ var y = r\ny[...] = 1\ny }", "{ var y = x\ny[...] = 1\ny }"},
    {"sum(w, axis=(1, 2))", "sum(v)"},
};

const char* const inputs[] = {
    "ragged([3, 1, 2, 9, 4, 7, -2, 5, 6, 0], [2, 0, 3, 1, 0, 4])",
    "ragged([3.5, 1.25, 2.0, 9.0, nan, 7.0, -2.5, 5.0, 6.0, -0.0], [3, 2, 0, 5])",
    "ragged([4, 2, 1], [3])",
    "ragged([1.5, 2.5], [1, 1])",
    "ragged([4, 2, 1, 7, 8, 9], [3, 3])",
    "ragged(i32(zeros(0)), [0, 0])",
    "ragged(f32(zeros(0)), i32(zeros(0)))",
    "ragged(f32(arange(30)) % 7.0, [17, 13])",
};
const char* const huge = "ragged(f32(arange(70100) % 89) / 7.0, [3, 70000, 0, 97])";

void compare(const std::string& how, const Case& c, const std::string& input) {
  const std::string function = c.function;
  INFO(how << ": " << function << " of rows of " << input);
  Runner runner(how != "interpreted", how == "jit-all");
  Ran ready = runner.run("let table = arange(11) * 3\nlet wide = reshape(f32(arange(55)) / 3.0, (11, 5))\nlet voc = vocab([\"a\", \"bc\", \"été\"])\nlet xs = " + input + "\nlet f = " + function + "\nlen(xs)");
  if (ready.error) FAIL(ready.error->message);
  int64_t rows = ready.value->leaf()->as_int();
  Ran got = runner.run(how == "jit" ? "let got = (jit vmap f)(xs)" : "let got = (vmap f)(xs)");
  for (int64_t i = 0; i < rows; ++i) {
    std::string at = std::to_string(i);
    INFO("row " << i);
    Ran expected = runner.run(c.several ? "flatten(f(xs[" + at + "]))" : "f(xs[" + at + "])");
    if (expected.error) {
      REQUIRE(got.error.has_value());
      CHECK(got.error->message == expected.error->message);
      CHECK(got.error->kind == expected.error->kind);
      if (expected.error->row.empty()) CHECK(got.error->row == std::vector<int64_t>{i});
      return;
    }
    if (got.error) continue;   // a later row's
    Ran row = runner.run(c.several ? "flatten(got[" + at + "])" : "got[" + at + "]");
    if (row.error) FAIL(row.error->message);
    INFO("got " << value_text(*row.value) << ", expected " << value_text(*expected.value));
    REQUIRE(random_programs::same_value(*row.value, *expected.value));
  }
  if (got.error) FAIL(got.error->message);
  if (rows == 0) CHECK(got.error.has_value() == false);
}

void compare_whole(const std::string& how, const Whole& c, const std::string& input) {
  INFO(how << ": " << c.whole << " with r = " << input);
  Runner runner(how != "interpreted", how == "jit-all");
  auto given = [](const char* v, const char* x) { return std::string("let ") + v + " = wide[i32(abs(" + x + ")) % 11]\n"; };
  Ran ready = runner.run("let table = arange(11) * 3\nlet wide = reshape(f32(arange(55)) / 3.0, (11, 5))\nlet r = " + input + "\n" + given("w", "r") + "len(r)");
  if (ready.error) FAIL(ready.error->message);
  Ran got = runner.run(how == "jit" ? std::string("let got = (jit ((r, w) => ") + c.whole + "))(r, w)" : std::string("let got = ") + c.whole);
  if (got.error) FAIL(got.error->message);
  for (int64_t i = 0, rows = ready.value->leaf()->as_int(); i < rows; ++i) {
    const std::string at = std::to_string(i), flat = c.several ? "flatten(" : "(";
    INFO("row " << i);
    Ran expected = runner.run("let x = r[" + at + "]\n" + given("v", "x") + "let e = " + c.row + "\n" + flat + "e)");
    if (expected.error) FAIL(expected.error->message);
    Ran row = runner.run(flat + "got[" + at + "])");
    if (row.error) FAIL(row.error->message);
    INFO("got " << value_text(*row.value) << ", expected " << value_text(*expected.value));
    REQUIRE(random_programs::same_value(*row.value, *expected.value));
  }
}

/// The steps of compiled code: is there a loop over the rows among them?
bool loops_over_rows(const Case& c) {
  Runner runner(true, false);
  Ran steps = runner.run("let table = arange(11) * 3\nlet wide = reshape(f32(arange(55)) / 3.0, (11, 5))\nlet voc = vocab([\"a\", \"bc\", \"été\"])\nlet xs = ragged([4.0, 2.0, 1.0, 7.0], [3, 1])\nlet g = jit vmap (" +
                         std::string(c.function) + ")\nexplain(g, xs)");
  if (steps.error) FAIL(steps.error->message);
  std::string text = value_text(*steps.value);
  return text.find("scan") != std::string::npos;
}

}  // namespace

TEST_CASE("vmap over rows of different length means a loop over the rows", "[batch][ragged]") {
  for (const Case& c : cases)
    DYNAMIC_SECTION(c.function) {
      for (const char* how : {"interpreted", "jit"})
        for (const char* input : inputs) compare(how, c, input);
      compare("jit-all", c, inputs[0]);
      compare("jit-all", c, inputs[1]);
      if (c.flat) compare("interpreted", c, huge);
      bool compiled_callee = std::string(c.function).starts_with("jit") || std::string(c.function).find("(jit") != std::string::npos;
      if (!compiled_callee) CHECK(loops_over_rows(c) == !c.flat);
    }
}

TEST_CASE("vmap over rows of texts means a loop over the rows", "[batch][ragged][text]") {
  for (const Case& c : text_cases)
    DYNAMIC_SECTION(c.function) {
      for (const char* how : {"interpreted", "jit", "jit-all"})
        for (const char* input : text_inputs) compare(how, c, input);
    }
}

TEST_CASE("what is done to rows of different length at once is done to each row", "[ragged]") {
  for (const Whole& c : wholes)
    DYNAMIC_SECTION(c.whole) {
      for (const char* how : {"interpreted", "jit", "jit-all"})
        for (const char* input : inputs) compare_whole(how, c, input);
    }
}

}  // namespace tercet
