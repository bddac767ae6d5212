"""The table and the summary of what bench/run.py measured.

A row is {"name", "title", "tercet": figures, "bound", "bound_by", "differs"} and figures of "jax" and of what else `OTHERS`
names; figures are {"first": ns, "warm": ns or None} or {"error": text}; all but the first three may be missing.
"""
import math

OTHERS = {"tuned": "- JAX tuned by hand", "library": "- NumPy"}
HEAD = ("row", "tercet", "jax", "ratio", "first call tercet", "first call jax", "ratio", "bound")


def duration(ns):
    if ns is None:
        return ""
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        if ns < 999.5 * size or unit == "s":
            return f"{ns / size:.3g} {unit}"


def ratio(row, which, sides=("jax", "tuned")):
    """Of the fastest of `sides` to Tercet, or None."""
    ours = row["tercet"].get(which)
    theirs = [row[side][which] for side in sides if row.get(side, {}).get(which)]
    return min(theirs) / ours if ours and theirs else None


def figure(value, form="{:.2f}"):
    return "" if value is None else form.format(value)


def cells(row, side):
    ours, theirs = row["tercet"], row.get(side, {})
    return ("failed" if "error" in ours else duration(ours["warm"]),
            "failed" if "error" in theirs else duration(theirs.get("warm")), figure(ratio(row, "warm", [side])),
            duration(ours.get("first")), duration(theirs.get("first")), figure(ratio(row, "first", [side]), "{:.1f}"),
            f"{row['bound']:.0%} of {row['bound_by']}" if row.get("bound") else "")


class Table:
    def __init__(self, titles):
        self.widths = [max(map(len, ["row", *OTHERS.values(), *titles])), 8, 8, 6, 17, 14, 6, 13]

    def print(self, values, end=""):
        aligned = [v.ljust(w) if i == 0 else v.rjust(w) for i, (v, w) in enumerate(zip(values, self.widths))]
        print("| " + " | ".join(aligned) + " |" + end, flush=True)

    def print_head(self):
        self.print(HEAD)
        print("|" + "|".join("-" * (w + 1) + ("-" if i == 0 else ":") for i, w in enumerate(self.widths)) + "|")

    def print_row(self, row):
        self.print((row["title"], *cells(row, "jax")), " DIFFERS" if row.get("differs") else "")
        for side, title in OTHERS.items():
            if side in row:
                _, theirs, warm, _, first, first_ratio, _ = cells(row, side)
                self.print((title, "", theirs, warm, "", first, first_ratio, ""))


def geometric_mean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values))


def print_means(rows):
    rows = [row for row in rows if "error" not in row["tercet"] and not row.get("aside")]
    means = {"of warm calls": [ratio(r, "warm") for r in rows],
             "of first calls": [ratio(r, "first") for r in rows],
             "of the suite (of a first call where only that is measured)":
                 [ratio(r, "warm" if r["tercet"]["warm"] else "first") for r in rows]}
    print()
    for what, ratios in means.items():
        if any(ratios):
            print(f"geometric mean of {sum(map(bool, ratios))} ratios {what}: {geometric_mean(ratios):.2f}")


def print_tutorial(rows):
    """What `vmap` and `jit` bring over the loop, in both systems."""
    warm = {(row["name"], side): row.get(side, {}).get("warm") for row in rows for side in ("tercet", "jax")}
    for size in ("32", "4096"):
        for side in ("tercet", "jax"):
            times = [warm.get((f"{kind}_{size}", side)) for kind in ("loop", "vmap", "jit")]
            if all(times):
                loop, vmap, jit = times
                print(f"{size:>4} documents, {side:6}: loop {duration(loop)}, vmap {duration(vmap)} ({loop / vmap:.1f}x), "
                      f"vmap and jit {duration(jit)} ({loop / jit:.1f}x)")


def print_failures(rows):
    for row in rows:
        for side in ("tercet", "jax", *OTHERS):
            if "error" in row.get(side, {}):
                print(f"\n{row['name']} fails in {side}:\n{row[side]['error']}")
        if row.get("differs"):
            print(f"\n{row['name']} DIFFERS: {row['differs']}")


def print_summary(rows):
    print_means(rows)
    print_tutorial(rows)
    print_failures(rows)
