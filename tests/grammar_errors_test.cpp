// Syntax errors: one line each, as `line:column message | help`.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "grammar/parser.h"

using namespace tercet;

namespace {

std::string one_line(const Diagnostic& d, const SourceFile& file) {
  Place place = file.place(d.span.begin);
  std::string kind = d.kind == Kind::Syntax ? "" : fmt::format("[{}] ", name_of(d.kind));
  return fmt::format("{}:{} {}{}{}", place.line, place.column, kind, d.message, d.help.empty() ? "" : " | " + d.help);
}

std::string errors_of(const std::string& text) {
  SourceMap sources;
  const SourceFile& file = sources.add("t.tct", text);
  std::string out;
  for (const Diagnostic& d : parse(file).diagnostics) out += (out.empty() ? "" : "\n") + one_line(d, file);
  return out;
}

bool incomplete(const std::string& text) {
  SourceMap sources;
  return parse(sources.add("t.tct", text)).incomplete;
}

}  // namespace

TEST_CASE("habits of other languages are answered with the right spelling", "[grammar][errors]") {
  CHECK(errors_of("a && b") == "1:3 `&&` is an operator of another language | write `and` (`&` for arrays)");
  CHECK(errors_of("a || b") == "1:3 `||` is an operator of another language | write `or` (`|` for arrays)");
  CHECK(errors_of("!a") == "1:1 `!` is an operator of another language | write `not` (`~` for arrays)");
  CHECK(errors_of("def f(x) { x }") ==
        "1:1 `def` is a word of another language | a function is written `fn name(x) = …` or `fn name(x) { … }`");
  CHECK(errors_of("let f = lambda x: x") ==
        "1:9 `lambda` is a word of another language | a lambda is written `x => …` or `(x, y) => …`");
  CHECK(errors_of("f(None)") == "1:3 `None` is a word of another language | write `none`");
  CHECK(errors_of("let a = True") == "1:9 `True` is a word of another language | write `true`");
  CHECK(errors_of("let a = not False") == "1:13 `False` is a word of another language | write `false`");
  CHECK(errors_of("if a { b }\nelif c { d }") ==
        "2:1 `elif` is a word of another language | write `else if`, on the line of the closing `}` or the next");
  CHECK(errors_of("let ok = 0 <= i < n") == "1:10 comparisons are not chained | write `0 <= i and i < n`");
  CHECK(errors_of("x > 1 & x < 3") ==
        "1:1 `&` binds tighter than comparison | put each comparison into parentheses: `(x > 1) & (x < 3)`");
  CHECK(errors_of("// remark\nlet a = 1") == "1:1 a comment starts with `#` | write `#` instead of `//`");
  CHECK(errors_of("let a = 1 // the first one") ==
        "1:18 `//` divides, so these words are no comment | a comment starts with `#`");
  CHECK(errors_of("/* a\n b */\nlet a = 1") == "1:1 a comment starts with `#` | put `#` before each of its lines");
  CHECK(errors_of("let s = 'abc'") == "1:9 strings are written with `\"` | write \"abc\"");
  CHECK(errors_of("let y = a if c else b") ==
        "1:11 a choice is not written `a if c else b` | write `if c { a } else { b }`");
  CHECK(errors_of("x in xs") ==
        "1:3 `in` stands only in `for x in xs` | write `any(xs == x)`, or `contains(text, part)` for strings");
  CHECK(errors_of("x not in xs") ==
        "1:3 `in` stands only in `for x in xs` | write `any(xs == x)`, or `contains(text, part)` for strings");
  CHECK(errors_of("x++\ny--") ==
        "1:2 there is no operator `++` | write `x += 1`\n2:2 there is no operator `--` | write `x -= 1`");
  CHECK(errors_of("vmap(f, 0)(x)") ==
        "1:5 `vmap` takes one function in its parentheses | axes and options stand in brackets: `vmap[0, _] f` or "
        "`vmap[0, _](f)`");
  CHECK(errors_of("jit(f, threads=4)") ==
        "1:4 `jit` takes one function in its parentheses | options stand in brackets: `jit[threads=4] f`");
  CHECK(errors_of("print x") == "1:7 expected `(` after `print` | `print` is a function: `print(a, b)`");
  CHECK(errors_of("let x: f32 = 1") ==
        "1:6 `let` takes no type: types are found | convert the value, as in `let x = f32(e)`");
  CHECK(errors_of("let a, b = f()") == "1:6 several names are bound as a tuple | write `let (a, b) = …`");
  CHECK(errors_of("for i, x in xs { }") == "1:6 several names are bound as a tuple | write `for (a, b) in …`");
  CHECK(errors_of("let r = {a: 1}") == "1:11 braces hold statements | a record is written `(a=1, b=2)`");
  CHECK(errors_of("fn f(x) => x") == "1:9 the body of `fn` follows `=` | write `fn f(x) = …` or `fn f(x) { … }`");
  CHECK(errors_of("let g = fn(x) = x") ==
        "1:9 `fn` starts a statement of its own | a function without a name is written `(x, y) => …`");
  CHECK(errors_of("x -> x") == "1:3 `->` stands only before the result type of `fn` | a lambda is written `x => …`");
  CHECK(errors_of("xs |> x => x") == "1:7 a lambda after an operator stands in parentheses | write `xs |> (x => …)`");
  CHECK(errors_of("f(*a)") ==
        "1:3 arguments and elements cannot be unpacked by `*` | name them one by one, or use `concat`");
  CHECK(errors_of("if x = 1 { }") ==
        "1:6 `=` assigns, and is a statement of its own | two values are compared by `==`");
  CHECK(errors_of("sum(x for x in xs)") == "1:7 a comprehension stands in brackets | write `[e for x in xs]`");
  CHECK(errors_of("let a = b ? 1 : 2") ==
        "1:11 `?` is no part of the language | a choice is written `if c { a } else { b }`");
  CHECK(errors_of("x === y") == "1:5 there is no operator `===` | write `==`");
  CHECK(errors_of("x <> y") == "1:4 there is no operator `<>` | write `!=`");
  CHECK(errors_of("x := 1") == "1:3 there is no operator `:=` | write `let x = …`, and `x = …` to assign again");
  CHECK(errors_of("@jit\nfn f(x) = x") ==
        "1:1 `@` multiplies matrices | a transform stands before `fn`: `jit fn f(x) = …`");
  CHECK(errors_of("for (i = 0; i < n; i += 1) { }") == "1:6 a loop runs over values | write `for i in 0..n { … }`");
  CHECK(errors_of("fn f(*xs) = xs") ==
        "1:6 a function has a fixed number of parameters | take a tuple or an array instead");
  CHECK(errors_of("let a = “b”") == "1:9 `“` is no part of the language | use the plain quote `\"`");
}

