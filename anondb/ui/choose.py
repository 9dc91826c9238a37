"""The part Choose: a promise in words, candidates for it, two of them side by side, and the one that is published."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from anondb.api.connect import connect
from anondb.compare.comparison import Comparison
from anondb.compare.merits import asked_the_same, chance, covered, mean_error, name_of, suppressed_words, terms
from anondb.compare.report import recommendation
from anondb.compare.runs import Result, Run, plan
from anondb.engine.files import write_file
from anondb.errors import AnondbError, InputError
from anondb.guide.needs import PEOPLE, QUESTIONS, read_answer, serving, untried
from anondb.reading.options import READING
from anondb.ui.pair import MOST_FORMS, make_both, source_of
from anondb.ui.window import Project, Window, back, posted, project_at, saved, shown, window_of
from anondb.ui.worker import Problem, Say

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


def at_first(project: Project | None) -> dict[str, str]:
    """The answers to all questions before the owner changes any."""
    return {**FIRST, "model": "kkm" if project is not None and "quasi_identifiers" in project.options else "km"}


def asked(window: Window) -> dict[str, str]:
    """The owner's answers so far."""
    window.kept = {"choose": {}, "choose_pair": None, "choose_problem": None, **window.kept}
    return {**at_first(window.project), **window.kept["choose"]}


def options_of(project: Project, run: Run) -> dict[str, Any]:
    """The options of ``Database.anonymize`` that make the release of a run."""
    own = ("id", "item", "population", "accept", "bag_input", *READING)
    kept = {name: value for name, value in project.options.items() if name in own}
    return {**kept, "model": run.model, **run.parameters, "algorithm": run.algorithm, **run.options}


def accepted(options: Mapping[str, Any]) -> list[str]:
    """The findings that options confirm."""
    accept = options.get("accept") or ()
    return accept.split(",") if isinstance(accept, str) else list(accept)


def planned(project: Project, answers: Mapping[str, str]) -> tuple[dict[str, Any], list[Run]]:
    """The options of ``Database.compare`` for the owner's answers, and its runs in the order in which they are tried.

    Raises:
        InputError: ``bad_parameter``; ``no_taxonomy``.
    """
    model, (_, numbers, needs) = answers["model"], KNOWLEDGE[answers["model"]]
    grid: dict[str, list[Any]] = {}
    for name in numbers:
        listed = [value.strip() for value in answers[name].split(",") if value.strip()] or [FIRST[name].split(",")[0]]
        grid[name] = [int(value) if value.isdecimal() else value for value in listed]
    for name in grid.keys() & {"k", "m"}:
        grid[name] = [value if value == "inf" else read_answer(name, str(value)) for value in grid[name]]
    if not answers["seconds"].isdecimal() or not int(answers["seconds"]):
        raise InputError("The time for all candidates is a number of seconds.", code="bad_parameter")
    unused = {"accept", "population", *(set() if "quasi_identifiers" in needs else set(PEOPLE) - set(needs))}
    options = {name: value for name, value in project.options.items() if name not in unused}
    supports = {} if answers["supports"] == "both" else {"item_supports": answers["supports"] == "yes"}
    possible = plan([], [model], grid, {n: v for n, v in options.items() if n not in READING}, supports.get("item_supports"))
    runs = serving(possible, answers["use"]) if model in ("km", "k") else possible
    algorithms = list(dict.fromkeys(run.algorithm for run in runs))
    comparison = {"model": model, **grid, "algorithms": algorithms, **supports, "total_limit": int(answers["seconds"])}
    return {**options, **comparison}, runs


def trials(window: Window) -> str:
    """The private database in which candidates are made; the owner's is only read."""
    return str(window.folder / "candidates.duckdb")


def try_candidates(say: Say, project: Project, answers: dict[str, str], trial: str, questions: str | None) -> Comparison:
    """Run the candidates."""
    options, _ = planned(project, answers)
    with connect(trial, attach=source_of(say, project, trial, anew=True), on_progress=say) as database:
        return database.compare(project.transactions, workload=questions, **options)


def explain(say: Say, trial: str, item: str) -> list[tuple[str, list[str]]]:
    """Why an item is as it is in both releases of the latest pair: a conclusion and steps of each."""
    explanations = []
    with connect(trial, read_only=True, on_progress=say) as database:
        for n in (1, 2):
            try:
                explanation = database.explain(f"candidate_{n}", item)
                explanations.append((explanation.conclusion, [step.words for step in explanation.steps]))
            except AnondbError as error:
                explanations.append((str(error), []))
    return explanations


