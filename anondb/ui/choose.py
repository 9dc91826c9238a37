"""The part Choose: a promise in words, candidates for it, two of them side by side, and the one that is published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.responses import Response

from anondb.api.connect import connect
from anondb.compare.comparison import SOURCES, Comparison
from anondb.compare.merits import asked_the_same, chance, covered, mean_error, name_of, suppressed_words, terms
from anondb.compare.report import recommendation
from anondb.compare.results import is_table
from anondb.compare.runs import Run
from anondb.engine.elsewhere import is_url
from anondb.engine.files import write_file
from anondb.errors import AnondbError
from anondb.guide.needs import untried
from anondb.guide.questions import FIRST, KNOWLEDGE, USED_FOR, first_answers, numbers_of, offered, options_of, planned
from anondb.report.pair import MOST_FORMS
from anondb.ui.window import Form, Project, Window, get, post, saved
from anondb.ui.worker import Problem, Say

QUERIES = 300  # that both candidates are asked
TRIALS = "candidates.duckdb"  # the private database in which candidates are made; the owner's is only read


def asked(window: Window) -> dict[str, str]:
    """The owner's answers so far."""
    window.kept = {"choose": {}, "choose_pair": None, "choose_problem": None, **window.kept}
    return {**first_answers(window.used.options), **window.kept["choose"]}


def source_of(say: Say, project: Project, folder: str, *, anew: bool = False) -> str:
    """The file with the project's tables: its database, or a copy of those in a server; ``anew`` copies them again."""
    if not is_url(project.database):
        return project.database
    copy = Path(folder, "source.duckdb")
    if anew:
        copy.unlink(missing_ok=True)
    if not copy.exists():
        named = [project.options[name] for name in SOURCES if name in project.options]
        with connect(project.database, read_only=True, on_progress=say) as database:
            database.copy(copy, project.transactions, *filter(is_table, named))
    return str(copy)


def try_candidates(say: Say, project: Project, answers: dict[str, str], folder: str, questions: str | None) -> Comparison:
    """Run the candidates."""
    options, _ = planned(project.options, answers)
    with connect(Path(folder, TRIALS), attach=source_of(say, project, folder, anew=True), on_progress=say) as database:
        return database.compare(project.transactions, workload=questions, **options)


def make_both(say: Say, project: Project, folder: str, names: list[str], options: list[dict[str, Any]]) -> dict[str, Any]:
    """Make the releases ``candidate_1`` and ``candidate_2`` in the private database, and compare them (``beside``)."""
    with connect(Path(folder, TRIALS), attach=source_of(say, project, folder), on_progress=say) as database:
        database.engine.on_finding = lambda finding: True  # nothing of it is given away
        releases = [
            database.anonymize(project.transactions, name=f"candidate_{n}", replace=True, queries=0, **chosen)
            for n, chosen in enumerate(options, 1)
        ]
        first, second = (release.owner_report(queries=QUERIES) for release in releases)
        return {"names": names, **first.beside(second)}


def explain(say: Say, folder: str, item: str) -> list[tuple[str, list[str]]]:
    """Why an item is as it is in both releases of the latest pair: a conclusion and steps of each."""
    explanations = []
    with connect(Path(folder, TRIALS), read_only=True, on_progress=say) as database:
        for n in (1, 2):
            try:
                explanation = database.explain(f"candidate_{n}", item)
                explanations.append((explanation.conclusion, [step.words for step in explanation.steps]))
            except AnondbError as error:
                explanations.append((str(error), []))
    return explanations


