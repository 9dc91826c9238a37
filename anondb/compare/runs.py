"""Plan the runs of a comparison, run them one after the other, and collect their results."""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from anondb import __version__
from anondb.algorithms import METHODS
from anondb.compare.limits import Finished, parse_size, run_limited
from anondb.errors import InputError
from anondb.models.named import make_model, parameters_of
from anondb.policy import choose_algorithm
from anondb.promises import PROMISES
from anondb.promises.spec import ModelSpec

SETTLED = ("done", "infeasible")  # results that a repeated run would not change


@dataclass(frozen=True)
class Run:
    """One algorithm with its promise, and the options of the comparison that it takes."""

    algorithm: str
    model: str
    parameters: dict[str, Any]
    options: dict[str, Any]

    @property
    def words(self) -> str:
        """The algorithm and its parameters, for messages."""
        return f"{self.algorithm} with {', '.join(f'{n} = {v}' for n, v in self.parameters.items())}"


@dataclass(frozen=True)
class Setting:
    """The inputs and limits that all runs of a comparison share.

    Attributes:
        source: a DuckDB file, or a data file.
        transactions: the table in the DuckDB file.
        id, item: its columns.
        workload, log, queries, size, seed, draw: the workload that measures accuracy; ``log`` is a file of COUNT queries.
        threads, memory_limit, time_limit: limits of each run; the memory limit applies to the whole process.
        fingerprint: the fingerprint of the data and all other inputs.
        reading: how the transactions are read, by option.
    """

    source: str
    transactions: str | None
    id: str
    item: str
    workload: str | None
    log: str | None
    queries: int
    size: int
    seed: int
    draw: str
    threads: int | None
    memory_limit: str | None
    time_limit: float
    fingerprint: str
    reading: dict[str, Any] = field(default_factory=dict)

    def key(self, run: Run) -> str:
        """The key of a result: equal for the same data, run, workload and version."""
        shared = {n: getattr(self, n) for n in ("fingerprint", "workload", "log", "queries", "size", "seed", "draw")}
        text = json.dumps({**shared, **asdict(run), "version": __version__}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes:
        run: the run.
        status: ``done``, ``infeasible``, ``timeout``, ``memory`` or ``failed``.
        message: the reason if the status is not ``done``.
        seconds, cpu_seconds, peak_mib: time and memory of the whole process.
        figures: if the run is done: loss, accuracy, width of bounds, generalized items, and so on.
    """

    run: Run
    status: str
    message: str | None
    seconds: float
    cpu_seconds: float
    peak_mib: float
    figures: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        outcome = {n: getattr(self, n) for n in ("status", "message", "seconds", "cpu_seconds", "peak_mib")}
        return {**asdict(self.run), **outcome, **self.figures}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Result:
        """Read a result from the JSON values of ``to_json``."""
        run = Run(*(values[n] for n in ("algorithm", "model", "parameters", "options")))
        outcome = {n: values[n] for n in ("status", "message", "seconds", "cpu_seconds", "peak_mib")}
        return cls(run, **outcome, figures={n: v for n, v in values.items() if n not in outcome | asdict(run)})


def plan(
    algorithms: Sequence[str],
    model: str,
    grid: Mapping[str, Sequence[Any]],
    options: Mapping[str, Any],
) -> list[Run]:
    """The runs of a comparison: every algorithm with every combination of its promise's parameters.

    Args:
        algorithms: names; an empty list means all that keep the promise and have their inputs.
        model: the promise. An algorithm that keeps only a stronger promise runs for that one.
        grid: the values of each parameter.
        options: the policy's options; each algorithm gets those of ``_taken``.

    Raises:
        InputError: an unknown algorithm, or one that cannot keep the promise, with those that can; a parameter out of range.
    """
    make_model(model)
    comparable = [name for name, spec in PROMISES.items() if _is_comparable(spec)]
    if model not in comparable:
        raise InputError(f"A comparison takes the models {', '.join(comparable)}, not {model}.", code="unknown_model")
    names = list(dict.fromkeys(algorithms))
    able = {name: implied for name in METHODS if (implied := _model_for(name, model)) is not None}
    if not names:
        names = [name for name in able if all(need in options for need in METHODS[name].needs)]
    for name in names:
        if name not in able:
            what = "cannot keep" if name in METHODS else "does not exist, or cannot keep"
            raise InputError(
                f"The algorithm {name!r} {what} the model {model}; these can: {', '.join(able)}.",
                code="unknown_algorithm",
            )
    runs = []
    for name in names:
        taken = {n: v for n, v in options.items() if n in _taken(name)}
        for parameters in _combinations(able[name], grid):
            choose_algorithm(make_model(able[name], **parameters), name, taken)
            METHODS[name].read_options({n: v for n, v in taken.items() if n in METHODS[name].option_parameters})
            shown = make_model(able[name], **parameters).parameters()
            runs.append(Run(name, able[name], dict(shown), taken))
    return runs


def _is_comparable(spec: ModelSpec) -> bool:
    """Whether a promise covers transactions alone and needs only its parameters and private items."""
    return spec.model.layout in ("transactions", "local") and set(spec.needs) <= {"sensitive"}


def _model_for(algorithm: str, model: str) -> str | None:
    """The model that an algorithm runs for: ``model``, or one that implies it; None if it keeps neither."""
    for name in (model, *PROMISES[model].implied_by):
        if name in METHODS[algorithm].models:
            return name
    return None


def _taken(algorithm: str) -> set[str]:
    """The options that an algorithm gets. Only algorithms that need a taxonomy get one: it changes no other's result."""
    known = METHODS[algorithm]
    return {*known.needs, *known.option_parameters, *(o for o in known.takes if o != "taxonomy")}


def _combinations(model: str, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    combinations: list[dict[str, Any]] = [{}]
    for name in parameters_of(model):
        if name in grid:
            combinations = [{**some, name: value} for some in combinations for value in grid[name]]
    return combinations


def run_all(
    setting: Setting,
    runs: Iterable[Run],
    known: Mapping[str, Result],
    keep: Callable[[str, Result], None],
    say: Callable[[str], None],
) -> list[Result]:
    """Run all runs that have no settled result yet; store each result before the next run begins.

    Args:
        setting: the shared inputs and limits.
        runs: the runs.
        known: results of earlier comparisons, by key.
        keep: called with the key and the result of each new run.
        say: called with a message on each step.
    """
    results = []
    for run in runs:
        key = setting.key(run)
        earlier = known.get(key)
        if earlier is not None and earlier.status in SETTLED:
            say(f"{run.words}: known from an earlier comparison")
            results.append(earlier)
            continue
        say(run.words)
        result = run_one(setting, run)
        keep(key, result)
        results.append(result)
    return results


def run_one(setting: Setting, run: Run) -> Result:
    """Execute one run in a separate process, which also imports the user's modules of algorithms and models."""
    made_in = {METHODS[run.algorithm].run.__module__, PROMISES[run.model].model.__module__}
    job = {**asdict(setting), **asdict(run), "modules": sorted(m for m in made_in if not m.startswith("anondb."))}
    limit = None if setting.memory_limit is None else parse_size(setting.memory_limit)
    command = [sys.executable, "-m", "anondb.compare.child"]
    done = run_limited(command, json.dumps(job), seconds=setting.time_limit, memory=limit)
    figures = _figures(done, setting)
    status, message = figures.pop("status"), figures.pop("message", None)
    return Result(
        run,
        status,
        message,
        seconds=round(done.seconds, 3),
        cpu_seconds=round(done.cpu_seconds, 3),
        peak_mib=round(done.peak_bytes / 2**20, 1),
        figures=figures,
    )


def _figures(done: Finished, setting: Setting) -> dict[str, Any]:
    if done.status == "timeout":
        return {"status": "timeout", "message": f"It was stopped after {setting.time_limit:g} seconds."}
    if done.status == "memory":
        return {"status": "memory", "message": f"It was stopped at the memory limit of {setting.memory_limit}."}
    try:
        figures = json.loads(done.output)
        return dict(figures)
    except ValueError:
        how = f"signal {-done.code}" if done.code < 0 else f"exit code {done.code}"
        return {"status": "failed", "message": f"The process ended without a result ({how})."}


def frontier(results: Sequence[Result], loss: str = "ncp") -> list[Result]:
    """The undominated results, the weakest promise first: no other has a k and an m at least as large, and less loss."""

    def strength(result: Result) -> tuple[float, float]:
        m = result.run.parameters.get("m", result.run.parameters.get("p", "inf"))
        return float(result.run.parameters.get("k", 1)), math.inf if m == "inf" else float(m)

    done = [r for r in results if r.status == "done" and r.figures.get(loss) is not None]

    def beats(one: Result, other: Result) -> bool:
        at_least = all(a >= b for a, b in zip(strength(one), strength(other), strict=True))
        ours, theirs = one.figures[loss], other.figures[loss]
        return at_least and ours <= theirs and (ours < theirs or strength(one) != strength(other))

    best = [r for r in done if not any(beats(other, r) for other in done if other is not r)]
    return sorted(best, key=lambda r: (strength(r)[::-1], r.figures[loss]))
