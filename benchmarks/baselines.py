"""The algorithms that the papers compare with, on the click streams: exact losses, CPU and memory of the whole run.

CPU seconds are those of a process that reads the file, anonymizes, verifies and measures 1,000 queries. ARX's transactions
branch takes 2.7 to 3.4 CPU seconds on bms1 and 13 to 20 on bms2 with the same trees; the limits are half and a fifth of the
smaller figures.
"""

from __future__ import annotations

from fractions import Fraction

from comparing import compare, shown, table, there
from datasets import DATA

EXACT = {  # data, algorithm: LM total, released items, and the most CPU seconds
    ("bms1", "apriori"): ("1827417/496", 52, 1.7),
    ("bms2", "apriori"): ("24331172/3339", 59, 4.0),
}
MOST_MIB = 1024
MOST_SECONDS_MM = 10


def main() -> int:
    """Print the table; returns how many figures were missed."""
    missed, rows = 0, []
    for data in ("bms1", "bms2"):
        names = there("mhghs", "apriori", "vpa", "lra", "partition", "mm", "pcta")
        words = ("--taxonomy", DATA / f"{data}.f5.tree", "--k", 5, "--m", 2, "--algorithms", names)
        found = {name: run for (name, _, _), run in compare(DATA / f"{data}.dat", *words).items()}
        loss = {name: Fraction(r["lm_total"]) for name, r in found.items() if r["status"] == "done"}
        for name, run in found.items():
            wrong = []
            if (data, name) in EXACT:
                total, released, seconds = EXACT[data, name]
                wrong += ["LM total"] * (loss.get(name) != Fraction(total))
                wrong += ["released items"] * (run.get("released_items") != released)
                wrong += ["CPU"] * (run["cpu_seconds"] > seconds)
            wrong += ["peak"] * (run["peak_mib"] >= MOST_MIB)
            wrong += ["time"] * (data == "bms1" and name == "mm" and run["seconds"] > MOST_SECONDS_MM)
            wrong += ["loss below mhghs"] * (
                name in ("apriori", "partition", "mm") and loss.get(name, loss["mhghs"]) < loss["mhghs"]
            )
            missed += len(wrong)
            rows.append(
                [
                    *(data, name, run.get("lm_total", run["status"]), shown(run.get("ncp"), ".5f")),
                    *(str(run.get("released_items", "-")), shown(run["cpu_seconds"], ".2f")),
                    *(shown(run["peak_mib"], ".0f"), ", ".join(wrong) or "as expected"),
                ]
            )
    table(["data", "algorithm", "LM total", "NCP", "released items", "CPU, s", "peak, MiB", "beside the limits"], rows)
    print(f"figures missed: {missed}")
    return missed


if __name__ == "__main__":
    raise SystemExit(min(main(), 1))
