"""A hospital's patients and their diagnoses, made up: seeded, with ages, places, admissions and comorbidity that look real.

    python benchmarks/hospital.py DIRECTORY [PATIENTS]

writes ``patients.csv`` (patient, age, sex, postcode, admitted, insurance; 50,000 by default), ``diagnoses.csv`` (patient, code),
``icd.tree`` (codes like those of ICD-10, in blocks, in chapters) and ``hierarchies/postcode.tree`` (postcode, district, region).
The same arguments write the same bytes. No person and no rate of a disease is real.

A patient has a few conditions. A condition has a main code and codes that go with it, each with its own probability; it has an
age at which it is most frequent, and a sex that it prefers. Some codes are chance: injuries, infections, visits.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np

CHAPTERS, BLOCKS, CODES = "ABCDEFGHIJKLMNOPQRST", 6, 8  # chapters; blocks in each; codes in each block
CONDITIONS, COMPANIONS = 150, 5
POSTCODES, REGIONS = 300, 6
INSURANCES = ("statutory", "private", "state", "self-pay")
OLDEST, FIRST_DAY, DAYS = 97, date(2024, 1, 1), 366


def codes() -> list[tuple[str, str, str]]:
    """Each code with its block and its chapter: E23, E2, E."""
    return [(f"{c}{b}{n}", f"{c}{b}", c) for c in CHAPTERS for b in range(BLOCKS) for n in range(CODES)]


def ages(rng: np.random.Generator, n: int) -> np.ndarray:
    """Children, adults and, mostly, the old."""
    group = rng.choice(3, n, p=[0.12, 0.38, 0.5])
    drawn = rng.normal(np.array([4, 42, 71])[group], np.array([5, 13, 11])[group])
    return np.clip(np.abs(drawn), 0, OLDEST).astype(np.int64)


def diagnoses(rng: np.random.Generator, age: np.ndarray, female: np.ndarray) -> list[np.ndarray]:
    """The numbers of each patient's codes, ascending; at least one."""
    n_codes = len(CHAPTERS) * BLOCKS * CODES
    main = rng.choice(n_codes, CONDITIONS, replace=False)
    companions = rng.choice(main, (CONDITIONS, COMPANIONS))  # others' main codes: conditions come together
    chance = rng.beta(1.2, 3, (CONDITIONS, COMPANIONS))
    peak, spread = rng.uniform(5, 85, CONDITIONS), rng.uniform(12, 35, CONDITIONS)
    prefers, frequency = rng.normal(0, 0.8, CONDITIONS), 1 / np.arange(1, CONDITIONS + 1) ** 0.9
    by_chance = 1 / (1 + rng.permutation(n_codes)) ** 0.8
    wanted, others = 1 + rng.poisson(0.3 + age / 60), rng.poisson(0.6, len(age))
    found: list[list[int]] = [[] for _ in age]
    for years in range(OLDEST + 1):
        for sex in (False, True):
            weight = frequency * np.exp(-(((years - peak) / spread) ** 2) + prefers * (0.5 if sex else -0.5))
            here = np.flatnonzero((age == years) & (female == sex))
            drawn = rng.choice(CONDITIONS, (len(here), 8), p=weight / weight.sum())
            for patient, conditions in zip(here.tolist(), drawn, strict=True):
                has = conditions[: wanted[patient]]
                found[patient] += (
                    main[has].tolist() + companions[has][rng.random((len(has), COMPANIONS)) < chance[has]].tolist()
                )
    extra = rng.choice(n_codes, int(others.sum()), p=by_chance / by_chance.sum())
    for held, more in zip(found, np.split(extra, np.cumsum(others)[:-1]), strict=True):
        held += more.tolist()
    return [np.unique(held) for held in found]


def patients(rng: np.random.Generator, age: np.ndarray, female: np.ndarray) -> Iterable[Sequence[object]]:
    """The rows of patients.csv."""
    n = len(age)
    size = rng.pareto(1.3, POSTCODES) + 0.3
    place = rng.choice(POSTCODES, n, p=size / size.sum())
    season = 1 + 0.25 * np.cos(2 * np.pi * np.arange(DAYS) / DAYS)
    week = np.array([0.7 if (FIRST_DAY + timedelta(days=d)).weekday() > 4 else 1.1 for d in range(DAYS)])
    day = rng.choice(DAYS, n, p=season * week / (season * week).sum())
    old, kind = age >= 65, rng.random(n)
    insurance = np.where(kind < 0.7, 0, np.where(kind < 0.82, 1, np.where(old | (kind < 0.96), 2, 3)))
    for i in range(n):
        yield (
            i + 1,
            int(age[i]),
            "F" if female[i] else "M",
            postcode(int(place[i])),
            FIRST_DAY + timedelta(days=int(day[i])),
            INSURANCES[insurance[i]],
        )


def postcode(number: int) -> str:
    """Five digits; the first is the region, the first three the district."""
    region, place = number % REGIONS, number // REGIONS
    return f"{region + 1}{place // 5:02d}{place % 5}0"


def write_hospital(folder: Path, n: int = 50_000, seed: int = 1) -> None:
    """Write the files; the same for the same n and seed."""
    rng = np.random.default_rng(seed)
    (folder / "hierarchies").mkdir(parents=True, exist_ok=True)
    age, female, names = ages(rng, n), rng.random(n) < 0.53, codes()
    held = diagnoses(rng, age, female)
    _write(
        folder / "patients.csv",
        ["patient", "age", "sex", "postcode", "admitted", "insurance"],
        patients(rng, age, female),
    )
    rows = ((i + 1, names[c][0]) for i, codes_of in enumerate(held) for c in codes_of.tolist())
    _write(folder / "diagnoses.csv", ["patient", "code"], rows)
    (folder / "icd.tree").write_text("".join(f"{';'.join(path)};*\n" for path in names), encoding="ascii")
    places = sorted(map(postcode, range(POSTCODES)))
    tree = "".join(f"{p};{p[:3]}__;{p[0]}____;*\n" for p in places)
    (folder / "hierarchies" / "postcode.tree").write_text(tree, encoding="ascii")


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    write_hospital(Path(sys.argv[1]), *map(int, sys.argv[2:3]))
