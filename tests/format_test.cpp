// The layout of programs: given examples, and for every program of the repository that its meaning and comments stay and
// that it is stable.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "grammar/ast_printer.h"
#include "grammar/format.h"
#include "grammar/parser.h"

using namespace tercet;

namespace {

std::string formatted(const std::string& text) { return format_source(SourceFile(1, "f.tct", text)); }
std::string tree(const std::string& text) { return print(parse(SourceFile(1, "f.tct", text)).program); }

std::string without_spaces(const std::string& text) {
  std::string out;
  for (char c : text)
    if (!isspace(static_cast<unsigned char>(c))) out += c;
  return out;
}

}  // namespace

TEST_CASE("programs in one layout", "[format]") {
  auto becomes = [](const std::string& from, const std::string& to) {
    CHECK(formatted(from) == to);
    CHECK(formatted(to) == to);
  };
  becomes("", "");
  becomes("\n\n  let x=1 \n\n\n\nlet y =x+ - 1\n\n", "let x = 1\n\nlet y = x + -1\n");
  becomes("f ( a,b ,c=1 )[ 1 : 2,: ,none]", "f(a, b, c=1)[1 : 2, :, none]\n");
  becomes("fn f(x:f32[n,*],k : i32 = 3)->f32[n]{\nx**2\n}", "fn f(x: f32[n, *], k: i32=3) -> f32[n] {\n  x ** 2\n}\n");
  becomes("fn f(x)={let y=x;y}", "fn f(x) = { let y = x; y }\n");
  becomes("if(a){b}else{c}", "if (a) { b } else { c }\n");
  becomes("for i in 0 .. n{\nif i>2{\nbreak\n}\n\n}\n", "for i in 0..n {\n  if i > 2 {\n    break\n  }\n}\n");
  becomes("vmap [ 0,_ ] (f)( x ,y )", "vmap[0, _](f)(x, y)\n");
  becomes("jit   vmap f", "jit vmap f\n");
  becomes("let f=jit(x)=>x+1", "let f = jit (x) => x + 1\n");
  becomes("f(vmap[0,_](x,(a,b))=>x)(y)", "f(vmap[0, _] (x, (a, b)) => x)(y)\n");
  becomes("(x,y)=>x@y", "(x, y) => x @ y\n");
  becomes("let r=( ..r,w=-1 )", "let r = (..r, w=-1)\n");
  becomes("let t = (1 ,)", "let t = (1,)\n");
  becomes("x|>f|>\ng", "x |> f |>\n  g\n");
  becomes("let a = [[1, 2],\n[3, 4]]", "let a = [[1, 2],\n         [3, 4]]\n");
  becomes("x[1:n-1][a :b]", "x[1:n - 1][a : b]\n");
  becomes("fn var(x)=1\nvar(x)\nvar (a,b)=x.in", "fn var(x) = 1\nvar(x)\nvar (a, b) = x.in\n");
  becomes("let s =\nif a { b }\nelse if c { d }\nelse { e }\nif a {\n1\n}\nelse {\n2\n}", "let s =\n  if a { b }\n  else if c { d }\n  else { e }\nif a {\n  1\n}\nelse {\n  2\n}\n");
  becomes("f(a, [\n1], (b,\nc))", "f(a, [\n  1], (b,\n    c))\n");
  becomes("f(\na,\n  b\n)", "f(\n  a,\n  b\n)\n");
  becomes("map(x => {\nx\n}, xs)", "map(x => {\n  x\n}, xs)\n");
  becomes("let x = 1 # one\n#two   \n   # three", "let x = 1  # one\n#two\n# three\n");
  becomes("let x = 1      # a column of comments", "let x = 1      # a column of comments\n");
  becomes("fn f(x) {\n\n\n# why\n\n  x\n\n}", "fn f(x) {\n  # why\n\n  x\n}\n");
  becomes("print(f\"{ x }  {y:>3}\", r\"\\d+\", not a and~b)", "print(f\"{ x }  {y:>3}\", r\"\\d+\", not a and ~b)\n");
  becomes("a.b . c(1)[ 0 ].d\r\n", "a.b.c(1)[0].d\n");
  becomes("let s = \"é ü\" + [\"中\",\n\"文\"]", "let s = \"é ü\" + [\"中\",\n                 \"文\"]\n");
}

TEST_CASE("every program keeps its meaning and its comments, and is stable", "[format]") {
  namespace fs = std::filesystem;
  int programs = 0;
  for (const char* folder : {"stdlib", "examples", "tests/cases", "bench"})
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".tct") continue;
      std::stringstream read;
      read << std::ifstream(entry.path()).rdbuf();
      const std::string text = read.str();
      if (!parse(SourceFile(1, "f.tct", text)).diagnostics.empty()) continue;
      const std::string once = formatted(text);
      INFO(entry.path());
      CHECK(tree(once) == tree(text));
      CHECK(without_spaces(once) == without_spaces(text));
      CHECK(formatted(once) == once);
      ++programs;
    }
  CHECK(programs > 300);
}
