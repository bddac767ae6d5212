// Syntax: what a text means, as the S-expression of its AST.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "grammar/ast_printer.h"
#include "grammar/parser.h"

using namespace tercet;

namespace {

struct Parsed {
  SourceMap sources;
  ParseResult result;
  std::string errors;

  explicit Parsed(std::string text, std::string name = "t.tct") {
    const SourceFile& file = sources.add(std::move(name), std::move(text));
    result = parse(file);
    for (const Diagnostic& d : result.diagnostics) errors += render(d, sources);
  }
};

/// The AST without the last line break; the errors if there are any.
std::string ast_of(const std::string& text) {
  Parsed p(text);
  if (!p.errors.empty()) return p.errors;
  std::string out = print(p.result.program);
  if (!out.empty()) out.pop_back();
  return out;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("operators group by their levels", "[grammar]") {
  CHECK(ast_of("a or b and not c == d") == "(or a (and b (not (== c d))))");
  CHECK(ast_of("not a and not not b") == "(and (not a) (not (not b)))");
  CHECK(ast_of("a == b | c ^ d & e << f") == "(== a (| b (^ c (& d (<< e f)))))");
  CHECK(ast_of("a << b + c * d") == "(<< a (+ b (* c d)))");
  CHECK(ast_of("a - b - c") == "(- a b c)");
  CHECK(ast_of("a - b + c") == "(chain a - b + c)");
  CHECK(ast_of("a * b / c // d % e @ f") == "(chain a * b / c // d % e @ f)");
  CHECK(ast_of("(a - b) - c") == "(- (- a b) c)");
  CHECK(ast_of("a + b .. c |> f") == "(|> (range (+ a b) c) f)");
  CHECK(ast_of("a or b..c and d") == "(range (or a b) (and c d))");
  CHECK(ast_of("x > 1 and x < 3") == "(and (> x 1) (< x 3))");
  CHECK(ast_of("(x > 1) & (x < 3)") == "(& (> x 1) (< x 3))");
  CHECK(ast_of("a & b == c") == "(== (& a b) c)");
}

TEST_CASE("power binds tighter than the sign on its left", "[grammar]") {
  CHECK(ast_of("-x ** 2") == "(neg (** x 2))");
  CHECK(ast_of("-2 ** 2") == "(neg (** 2 2))");
  CHECK(ast_of("2 ** -1") == "(** 2 -1)");
  CHECK(ast_of("a ** b ** c") == "(** a (** b c))");
  CHECK(ast_of("a ** -b ** c") == "(** a (neg (** b c)))");
  CHECK(ast_of("-a * b") == "(* (neg a) b)");
  CHECK(ast_of("a * -b") == "(* a (neg b))");
  CHECK(ast_of("~a & -b") == "(& (~ a) (neg b))");
  CHECK(ast_of("a[0] ** f(x).b") == "(** (index a 0) (. (call f x) b))");
}

TEST_CASE("a sign belongs to the number after it", "[grammar]") {
  CHECK(ast_of("-2147483648") == "-2147483648");
  CHECK(ast_of("[-1, - 2, --3, -(4), +5]") == "(array -1 -2 (neg -3) (neg 4) (pos 5))");
  CHECK(ast_of("-1.sum()") == "(neg (call (. 1 sum)))");
  CHECK(ast_of("a -1") == "(- a 1)");
  CHECK(ast_of("a - -1") == "(- a -1)");
  CHECK(ast_of("-128i8") == "-128i8");
  CHECK(ast_of("-9223372036854775808i64") == "-9223372036854775808i64");
  Parsed p("x = -5");
  auto* value = p.result.program.statements[0]->as<ast::Assign>()->value.get();
  CHECK(value->span.begin == 4);
  CHECK(value->span.end == 6);
}

TEST_CASE("numbers", "[grammar]") {
  CHECK(ast_of("[42, 1_000, 0xff, 0xFF_ff, 0b1010, 3i64, 7u8, 0b11u8]") == "(array 42 1000 255 65535 10 3i64 7u8 3u8)");
  CHECK(ast_of("[1.5, 1e-3, 1.5f64, 2f32, 1_0.2_5, 2.5e+2, 1E3, 0.5bf16]") ==
        "(array 1.5 0.001 1.5f64 2.0f32 10.25 250.0 1000.0 0.5bf16)");
  CHECK(ast_of("18446744073709551615") == "18446744073709551615");
  CHECK(ast_of("1..n") == "(range 1 n)");
  CHECK(ast_of("1.5..2.5") == "(range 1.5 2.5)");
  CHECK(ast_of("-5..-1") == "(range -5 -1)");
  CHECK(ast_of("1e-400") == "0.0");
  CHECK(ast_of("1.f(x)") == "(call (. 1 f) x)");
}

TEST_CASE("strings", "[grammar]") {
  CHECK(ast_of(R"("a\n\t\"\\\u{4e2d}\u{41}")") == "\"a\\n\\u{9}\\\"\\\\中A\"");
  CHECK(ast_of(R"(r"\d+\u{")") == R"("\\d+\\u{")");
  CHECK(ast_of("\"中 # no comment\"") == "\"中 # no comment\"");
  CHECK(ast_of("\"\"") == "\"\"");
}

TEST_CASE("formatted strings", "[grammar]") {
  CHECK(ast_of(R"(f"{x} of {n:>8.3}")") == R"((format x " of " (as ">8.3" n)))");
  CHECK(ast_of(R"(f"{{}} {f(a, k=[1, 2][0])}{b}\u{4e2d}\"")") ==
        R"((format "{} " (call f a :k (index (array 1 2) 0)) b "中\""))");
  CHECK(ast_of(R"(f"{x[1:2]:.2} {y |> f:d}")") ==
        R"((format (as ".2" (index x (slice 1 2 nil))) " " (as "d" (|> y f))))");
  CHECK(ast_of(R"(f"{(v => v + 1)(2)}")") == "(format (call (lambda (v) (+ v 1)) 2))");
  CHECK(ast_of(R"(f"")") == "(format)");
  Parsed p("print(f\"ab{xy + z}\")");
  auto* call = p.result.program.statements[0]->as<ast::ExprStmt>()->value->as<ast::Call>();
  auto& part = call->arguments[0].value->as<ast::FString>()->parts[1];
  CHECK(part.hole->span.begin == 11);
  CHECK(part.hole->span.end == 17);
  CHECK(part.span.begin == 10);
  CHECK(part.span.end == 18);
}

TEST_CASE("lambdas extend as far as they can", "[grammar]") {
  CHECK(ast_of("x => x + 1 |> f") == "(lambda (x) (|> (+ x 1) f))");
  CHECK(ast_of("(x, (y, z)) => _ => () => x") == "(lambda (x (y z)) (lambda (_) (lambda () x)))");
  CHECK(ast_of("xs |> (x => x + 1) |> g") == "(|> xs (lambda (x) (+ x 1)) g)");
  CHECK(ast_of("f(x => x, (a, b,) => a)") == "(call f (lambda (x) x) (lambda (a b) a))");
  CHECK(ast_of("(x: f32[n], k=2) => x") == "(lambda ((x : f32[n]) (k = 2)) x)");
  CHECK(ast_of("(x) == (y)") == "(== x y)");
}

TEST_CASE("tuples, records, arrays, indices", "[grammar]") {
  CHECK(ast_of("[(), (a), (a,), (a, b), (a, b,)]") == "(array (tuple) a (tuple a) (tuple a b) (tuple a b))");
  CHECK(ast_of("(w=1, b=2,)") == "(record :w 1 :b 2)");
  CHECK(ast_of("(..r, w=3)") == "(record .. r :w 3)");
  CHECK(ast_of("(a == 1)") == "(== a 1)");
  CHECK(ast_of("[]") == "(array)");
  CHECK(ast_of("[[1, 2,], [3]]") == "(array (array 1 2) (array 3))");
  CHECK(ast_of("[e for x in xs]") == "(collect e for x in xs)");
  CHECK(ast_of("[i * j for (i, j) in 0..n if i > 0 and c]") ==
        "(collect (* i j) for (i j) in (range 0 n) if (and (> i 0) c))");
  CHECK(ast_of("x[i, -1, 1:3, ::2, :, none, ..., a:b:c, :-1, 1:]") ==
        "(index x i -1 (slice 1 3 nil) (slice nil nil 2) (slice nil nil nil) newaxis ... (slice a b c) "
        "(slice nil -1 nil) (slice 1 nil nil))");
  CHECK(ast_of("x[0][1].a.b(c)[d,]") == "(index (call (. (. (index (index x 0) 1) a) b) c) d)");
}

TEST_CASE("reserved words are names after a point and before `=` in brackets", "[grammar]") {
  CHECK(ast_of("r.if.not.jit") == "(. (. (. r if) not) jit)");
  CHECK(ast_of("f(in=1, if = 2)") == "(call f :in 1 :if 2)");
  CHECK(ast_of("(for=1, true=2)") == "(record :for 1 :true 2)");
  CHECK(ast_of("vmap[as=0] f") == "(vmap [:as 0] f)");
  CHECK(ast_of("r.not\nb") == "(. r not)\nb");
}

TEST_CASE("`var` declares a variable and names the variance", "[grammar]") {
  CHECK(ast_of("var x = 1; var (a, b) = c; var _ = 2") == "(var x 1)\n(var (a b) c)\n(var _ 2)");
  CHECK(ast_of("var(x, axis=0)") == "(call var x :axis 0)");
  CHECK(ast_of("fn var(x) = sqrt(var(x)) + (xs |> var)") == "(fn var (x) (+ (call sqrt (call var x)) (|> xs var)))");
  CHECK(ast_of("x.var() + vmap var(xs)") == "(+ (call (. x var)) (call (vmap var) xs))");
  CHECK(ast_of("f(\nvar(x),\nvar\n)") == "(call f (call var x) var)");
  CHECK(ast_of("{ var\n|> f }") == "(block\n  (|> var f))");
}

TEST_CASE("transforms take a name with members, a parenthesis or a transform, and are atoms", "[grammar]") {
  std::string same = "(call (jit (vmap f)) x)";
  CHECK(ast_of("jit vmap f(x)") == same);
  CHECK(ast_of("(jit vmap f)(x)") == same);
  CHECK(ast_of("jit(vmap(f))(x)") == same);
  CHECK(ast_of("jit m.f.g(x).y") == "(. (call (jit (. (. m f) g)) x) y)");
  CHECK(ast_of("vmap(f).x") == "(. (vmap f) x)");
  CHECK(ast_of("vmap[_, 0, devices=4, ids=0, out=(a=0, b=(_, -1))] f") ==
        "(vmap [_ 0 :devices 4 :ids 0 :out (record :a 0 :b (tuple _ -1))] f)");
  CHECK(ast_of("xs |> vmap f |> jit(g) |> h(2)") == "(|> xs (vmap f) (jit g) (call h 2))");
  CHECK(ast_of("pmap[split=true, devices=4](y => y * 2.0)(x)") ==
        "(call (pmap [:split true :devices 4] (lambda (y) (* y 2.0))) x)");
  CHECK(ast_of("-grad f(x) ** 2") == "(neg (** (call (grad f) x) 2))");
  CHECK(ast_of("jit\nvmap\nf") != "(jit (vmap f))");
  CHECK(ast_of("jit x => x + 1") == "(jit (lambda (x) (+ x 1)))");
  CHECK(ast_of("jit vmap[0, _] (x, y) => x |> f(y)") == "(jit (vmap [0 _] (lambda (x y) (|> x (call f y)))))");
  CHECK(ast_of("vmap[0](x, y) => x") == "(vmap [0] (lambda (x y) x))");
  CHECK(ast_of("vmap (x) => x") == ast_of("vmap(x) => x"));
  CHECK(ast_of("x => jit _ => grad y => y") == "(lambda (x) (jit (lambda (_) (grad (lambda (y) y)))))");
  CHECK(ast_of("(jit x => x)(1)") == "(call (jit (lambda (x) x)) 1)");
  CHECK(ast_of("f(grad x => x, b=vmap x => x)") == "(call f (grad (lambda (x) x)) :b (vmap (lambda (x) x)))");
  CHECK(ast_of("vmap(x => x)(y)") == "(call (vmap (lambda (x) x)) y)");
}

TEST_CASE("statements", "[grammar]") {
  CHECK(ast_of("let (a, (b, _)) = e; var x = 1") == "(let (a (b _)) e)\n(var x 1)");
  CHECK(ast_of("x = 1; x += 2; x //= 3; x **= 4; x <<= 5; x @= y; x |= 1; x[i] = e; x[i].a -= e") ==
        "(= x 1)\n(+= x 2)\n(//= x 3)\n(**= x 4)\n(<<= x 5)\n(@= x y)\n(|= x 1)\n(= (index x i) e)\n"
        "(-= (. (index x i) a) e)");
  CHECK(ast_of("fn f(p, q: f32[n, 3, *, _], k=3) -> f32[n] = p") ==
        "(fn f (p (q : f32[n 3 * _]) (k = 3)) -> f32[n] p)");
  CHECK(ast_of("fn f() {}") == "(fn f ()\n  (block))");
  CHECK(ast_of("jit vmap[0, _] fn tf(tokens, n) = tokens") == "(jit (vmap [0 _] (fn tf (tokens n) tokens)))");
  CHECK(ast_of("for (i, x) in xs { if i > 3 { break }; continue }\nwhile c { x += 1 }") ==
        "(for (i x) in xs\n  (block\n    (if (> i 3)\n      (block\n        (break)))\n    (continue)))\n"
        "(while c\n  (block\n    (+= x 1)))");
  CHECK(ast_of("import \"a/b.tct\" as m; import text; import text as t") ==
        "(import \"a/b.tct\" as m)\n(import text)\n(import text as t)");
  CHECK(ast_of("fn f() { return }; fn g() { return 1 }") ==
        "(fn f ()\n  (block\n    (return)))\n(fn g ()\n  (block\n    (return 1)))");
  CHECK(ast_of("if a { b }") == "(if a\n  (block\n    b))");
  CHECK(ast_of("let y = if a { 1 } else if b { 2 } else { 3 }") ==
        "(let y (if a\n  (block\n    1)\n  (if b\n    (block\n      2)\n    (block\n      3))))");
  CHECK(ast_of("x => { for i in x { y } }") == "(lambda (x)\n  (block\n    (for i in x\n      (block\n        y))))");
}

TEST_CASE("where a line break ends a statement", "[grammar]") {
  CHECK(ast_of("a\nb;c;;\n\n;d") == "a\nb\nc\nd");
  CHECK(ast_of("a +\nb") == "(+ a b)");
  CHECK(ast_of("a\n+ b") == "a\n(pos b)");
  CHECK(ast_of("a and # why\n  # because\n\nnot\nb") == "(and a (not b))");
  CHECK(ast_of("x\n  # then\n  |> f\n\n  |> g") == "(|> x f g)");
  CHECK(ast_of("x\n  .f()\n  .g") == "(. (call (. x f)) g)");
  CHECK(ast_of("f(\na\n,\nb\n)") == "(call f a b)");
  CHECK(ast_of("[a\n+ b,\n\nc,\n]") == "(array (+ a b) c)");
  CHECK(ast_of("x =\n1\ny +=\n2") == "(= x 1)\n(+= y 2)");
  CHECK(ast_of("x =>\n1") == "(lambda (x) 1)");
  CHECK(ast_of("fn f() ->\nf32 =\n1") == "(fn f () -> f32[] 1)");
  CHECK(ast_of("if a { b }\n# no\nelse { c }") == "(if a\n  (block\n    b)\n  (block\n    c))");
  CHECK(ast_of("f(x => {\n\n a\n b\n\n})") == "(call f (lambda (x)\n  (block\n    a\n    b)))");
  CHECK(ast_of("a\r\nb\r\n") == "a\nb");
  CHECK(ast_of("a\n(b)\n[c]") == "a\nb\n(array c)");
  CHECK(ast_of("\xEF\xBB\xBFlet a = 1") == "(let a 1)");
  CHECK(ast_of("") == "");
  CHECK(ast_of("# only\n\n") == "");
}

TEST_CASE("doc comments belong to the function after them", "[grammar]") {
  Parsed p(
      "## Counts.\n##  indented\n# a remark\njit fn f() = 1\nlet a = 1 ## not this\nfn g() = 2\n### nor this\nfn h() = "
      "3");
  REQUIRE(p.errors.empty());
  auto doc = [&](size_t i) { return p.result.program.statements[i]->as<ast::FunctionStmt>()->function->doc; };
  CHECK(doc(0) == "Counts.\n indented");
  CHECK(doc(2).empty());
  CHECK(doc(3).empty());
}

TEST_CASE("names may use the letters of any language, in one canonical form", "[grammar]") {
  CHECK(ast_of("größe + 変数２ + _x1") == "(+ größe 変数２ _x1)");
  CHECK(ast_of("e\xCC\x81") == "\xC3\xA9");  // e + combining acute is é
}

TEST_CASE("spans cover what was written", "[grammar]") {
  Parsed p("let abc = (a + b) * c");
  auto* let = p.result.program.statements[0]->as<ast::Let>();
  CHECK(let->pattern.span == Span{1, 4, 7});
  CHECK(let->value->span == Span{1, 10, 21});
  auto* product = let->value->as<ast::Chain>();
  CHECK(product->first->span == Span{1, 11, 16});
  CHECK(product->links[0].op_span == Span{1, 18, 19});
  Parsed q("é.f(x, k=1)[2]");
  auto* index = q.result.program.statements[0]->as<ast::ExprStmt>()->value->as<ast::Index>();
  auto* call = index->base->as<ast::Call>();
  CHECK(call->arguments[1].span == Span{1, 8, 11});
  CHECK(call->callee->as<ast::Member>()->name_span == Span{1, 3, 4});
  CHECK(index->base->span == Span{1, 0, 12});
}

TEST_CASE("the examples of the language's description parse", "[grammar]") {
  const char* tour = R"(
# one document -> a batch -> machine code -> devices
fn encode_text(params, ids) = mean(params.embedding[ids], axis=0)

let batch_encode = vmap[_, 0] encode_text          # params shared, ids mapped along axis 0
let fast_encode  = jit batch_encode
let params = (embedding = eye(1000, 128))
let batch  = [[1, 2, 3, 0, 0], [4, 5, 6, 7, 0], [8, 9, 10, 0, 0], [11, 12, 13, 14, 15]]
print(shape(fast_encode(params, batch)))            # (4, 128)

let dist = pmap[_, 0, devices=4] fast_encode        # on 4 devices
print(shape(dist(params, reshape(batch, (4, 1, 5)))))   # (4, 1, 128)
fn compute_tf(tokens, vocab_size) = bincount(tokens, length=vocab_size)
let batch_tf = vmap[0, _](compute_tf)(batch_tokens, 10)        # (3, 10)

fn sliding_window(tokens, w) = [tokens[i : i + w] for i in 0..len(tokens) - w + 1]
let windows = vmap[0, _](sliding_window)(batch_tokens, 3)      # (2, 4, 3)
let docs   = read_jsonl("descriptions.jsonl")
let tokens = docs.text |> lower |> tokenize            # str[n, *]
let voc    = vocab(tokens, max_size=20000, min_count=2)
let ids    = encode(voc, tokens)                       # i32[n, *]: every row has its own length
let avg    = (jit vmap[_, 0] encode_text)(params, ids) # f32[n, 128]
x.f(a); x.sum(axis=0); docs.text.lower(); i8 + 300; p - 0.1 * g; f64(x)
vocab(tokens, max_size=1, min_count=2, unknown="<unk>")
take(x, i, axis=0, mode="clip"); put(x, i, v, mode="drop", op="add")
jit[threads=4] f; jit[math="fast"] f; explain(f, a, b); vmap[0, _, out=1, axis="batch", size=8] f
map(f, xs, batch=64); let (carry, ys) = scan(f, init, xs); grad[0, 2] f; grad[aux=true] f
pmap[_, 0, devices=4, axis="dev", out=0, reduce="mean"] f
vmap grad f; grad vmap f; jit vmap jit f; vmap vmap f
)";
  Parsed p(tour);
  CHECK(p.errors == "");
  CHECK(p.result.program.statements.size() > 30);
}

TEST_CASE("every program of the repository parses", "[grammar]") {
  for (const char* folder : {"examples", "stdlib", "tests/cases"}) {
    std::filesystem::path root = std::filesystem::path(TERCET_SOURCE_DIR) / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".tct") continue;
      std::string text = read_file(entry.path());
      if (text.find("#! ") != std::string::npos) continue;   // a program that is meant to fail
      INFO(entry.path().string());
      CHECK(Parsed(text, entry.path().filename()).errors == "");
    }
  }
}