@get("/choose", "choose.html", "two")
def page(window: Window, two: str) -> dict[str, Any]:
    """The questions, and the candidates that were found."""
    project, answers, comparison = window.used, asked(window), window.result("candidates")
    models = offered(project.options)
    numbers, of_model = numbers_of(project.options)
    values: dict[str, Any] = {"answers": answers, "models": models, "numbers": numbers, "uses": USED_FOR}
    values |= {"of_model": of_model, "tried": comparison is not None, "two": two}
    values |= {"name_of": name_of, "error": mean_error, "chance": chance, "suppressed": suppressed_words}
    if comparison is None:
        return values
    tried, best = window.kept["choose_tried"], [result for result, _ in comparison.recommended]
    options = planned(project.options, tried)[0] | ({"workload": "questions.sql"} if tried["questions"].strip() else {})
    values["command"] = project.command("compare", transactions=project.transactions, **options)
    runs = [(n, result, result in best) for n, result in enumerate(comparison.runs) if result.status == "done"]
    runs.sort(key=lambda row: (not row[2], (error := mean_error(row[1])) is None, error or 0.0))
    left: dict[str, list[str]] = {}  # why others made no release, and their names
    for result in comparison.runs:
        if result.status != "done":
            left.setdefault(result.message or result.status, []).append(name_of(result))
    values |= {"terms": {**covered(comparison.runs), **terms(comparison.runs)}, "runs": runs, "left": left}
    values |= {"unanswered": comparison.unanswered, "drawn": recommendation(comparison.done)}
    return values | {"differ": not asked_the_same(comparison.done)}


@post("/choose")
def ask(window: Window, form: Form) -> str | None:
    """Try the candidates that fit the owner's answers, or go on with one of them untried."""
    project = window.used
    answers = asked(window) | {name: form.get(name, "") for name in FIRST if name in form or name == "questions"}
    answers |= {"model": form["model"]} if form.get("model") in KNOWLEDGE else {}
    if "path" in form:
        answers["questions"] = Path(form["path"]).read_text("utf-8", "replace")
    window.kept |= {"choose": answers, "choose_problem": None}
    try:
        _, runs = planned(project.options, answers)
    except AnondbError as error:
        window.kept["choose_problem"] = Problem.of(error)
        return None
    if "plain" in form:
        first = untried(runs, answers["use"])
        return _go(window, first, first.words)
    questions = None
    if answers["questions"].strip():
        questions = str(window.folder / "questions.sql")
        write_file(questions, answers["questions"])
    window.kept |= {"choose_tried": answers, "choose_pair": None}
    window.forget("pair", "why")
    arguments: dict[str, Any] = {"project": project, "answers": answers, "folder": str(window.folder)}
    window.run("candidates", "Trying candidates", try_candidates, **arguments, questions=questions)
    return None


@post("/choose/take")
def take(window: Window, form: Form) -> str | None:
    """Look at two candidates side by side, or go on with one."""
    project, comparison = window.used, window.result("candidates")
    if comparison is None or str(window.jobs["candidates"].number) != form.get("of"):
        return None  # another tab has tried others
    chosen = [int(n) for n in form.lists["chosen"] or form.lists["pair"] if n.isdecimal()]
    results = [comparison.runs[n] for n in chosen if n < len(comparison.runs)]
    if results and "chosen" in form:
        return _go(window, results[0].run, name_of(results[0]))
    if len(results) != 2:
        return "/choose?two=yes#candidates"
    window.kept["choose_pair"] = chosen
    window.forget("why")
    arguments: dict[str, Any] = {"project": project, "folder": str(window.folder), "names": list(map(name_of, results))}
    arguments["options"] = [options_of(project.options, result.run) for result in results]
    window.run("pair", "Making both releases in a private place", make_both, **arguments)
    return "/choose/pair"


def _go(window: Window, run: Run, title: str) -> str:
    """Go on to Publish with the release of a run."""
    window.kept["publish_chosen"] = {"options": options_of(window.used.options, run), "title": title}
    return "/publish"


@get("/choose/pair", "choose_pair.html")
def pair_page(window: Window) -> dict[str, Any]:
    """Two candidates side by side."""
    asked(window)
    pair, item = window.result("pair"), window.kept.get("choose_item", "")
    forms = [] if pair is None else [forms_of.get(item, ()) for forms_of in pair["forms"]]
    return {"pair": pair, "item": item, "forms": forms, "most": MOST_FORMS, "why": window.result("why")}


@post("/choose/why", "/choose/pair#why")
def why(window: Window, form: Form) -> None:
    """Explain an item in both candidates."""
    window.kept["choose_item"] = item = form.get("item", "")
    if window.result("pair") is not None:
        window.run("why", "Explaining an item", explain, folder=str(window.folder), item=item)


@get("/choose/questions.sql")
def questions(window: Window) -> Response:
    """The owner's questions, as the file that the command names."""
    return saved(window.kept.get("choose_tried", FIRST)["questions"], "questions.sql", "application/sql")