TEST_CASE("bodies after a colon are one error", "[grammar][errors]") {
  CHECK(errors_of("if x:\n    y = None\n    return 1\nelse:\n    z\nlet a = 1") ==
        "1:5 a body stands in braces and takes no `:` | write `if c { a } else { b }`\n"
        "2:9 `None` is a word of another language | write `none`");
  CHECK(errors_of("def f(x):\n  let y = x\n  return y\nlet b = )") ==
        "1:1 `def` is a word of another language | a function is written `fn name(x) = …` or `fn name(x) { … }`\n"
        "4:9 `)` closes nothing | delete it, or open a bracket before it");
  CHECK(errors_of("for x in xs: print(x)") ==
        "1:12 a body stands in braces and takes no `:` | write `for x in xs { … }`");
  CHECK(errors_of("if x print(x)") == "1:6 expected `{`, found `print` | a body always stands in braces: `{ … }`");
}

TEST_CASE("numbers and strings that are not well formed", "[grammar][errors]") {
  std::string point = "a float has a digit on both sides of its point | write ";
  CHECK(errors_of("let a = 1.") == "1:9 " + point + "`1.0`");
  CHECK(errors_of("let a = .5 + 1") == "1:9 " + point + "`0.5`");
  CHECK(errors_of("f(1., 2)") == "1:3 " + point + "`1.0`");
  CHECK(errors_of("let a = 1.e5") == "1:9 " + point + "`1.0`");
  CHECK(errors_of("t.0") ==
        "1:2 a number cannot follow `.` here | elements of a tuple or array are read by an index: `x[0]`");
  CHECK(errors_of("1__0") == "1:1 `1__0` is not a number | each `_` stands between two digits, as in 1_000");
  CHECK(errors_of("1_") == "1:1 `1_` is not a number | each `_` stands between two digits, as in 1_000");
  CHECK(errors_of("0x") == "1:1 `0x` is not a number | a hexadecimal number has the digits 0-9 and a-f, and no suffix");
  CHECK(errors_of("0xffi32").starts_with("1:1 `0xffi32` is not a number"));
  CHECK(errors_of("0b12") ==
        "1:1 `0b12` is not a number | a suffix is one of i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64");
  CHECK(errors_of("007").starts_with("1:1 `007` is not a number"));
  CHECK(errors_of("2x").starts_with("1:1 `2x` is not a number"));
  CHECK(errors_of("300u8") == "1:1 300 is out of range for u8 | u8 holds 0 to 255");
  CHECK(errors_of("128i8") == "1:1 128 is out of range for i8 | i8 holds -128 to 127");
  CHECK(errors_of("-1u8") == "1:2 -1 is out of range for u8 | u8 holds 0 to 255");
  CHECK(errors_of("1.5i32") == "1:1 a number with a point or exponent cannot be i32 | convert it: `i32(1.5)`");
  CHECK(errors_of("18446744073709551616") ==
        "1:1 this integer does not fit into 64 bits | write it as a float, as in 1e20");
  CHECK(errors_of("1e999") == "1:1 this number is too large for a float | write `inf` for infinity");
  CHECK(errors_of("let a = \"\\q\"") ==
        "1:10 unknown escape `\\q` in a string | write `\\\\` for a backslash, or a raw string r\"…\"");
  CHECK(errors_of("\"\\u{d800}\"").starts_with("1:2 `d800` is not a Unicode character"));
  CHECK(errors_of("\"\\u41\"").starts_with("1:2 `\\u` is followed by a number in braces"));
  CHECK(errors_of("let a = \"abc\nlet b = 1") ==
        "1:9 this string is not closed on its line | close it with `\"`; a line break inside is written `\\n`");
  CHECK(errors_of("print(\"abc)\nlet b = 1").starts_with("1:7 this string is not closed"));
  CHECK(errors_of("f\"{x\"").starts_with("1:3 this hole of the formatted string is not closed"));
  CHECK(errors_of("f\"}\"") == "1:3 a single `}` in a formatted string | write `}}` for the character");
  CHECK(errors_of("f\"a{}\"").starts_with("1:5 this hole of the formatted string is empty"));
  CHECK(errors_of("f\"a{x y}\"") == "1:7 expected `}`, found `y`");
}

