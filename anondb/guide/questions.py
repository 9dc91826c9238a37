"""The questions by which an owner chooses a promise, and the candidates that fit the answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anondb.algorithms.relational import WITHOUT_ITEMS
from anondb.compare.runs import Run, plan
from anondb.errors import InputError
from anondb.guide.needs import PEOPLE, QUESTIONS, read_answer, serving
from anondb.reading.options import PEOPLE as ALONE
from anondb.reading.options import READING

_ABOUT = ("quasi_identifiers", "sensitive")
KNOWLEDGE = {  # by model: what somebody may know of a person, the numbers of the promise, and the sources that it needs
    "km": ("Some of their items", ("k", "m"), ()),
    "k": ("All of their items, also which they lack", ("k",), ()),
    "kkm": ("Their attributes ({}), and some of their items", ("k", "m", "delta"), _ABOUT[:1]),
    "klm": ("The same; and a sensitive item must not be guessed", ("k", "m", "l", "delta"), _ABOUT),
    "hkp": ("Items that are not private; and a private one must not be guessed", ("k", "p", "h"), _ABOUT[1:]),
}
NUMBERS = {  # the words of each number
    "k": QUESTIONS["k"],
    "m": QUESTIONS["m"],
    "l": "A sensitive item may be right for one of how many people who fit, at most?",
    "p": "How many items that are not private may somebody know?",
    "h": "How sure may a guess of a private item be, at most? (a share such as 4/5)",
    "delta": "How much of the attributes' detail may be given up for that of the items? (0 to 1)",
}
USED_FOR = {
    "counts": "Counts of items and sets of items: whatever answers them best",
    "categories": "Categories of the taxonomy in place of items, which people read without a legend",
    "items": "Items as they are; the rare ones are deleted",
}
FIRST = {"use": "counts", "supports": "both", "questions": "", "seconds": "120"}
FIRST |= {"k": "5", "m": "2", "l": "2", "p": "2", "h": "4/5", "delta": "0.05, 0.65"}


def offered(named: Mapping[str, Any]) -> dict[str, str]:
    """What somebody may know, in words, by the models whose sources are among the named ones."""
    if named.get("layout") == ALONE:
        return {"kkm": f"Their attributes ({named.get('quasi_identifiers')})"}
    known = {model: words for model, (words, _, needs) in KNOWLEDGE.items() if all(need in named for need in needs)}
    return {model: words.format(named.get("quasi_identifiers")) for model, words in known.items()}


def numbers_of(named: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """The words of the numbers of promises, and by model the names of its numbers."""
    of_model = {model: _numbers(named, model) for model in offered(named)}
    return {name: words for name, words in NUMBERS.items() if any(name in of for of in of_model.values())}, of_model


def _numbers(named: Mapping[str, Any], model: str) -> tuple[str, ...]:
    return KNOWLEDGE[model][1][: 1 if named.get("layout") == ALONE else None]  # of people without items k alone


def first_answers(options: Mapping[str, Any]) -> dict[str, str]:
    """The answers to all questions before the owner changes any; ``options`` name what there is beside the transactions."""
    return {**FIRST, "model": "kkm" if "quasi_identifiers" in options else "km"}


def options_of(named: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """The options of ``Database.anonymize`` that make the release of a run, with those of ``named`` that it needs."""
    own = ("id", "item", "population", "accept", "bag_input", *READING)
    kept = {name: value for name, value in named.items() if name in own}
    return {**kept, "model": run.model, **run.parameters, "algorithm": run.algorithm, **run.options}


def planned(named: Mapping[str, Any], answers: Mapping[str, str]) -> tuple[dict[str, Any], list[Run]]:
    """The options of ``Database.compare`` for the owner's answers, and its runs in the order in which they are tried;
    ``named`` are those that say what there is.

    Raises:
        InputError: ``bad_parameter``; ``no_taxonomy``.
    """
    model, needs = answers["model"], KNOWLEDGE[answers["model"]][2]
    grid: dict[str, list[Any]] = {}
    for name in _numbers(named, model):
        listed = [value.strip() for value in answers[name].split(",") if value.strip()] or [FIRST[name].split(",")[0]]
        grid[name] = [int(value) if value.isdecimal() else value for value in listed]
    for name in grid.keys() & {"k", "m"}:
        grid[name] = [value if value == "inf" else read_answer(name, str(value)) for value in grid[name]]
    if not answers["seconds"].isdecimal() or not int(answers["seconds"]):
        raise InputError("The time for all candidates is a number of seconds.", code="bad_parameter")
    unused = {"accept", "population", *(set() if "quasi_identifiers" in needs else set(PEOPLE) - set(needs))}
    options = {name: value for name, value in named.items() if name not in unused}
    supports = {} if answers["supports"] == "both" else {"item_supports": answers["supports"] == "yes"}
    fitting = WITHOUT_ITEMS if named.get("layout") == ALONE else ()
    kept = {name: value for name, value in options.items() if name not in READING}
    possible = plan(fitting, [model], grid, kept, supports.get("item_supports"))
    runs = serving(possible, answers["use"]) if model in ("km", "k") else possible
    algorithms = list(dict.fromkeys(run.algorithm for run in runs))
    comparison = {"model": model, **grid, "algorithms": algorithms, **supports, "total_limit": int(answers["seconds"])}
    return {**options, **comparison}, runs