def page(request: Request) -> Response:
    """The questions, and the candidates that were found."""
    window, project = project_at(request)
    answers, comparison = asked(window), window.result("candidates")
    of_whom = project.options.get("quasi_identifiers")
    models = {
        n: words.format(of_whom)
        for n, (words, _, needs) in KNOWLEDGE.items()
        if all(need in project.options for need in needs)
    }
    numbers = {n: words for n, words in NUMBERS.items() if any(n in KNOWLEDGE[model][1] for model in models)}
    values: dict[str, Any] = {"answers": answers, "models": models, "numbers": numbers}
    values |= {"of_model": {n: KNOWLEDGE[n][1] for n in models}}
    values |= {"name_of": name_of, "error": mean_error, "chance": chance, "suppressed": suppressed_words}
    if comparison is None:
        return shown(request, "choose.html", tried=False, uses=USED_FOR, **values)
    tried, best = window.kept["choose_tried"], [result for result, _ in comparison.recommended]
    options = planned(project, tried)[0] | ({"workload": "questions.sql"} if tried["questions"].strip() else {})
    values["command"] = project.command("compare", transactions=project.transactions, **options)
    runs = [(n, result, result in best) for n, result in enumerate(comparison.runs) if result.status == "done"]
    runs.sort(key=lambda row: (not row[2], *_order(row[1])))
    left: dict[str, list[str]] = {}  # why others made no release, and their names
    for result in comparison.runs:
        if result.status != "done":
            left.setdefault(result.message or result.status, []).append(name_of(result))
    values |= {"terms": {**covered(comparison.runs), **terms(comparison.runs)}, "two": request.url.query == "two"}
    values |= {"unanswered": comparison.unanswered, "drawn": recommendation(comparison.done)}
    values |= {"runs": runs, "left": left, "differ": not asked_the_same(comparison.done)}
    return shown(request, "choose.html", tried=True, uses=USED_FOR, **values)


def _order(result: Result) -> tuple[bool, float]:
    error = mean_error(result)
    return error is None, error or 0.0


async def ask(request: Request) -> Response:
    """Try the candidates that fit the owner's answers, or go on with one of them untried."""
    window, project = project_at(request)
    fields, _ = await posted(request)
    answers = asked(window) | {name: fields.get(name, "") for name in FIRST if name in fields or name == "questions"}
    answers |= {"model": fields["model"]} if fields.get("model") in KNOWLEDGE else {}
    if "path" in fields:
        answers["questions"] = Path(fields["path"]).read_text("utf-8", "replace")
    window.kept |= {"choose": answers, "choose_problem": None}
    try:
        _, runs = planned(project, answers)
    except AnondbError as error:
        window.kept["choose_problem"] = Problem.of(error)
        return back("/choose")
    if "plain" in fields:
        first = untried(runs, answers["use"])
        return _go(window, project, first, first.words)
    questions = None
    if answers["questions"].strip():
        questions = str(window.folder / "questions.sql")
        write_file(questions, answers["questions"])
    window.kept |= {"choose_tried": answers, "choose_pair": None}
    window.forget("pair", "why")
    arguments: dict[str, Any] = {"project": project, "answers": answers, "trial": trials(window), "questions": questions}
    window.run("candidates", "Trying candidates", try_candidates, **arguments)
    return back("/choose")


async def take(request: Request) -> Response:
    """Look at two candidates side by side, or go on with one."""
    window, project = project_at(request)
    comparison, (fields, form) = window.result("candidates"), await posted(request)
    if comparison is None or str(window.jobs["candidates"].number) != fields.get("of"):
        return back("/choose")  # another tab has tried others
    chosen = [int(str(n)) for n in form.getlist("chosen") or form.getlist("pair") if str(n).isdecimal()]
    chosen = [n for n in chosen if n < len(comparison.runs)]
    if chosen and "chosen" in fields:
        return _go(window, project, comparison.runs[chosen[0]].run, name_of(comparison.runs[chosen[0]]))
    if len(chosen) != 2:
        return back("/choose?two#candidates")
    results = [comparison.runs[n] for n in chosen]
    window.kept["choose_pair"] = chosen
    window.forget("why")
    arguments: dict[str, Any] = {"project": project, "trial": trials(window)}
    arguments["names"] = [name_of(result) for result in results]
    arguments["options"] = [options_of(project, result.run) for result in results]
    window.run("pair", "Making both releases in a private place", make_both, **arguments)
    return back("/choose/pair")


def _go(window: Window, project: Project, run: Run, title: str) -> Response:
    """Go on to Publish with the release of a run."""
    window.kept["publish_chosen"] = {"options": options_of(project, run), "title": title}
    return back("/publish")


def pair_page(request: Request) -> Response:
    """Two candidates side by side."""
    window, _ = project_at(request)
    asked(window)
    pair, item = window.result("pair"), window.kept.get("choose_item", "")
    forms = [] if pair is None else [forms_of.get(item, ()) for forms_of in pair["forms"]]
    values: dict[str, Any] = {"pair": pair, "item": item, "forms": forms, "most": MOST_FORMS}
    return shown(request, "choose_pair.html", why=window.result("why"), **values)


async def why(request: Request) -> Response:
    """Explain an item in both candidates."""
    window, item = window_of(request), (await posted(request))[0].get("item", "")
    window.kept["choose_item"] = item
    if window.result("pair") is not None:
        window.run("why", "Explaining an item", explain, trial=trials(window), item=item)
    return back("/choose/pair#why")


def questions(request: Request) -> Response:
    """The owner's questions, as the file that the command names."""
    return saved(window_of(request).kept.get("choose_tried", FIRST)["questions"], "questions.sql", "application/sql")


ROUTES = [
    Route("/choose", page),
    Route("/choose", ask, methods=["POST"]),
    Route("/choose/take", take, methods=["POST"]),
    Route("/choose/pair", pair_page),
    Route("/choose/why", why, methods=["POST"]),
    Route("/choose/questions.sql", questions),
]