TEST_CASE("brackets that do not match", "[grammar][errors]") {
  CHECK(errors_of("let a = (1 + 2\nlet b = 3") == "1:9 `(` is never closed | add the missing `)`");
  CHECK(
      errors_of("let a = [1, 2\n\nfn f() { 1 }\nlet c = )") ==
      "1:9 `[` is never closed | add the missing `]`\n4:9 `)` closes nothing | delete it, or open a bracket before it");
  CHECK(errors_of("f(x]") == "1:4 `]` does not close `(` | write `)` before it");
  CHECK(errors_of("fn f() { g(x }\nlet a = ]") ==
        "1:14 `}` does not close `(` | write `)` before it\n2:9 `]` closes nothing | delete it, or open a bracket "
        "before it");
  CHECK(errors_of("fn f() {\n  let a = 1") == "1:8 `{` is never closed | add the missing `}`");
}

TEST_CASE("what the language does not give a meaning", "[grammar][errors]") {
  CHECK(errors_of("break").starts_with("1:1 [unsupported] `break` outside of a loop has no meaning"));
  CHECK(errors_of("while c { f(x => { continue }) }").starts_with("1:20 [unsupported] `continue` outside of a loop"));
  CHECK(errors_of("return 1").starts_with("1:1 [unsupported] `return` outside of a function has no meaning"));
  CHECK(errors_of("while c { fn f() { break } }").starts_with("1:20 [unsupported]"));
  CHECK(errors_of("while c { if a { break } }") == "");
  CHECK(errors_of("f() = 1").starts_with("1:1 this cannot be assigned to"));
  CHECK(errors_of("a + b = 1").starts_with("1:1 this cannot be assigned to"));
  CHECK(
      errors_of("(a, f(b)) = c").starts_with("1:1 this cannot be assigned to | new names are bound by `let (a, b) = …`"));
  CHECK(errors_of("let a = if c { 1 }") == "1:9 an `if` that gives a value needs an `else` | add `else { … }`");
  CHECK(errors_of("let a = _ + 1").starts_with("1:9 `_` is no value"));
  CHECK(errors_of("a..b..c").starts_with("1:5 a range has two ends"));
  CHECK(errors_of("a == not b").starts_with("1:6 `not` binds less than the operator before it"));
  CHECK(errors_of("f(k=1, 2)").starts_with("1:8 an argument without a name stands after one with a name"));
  CHECK(errors_of("f(k=1, k=2)") == "1:8 the argument `k` is given twice");
  CHECK(errors_of("(a=1, a=2)") == "1:7 the field `a` is given twice");
  CHECK(errors_of("(1, a=2)").starts_with("1:2 parentheses hold either a tuple"));
  CHECK(errors_of("fn f(x, x) = x").starts_with("1:9 the name `x` stands twice"));
  CHECK(errors_of("let (a, a) = b").starts_with("1:9 the name `a` stands twice"));
  CHECK(errors_of("fn f(if=3) = 1") == "1:6 `if` is a reserved word and cannot name a parameter");
  CHECK(errors_of("let if = 3").starts_with("1:5 `if` is a reserved word"));
  CHECK(errors_of("x |> 1").starts_with("1:6 right of `|>` stands a function"));
  CHECK(errors_of("x |> f + 1").starts_with("1:6 right of `|>` stands a function"));
}

