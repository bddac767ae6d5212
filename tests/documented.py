#!/usr/bin/env python3
"""Every public function of the library has an example in docs/language.md. Ends with "N passed, N failed"."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INTERNAL = {"adam_step", "widened", "narrowed", "reduced_size", "checked_ids", "segment_reduce", "rows_like", "starts_of_runs",
            "largest_finite", "take_key", "insert_size", "checked_weights", "checked_draws", "as_count", "axis_from_end",
            "normal_quantile", "erfinv_single", "polynomial_of_degree_8", "largest_with_noise", "shuffled", "equal_choice", "max_or_least",
            "weighted_choice", "search_top", "shape_of", "below_one", "smallest_normal", "next_above"}


def library():
    """Names that a program can call: builtins, rows with a Public surface, functions of stdlib/."""
    names = set()
    for file in (ROOT / "interpreter" / "elaborate").glob("builtins_*.cpp"):
        names |= set(re.findall(r'^\s*\{"(\w+)", "[^"]*", "', file.read_text(), re.M))
    for file in (ROOT / "interpreter" / "ops").glob("*.cpp"):
        text = file.read_text()
        names |= set(re.findall(r'const OpDef \w+_op =\s*\w+<[^;]*?>\("(\w+)"[^;]*?Public\{', text))
        if file.name == "math.cpp":   # math<…>("name", …) is public by itself
            names |= set(re.findall(r'= math2?<\w+>\("(\w+)"', text))
    for file in (ROOT / "stdlib").glob("*.tct"):
        names |= set(re.findall(r"^fn (\w+)\(", file.read_text(), re.M))
    return names - INTERNAL


examples = " ".join(re.findall(r"^```tct\n(.*?)^```", (ROOT / "docs" / "language.md").read_text(), re.M | re.S))
used = set(re.findall(r"\b\w+\b", re.sub(r"#[^\n]*", "", examples)))
names = library()
missing = sorted(names - used)
for name in missing:
    print(f"FAIL docs/language.md has no example of `{name}`")
print(f"{len(names) - len(missing)} passed, {len(missing)} failed")
sys.exit(bool(missing))
