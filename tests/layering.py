#!/usr/bin/env python3
"""Fails when an #include points up or sideways between layers (docs/architecture.md), or leaves a fence; and when two
files define a type of the same name, which C++ forbids and no compiler tells.

Reads every #include of every C++ file outside tests/ and bench/. Ends with "N passed, N failed", counted in files.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Lowest first; folders on one line are side by side and may not see each other.
LAYERS = [
    ["base"],
    ["grammar", "interpreter/runtime"],
    ["interpreter/ir"],
    ["interpreter/ops"],
    ["interpreter/passes"],
    ["interpreter/elaborate"],
    ["interpreter/engine"],
    ["codegen"],
    ["embed"],
    ["repl"],
]
RANK = {folder: rank for rank, folders in enumerate(LAYERS) for folder in folders}

# Third-party headers and the only folders that may name them.
FENCES = {
    r"antlr4-runtime|Tercet\w*\.h$": ["grammar"],
    r"llvm(-c)?/": ["codegen/llvm", "codegen/jit"],
    r"(oneapi/)?tbb/": ["interpreter/runtime", "codegen"],
    r"simdjson\.h": ["interpreter/runtime", "repl"],
    r"(re2/|sentencepiece)": ["interpreter/runtime"],
    r"utf8proc\.h": ["grammar", "interpreter/runtime"],
    r"(zlib|zstd)\.h": ["interpreter/runtime"],
    r"mpi\.h": ["interpreter/runtime"],
    r"xeus/|nlohmann/|zmq": ["repl/kernel"],
    r"CLI/|histedit\.h|editline/": ["repl"],
}
# ... and those that one .cpp alone may name, so that they never reach a header.
ONE_FILE = [r"antlr4-runtime", r"mpi\.h", r"histedit\.h"]

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)


def layer_of(path):
    """The layer a repository path lies in, or None."""
    return max((f for f in RANK if path.startswith(f + "/")), key=len, default=None)


def problems_of(path, text, exists):
    """What is wrong with one file. `exists` tells whether a path is a file of the repository."""
    found, here = [], layer_of(path)
    for target in INCLUDE.findall(text):
        there = layer_of(target)
        if path.startswith("include/"):
            if "/" in target and not target.startswith("tercet/"):
                found.append(f"a public header includes {target}")
        elif here == "repl" and there and here != there:
            found.append(f"the program uses the public interface (tercet/) alone, and includes {target}")
        elif there and here != there and RANK[there] >= RANK[here]:
            found.append(f"{here} includes {target} of {there}, which is not below it")
        if there and not exists(target):
            found.append(f"includes {target}, which does not exist")
        for pattern, folders in FENCES.items():
            if re.match(pattern, target) and not any(path.startswith(f + "/") for f in folders):
                found.append(f"{target} may be included in {' and '.join(folders)} only")
    return found


def one_file_problems(files):
    """Headers that must be named by a single .cpp."""
    for pattern in ONE_FILE:
        users = [p for p, text in files.items() if any(re.match(pattern, t) for t in INCLUDE.findall(text))]
        if len(users) > 1 or any(not u.endswith(".cpp") for u in users):
            yield f"{pattern} belongs in one .cpp, but is included by {', '.join(users)}"


def types_of(path, text):
    """Qualified names of the types that a file defines outside unnamed namespaces."""
    scopes = []
    for line in text.splitlines():
        opened = re.match(r"(?:inline )?namespace (\w[\w:]*)? ?\{", line)
        if opened:
            scopes.append(opened[1] or "")
        elif re.match(r"\}.*// namespace", line):
            del scopes[-1:]
        defined = re.match(r"(?:template <.*> )?(?:struct|class|enum class|union) (\w+)(?: final)?(?: :[^:].*| \w.*)?\s*\{", line)
        if defined and "" not in scopes:
            yield "::".join([*scopes, defined[1]])


def double_types(files):
    """Two types of one name in two files: their inline members are silently merged by the linker."""
    where = {}
    for path, text in files.items():
        for name in types_of(path, text):
            where.setdefault(name, set()).add(path)
    for name, paths in sorted(where.items()):
        if len(paths) > 1:
            yield f"{name} is defined in {' and '.join(sorted(paths))}; rename one, or put those of a .cpp in an unnamed namespace"


def self_test():
    """The check must be able to fail."""
    anything = lambda path: True
    assert problems_of("base/a.h", '#include "grammar/ast.h"', anything)
    assert problems_of("grammar/a.h", '#include "interpreter/runtime/array.h"', anything)
    assert problems_of("interpreter/passes/a.h", '#include "interpreter/elaborate/b.h"', anything)
    assert problems_of("interpreter/ops/a.cpp", "#include <llvm/IR/Module.h>", anything)
    assert problems_of("include/tercet/tercet.h", '#include "base/source.h"', anything)
    assert problems_of("base/a.cpp", '#include "base/gone.h"', lambda path: False)
    assert problems_of("repl/a.cpp", '#include "codegen/jit/jit.h"', anything)
    assert not problems_of("repl/a.cpp", '#include "repl/b.h"\n#include <tercet/tercet.hpp>\n#include <vector>', anything)
    assert not problems_of("embed/a.cpp", '#include "codegen/jit/jit.h"\n#include <vector>', anything)
    assert list(one_file_problems({"a.h": "#include <antlr4-runtime.h>"}))
    one, other = "namespace tercet {\nstruct A {\n};\n}  // namespace tercet", "namespace tercet {\nclass A : public B {\n"
    assert list(double_types({"a.h": one, "b.h": other}))
    assert not list(double_types({"a.h": one, "b.cpp": other.replace("class", "namespace {\nclass")}))


def main():
    self_test()
    names = [f for top in {f.split("/")[0] for f in RANK} | {"include"} for f in (ROOT / top).rglob("*")]
    files = {str(f.relative_to(ROOT)): f.read_text(errors="replace") for f in sorted(names) if f.suffix in (".h", ".cpp", ".hpp")}
    bad = 0
    for path, text in files.items():
        found = problems_of(path, text, lambda target: (ROOT / target).is_file())
        bad += bool(found)
        for problem in found:
            print(f"{path}: {problem}")
    shared = [*one_file_problems(files), *double_types(files)]
    print("\n".join(shared), end="\n" if shared else "")
    bad += len(shared)
    print(f"{len(files) - min(bad, len(files))} passed, {bad} failed")
    sys.exit(bad > 0)


main()