TEST_CASE("other faults name what was expected and what was found", "[grammar][errors]") {
  CHECK(errors_of("let = 1") == "1:5 expected a name, `_` or `(`, found `=`");
  CHECK(errors_of("let a 1") == "1:7 expected `=`, found `1`");
  CHECK(errors_of("f(a b)") == "1:5 expected `,` or `)` before `b` | separate items by `,`");
  CHECK(errors_of("[1 2]") == "1:4 expected `,` or `]` before `2` | separate items by `,`");
  CHECK(errors_of("f(a; b)") == "1:4 `;` cannot stand here | inside ( ) and [ ] items are separated by `,`");
  CHECK(errors_of("x[]") == "1:3 expected a value, found `]`");
  CHECK(errors_of("fn f(x,,y) = x") == "1:8 a value is missing before `,`");
  CHECK(errors_of("f(,)") == "1:3 a value is missing before `,`");
  CHECK(errors_of("1 + ") == "1:4 `+` needs a value after it, found the end of the text");
  CHECK(errors_of("f(1 + )") == "1:7 `+` needs a value after it, found `)`");
  CHECK(errors_of("|> f") == "1:1 there is no value before `|>` | a pipe starts with a value: `x |> f`");
  CHECK(errors_of("else { a }") ==
        "1:1 this `else` belongs to no `if` | it follows the `}` of an `if`: `if c { a } else { b }`");
  CHECK(errors_of("if a { b } c") == "1:12 expected a new line or `;` before `c`");
  CHECK(errors_of("if a\n{ b }") == "1:5 the body is missing: expected `{` | the `{` stands on the same line");
  CHECK(errors_of("x[a=1]") ==
        "1:3 `a =` has no place here | a record is written `(a=1)`; two values are compared by `==`");
  CHECK(errors_of("let y = return 1").starts_with("1:9 `return` is a statement and gives no value"));
}

TEST_CASE("several errors are reported in one run, in source order, at most ten", "[grammar][errors]") {
  CHECK(errors_of("let = 1\nlet b = 2\nfn f(x) {\n  let c = +\n  f(x y)\n  break\n}\nlet s = 'a'\n") ==
        "1:5 expected a name, `_` or `(`, found `=`\n"
        "5:7 expected `,` or `)` before `y` | separate items by `,`\n"
        "6:3 [unsupported] `break` outside of a loop has no meaning | it stands in the body of a `for` or `while`\n"
        "8:9 strings are written with `\"` | write \"a\"");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "let = 1\n";
  SourceMap sources;
  CHECK(parse(sources.add("t.tct", many)).diagnostics.size() == 10);
  CHECK(parse(sources.add("t.tct", "fn f() {\n" + many + "}\nfn g(" + many)).diagnostics.size() == 10);
}

TEST_CASE("what could be read is in the program in spite of errors", "[grammar][errors]") {
  SourceMap sources;
  ParseResult r = parse(sources.add("t.tct", "let a = 1\nlet = 2\nlet c = 3"));
  CHECK(r.program.statements.size() == 2);
}

TEST_CASE("a prompt asks for another line where the text is not complete", "[grammar][errors]") {
  for (const char* text : {"f(", "let x = [1,", "fn f(x) {", "fn f(x) {\n  let a = 1\n", "a +", "x |>", "not",
                           "x =", "x +=", "a and  # why", "f(x =>", "x.", "let s = \"abc", "print(\"abc", "vmap[0",
                           "for i in xs { break"}) {
    INFO(text);
    CHECK(incomplete(text));
  }
  for (const char* text : {"f(x)", "let x", "f(x))", "a b", "1 +* 2", "if a { b }", "fn f(x)", "f(1 2", "{ let a = $ 1",
                           "", "let s = \"abc\nlet b = 1"}) {
    INFO(text);
    CHECK_FALSE(incomplete(text));
  }
}

TEST_CASE("bytes that are no text", "[grammar][errors]") {
  CHECK(errors_of("let a = 1\nlet b = \xff") ==
        "2:9 this byte is not valid UTF-8 | save the file in the encoding UTF-8");
  CHECK(errors_of("\"\xe4\xb8") == "1:2 this byte is not valid UTF-8 | save the file in the encoding UTF-8");
  CHECK(errors_of("\xed\xa0\x80").starts_with("1:1 this byte is not valid UTF-8"));
  CHECK(errors_of("\xc0\x80").starts_with("1:1 this byte is not valid UTF-8"));
  CHECK(errors_of(std::string("a\0b", 3)) == "1:2 the control character 0x00 is no part of a program");
}
