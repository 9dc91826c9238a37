"""A small hospital, made up: its patients and their diagnoses, for docs/hospital.md.

    python examples/hospital.py [DIRECTORY]

writes ``patients.csv`` (patient, age, sex, postcode, admitted) and ``diagnoses.csv`` (patient, code), always the same.
The codes are those of ICD-10; no person and no rate is real.
"""

from __future__ import annotations

import csv
import math
import random
import sys
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

PATIENTS = 8_000
CODES = {  # how frequent it is at the age where it is most frequent, this age, its spread in years, the share of women
    "A09": (0.06, 15, 25, 0.5), "A41": (0.05, 74, 13, 0.5), "B34": (0.07, 8, 12, 0.5), "C18": (0.03, 70, 10, 0.5),
    "C34": (0.04, 68, 9, 0.4), "C50": (0.05, 62, 12, 1.0), "C61": (0.06, 70, 8, 0.0), "D50": (0.07, 45, 22, 0.7),
    "D64": (0.08, 75, 14, 0.5), "E03": (0.10, 58, 16, 0.8), "E11": (0.22, 68, 14, 0.5), "E66": (0.10, 50, 15, 0.5),
    "E78": (0.20, 66, 14, 0.5), "E86": (0.09, 80, 12, 0.6), "F03": (0.12, 84, 6, 0.6), "F10": (0.07, 45, 12, 0.2),
    "F32": (0.09, 44, 16, 0.7), "G20": (0.04, 76, 8, 0.4), "G40": (0.04, 20, 28, 0.5), "G43": (0.05, 34, 11, 0.8),
    "H25": (0.11, 75, 8, 0.6), "H66": (0.14, 3, 4, 0.5), "I10": (0.45, 74, 17, 0.5), "I25": (0.18, 73, 11, 0.3),
    "I48": (0.16, 77, 9, 0.4), "I50": (0.16, 80, 9, 0.5), "I63": (0.06, 74, 11, 0.5), "J06": (0.18, 4, 8, 0.5),
    "J18": (0.08, 75, 20, 0.4), "J44": (0.11, 69, 10, 0.4), "J45": (0.07, 14, 16, 0.5), "K21": (0.08, 55, 17, 0.5),
    "K29": (0.06, 48, 18, 0.5), "K35": (0.07, 16, 9, 0.5), "K80": (0.07, 57, 14, 0.7), "M16": (0.07, 70, 9, 0.6),
    "M17": (0.09, 69, 9, 0.6), "M54": (0.11, 50, 14, 0.5), "M81": (0.09, 76, 8, 0.9), "N18": (0.14, 77, 11, 0.5),
    "N20": (0.06, 47, 12, 0.3), "N39": (0.10, 73, 16, 0.7), "N40": (0.12, 72, 8, 0.0), "O34": (0.09, 31, 5, 1.0),
    "O80": (0.20, 30, 5, 1.0), "R07": (0.06, 53, 16, 0.4), "R10": (0.08, 24, 16, 0.6), "R55": (0.06, 66, 22, 0.5),
    "S06": (0.07, 18, 22, 0.4), "S52": (0.06, 12, 12, 0.4), "S72": (0.08, 82, 7, 0.7),
}  # fmt: skip
TOGETHER = {  # who has the first often has the second, too
    "E11": (("I10", 0.5), ("E78", 0.4), ("N18", 0.2), ("E66", 0.3)), "I50": (("I48", 0.4), ("I25", 0.3), ("N18", 0.3)),
    "I25": (("I10", 0.4), ("E78", 0.5)), "J44": (("J18", 0.2),), "S72": (("M81", 0.4),), "F03": (("E86", 0.2),),
    "C18": (("D50", 0.3),), "N18": (("D64", 0.3),), "A41": (("N39", 0.3), ("J18", 0.3)), "K80": (("R10", 0.2),),
}  # fmt: skip
TOWNS, YEAR = 24, date(2025, 1, 1)


def patients(rng: random.Random) -> Iterable[tuple[int, int, str, str, date]]:
    """The rows of patients.csv: mostly the old, from towns of different sizes."""
    sizes = [1 / (town + 1) ** 0.7 for town in range(TOWNS)]
    for patient in range(1, PATIENTS + 1):
        mean, spread = rng.choices(((4, 5), (38, 14), (70, 12)), (12, 38, 50))[0]
        age = min(round(abs(rng.gauss(mean, spread))), 99)
        town = rng.choices(range(TOWNS), sizes)[0]
        yield patient, age, rng.choice("FM"), f"{town % 4 + 1}{town:02d}00", YEAR + timedelta(rng.randrange(365))


def diagnoses(rng: random.Random, age: int, sex: str) -> list[str]:
    """The codes of a patient, at least one."""
    of_sex = {code: 2 * (share if sex == "F" else 1 - share) for code, (*_, share) in CODES.items()}
    chance = {
        code: often * of_sex[code] * math.exp(-(((age - peak) / spread) ** 2))
        for code, (often, peak, spread, _) in CODES.items()
    }
    found = {code for code, p in chance.items() if rng.random() < p}
    found = found or {rng.choices(list(chance), list(chance.values()))[0]}
    found |= {more for code in sorted(found) for more, p in TOGETHER.get(code, ()) if rng.random() < p}
    return sorted(found)


def write(folder: Path, name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file."""
    with (folder / name).open("w", newline="", encoding="ascii") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


def main(folder: Path) -> None:
    """Write both files."""
    rng = random.Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    people = list(patients(rng))
    write(folder, "patients.csv", ("patient", "age", "sex", "postcode", "admitted"), people)
    rows = [(patient, code) for patient, age, sex, *_ in people for code in diagnoses(rng, age, sex)]
    write(folder, "diagnoses.csv", ("patient", "code"), rows)


if __name__ == "__main__":
    main(Path(*sys.argv[1:2]))
