"""Plan the runs of a comparison, run them one after the other, and collect their results."""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any

from anondb import __version__
from anondb.algorithms import METHODS
from anondb.algorithms.relational.rt import read_delta
from anondb.compare.limits import Finished, parse_size, run_limited
from anondb.errors import InputError
from anondb.models.named import MODELS, make_model, parameters_of
from anondb.pages.text import number
from anondb.policy import choose_algorithm
from anondb.promises import PROMISES

_OUTCOME = ("status", "message", "seconds", "cpu_seconds", "peak_mib")  # the fields of a result beside run and figures
SETTLED = ("done", "infeasible")  # results that a repeated run would not change


@dataclass(frozen=True)
class Run:
    """One algorithm with its promise, and the options of the comparison that it takes."""

    algorithm: str
    model: str
    parameters: dict[str, Any]
    options: dict[str, Any]

    @property
    def name(self) -> str:
        """The algorithm, with delta and item supports: what tells runs with the same promise apart."""
        delta = f" \N{GREEK SMALL LETTER DELTA}={self.options['delta']}" if "delta" in self.options else ""
        return self.algorithm + delta + (" + supports" if self.options.get("item_supports") else "")

    @property
    def words(self) -> str:
        """The run in words, for messages."""
        return f"{self.name} for {self.model} with {', '.join(f'{n} = {v}' for n, v in self.parameters.items())}"


@dataclass(frozen=True)
class Setting:
    """The inputs and limits that all runs of a comparison share."""

    source: str  # a DuckDB file, or a data file
    transactions: str | None  # the table in the DuckDB file
    # id, item: its columns
    id: str
    item: str
    # workload, log, queries, size, seed, draw: the workload that measures accuracy; ``log`` is a file of COUNT queries
    workload: str | None
    log: str | None
    queries: int
    size: int
    seed: int
    draw: str
    # threads, memory_limit, time_limit: limits of each run; the memory limit applies to the whole process
    threads: int | None
    memory_limit: str | None
    time_limit: float
    fingerprint: str  # the fingerprint of the data and all other inputs
    reading: dict[str, Any] = field(default_factory=dict)  # how the transactions are read, by option
    known: int = 0  # how many items of a person the attackers know who measure the risk; 0 for no attack
    # where runs find copies of what options name, and of the workload
    places: dict[str, Any] = field(default_factory=dict)

    def key(self, run: Run) -> str:
        """The key of a result: equal for the same data, run, workload and version."""
        asked = ("workload", "log", "queries", "size", "seed", "draw", "known")
        shared = {n: getattr(self, n) for n in ("fingerprint", *asked)}
        text = json.dumps({**shared, **asdict(run), "version": __version__}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Result:
    """The result of a run."""

    run: Run
    status: str  # ``done``, ``infeasible``, ``timeout``, ``memory`` or ``failed``
    message: str | None  # the reason if it is not ``done``
    seconds: float  # of the whole process, as the next two
    cpu_seconds: float
    peak_mib: float
    figures: dict[str, Any] = field(default_factory=dict)  # if it is done: loss, accuracy, width of bounds, ...

    def to_json(self) -> dict[str, Any]:
        """The result as JSON values."""
        return {**asdict(self.run), **{n: getattr(self, n) for n in _OUTCOME}, **self.figures}

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Result:
        """Read a result from the JSON values of ``to_json``."""
        run = Run(*(values[n] for n in ("algorithm", "model", "parameters", "options")))
        outcome = {n: values[n] for n in _OUTCOME}
        return cls(run, **outcome, figures={n: v for n, v in values.items() if n not in outcome | asdict(run)})


def plan(
    algorithms: Sequence[str],
    models: Sequence[str],
    grid: Mapping[str, Sequence[Any]],
    options: Mapping[str, Any],
    item_supports: bool | None = False,
) -> list[Run]:
    """The runs of a comparison: for every promise, its algorithms with every combination of parameters.

    Args:
        algorithms: names; an empty list means, for each promise, all that keep it and have their inputs.
        models: the promises. An algorithm that keeps only a stronger promise runs for that one.
        grid: the values of each parameter, and of ``delta`` for the algorithms that take it.
        options: the policy's options; each run gets those of ``_taken``.
        item_supports: whether the releases that may have item supports have them; None runs both.

    Raises:
        InputError: an unknown algorithm, or one that cannot keep any of the promises, with those that can; a promise without
            its inputs; a parameter out of range.
    """
    comparable = [name for name, spec in PROMISES.items() if spec.model.layout != "buckets"]
    able: dict[str, list[str]] = {}
    for model in models:
        make_model(model)
        if model not in comparable:
            words = f"A comparison takes the models {', '.join(comparable)}, not {model}."
            raise InputError(words, code="unknown_model")
        able[model] = [name for name in METHODS if _model_for(name, model) is not None]
    for name in algorithms:
        if not any(name in keeping for keeping in able.values()):
            what = "cannot keep" if name in METHODS else "does not exist, or cannot keep"
            capable = dict.fromkeys(other for keeping in able.values() for other in keeping)
            words = f"The algorithm {name!r} {what} the model {', '.join(models)}; these can: {', '.join(capable)}."
            raise InputError(words, code="unknown_algorithm")
    present = dict(options)
    if "quasi_identifiers" in options:  # the records are then those of the transactions, unless another table is named
        present.setdefault("records", None)
    runs: dict[str, Run] = {}
    for model, keeping in able.items():
        needed = {name: {*METHODS[name].needs, *PROMISES[str(_model_for(name, model))].needs} for name in keeping}
        ready = [name for name, needs in needed.items() if needs <= set(present)]
        for name in [n for n in dict.fromkeys(algorithms) if n in keeping] or ready or keeping[:1]:
            for run in _runs_of(name, str(_model_for(name, model)), grid, present, item_supports):
                runs.setdefault(json.dumps(asdict(run), sort_keys=True, default=str), run)
    return list(runs.values())


def _runs_of(
    name: str, model: str, grid: Mapping[str, Sequence[Any]], present: Mapping[str, Any], item_supports: bool | None
) -> list[Run]:
    """The runs of an algorithm for a model: every combination of the parameters, with what they take of the options."""
    taken = {n: v for n, v in present.items() if n in _taken(name, model)}
    method, runs = METHODS[name], []
    for values in _combinations([*parameters_of(model), *(["delta"] if "delta" in method.takes else [])], grid):
        options = {**taken, **({"delta": values.pop("delta")} if "delta" in values else {})}
        promise = make_model(model, **values)
        choose_algorithm(promise, name, options)
        if "delta" in options:
            read_delta(options["delta"])  # checks it
        method.read_options({n: v for n, v in options.items() if n in method.option_parameters})
        run = Run(name, model, dict(promise.parameters()), {n: v for n, v in options.items() if v is not None})
        wanted = (False, True) if item_supports is None else (item_supports,)
        runs += [with_supports(run, supports) for supports in (wanted if may_have_supports(run) else (False,))]
    return runs


WITHOUT_SUPPORTS = ("clump",)  # its bags hold nodes that overlap (docs/item_supports.md)


def may_have_supports(run: Run) -> bool:
    """Whether releases of a run may have item supports: not those that delete items, and leave all others unchanged."""
    method = METHODS[run.algorithm]
    return MODELS[run.model].supports and method.releases != "item" and run.algorithm not in WITHOUT_SUPPORTS


def with_supports(run: Run, wanted: bool) -> Run:
    """The run with item supports if they are wanted and possible, else without."""
    return replace(run, options={**run.options, "item_supports": wanted and may_have_supports(run)})


def _model_for(algorithm: str, model: str) -> str | None:
    """The model that an algorithm runs for: ``model``, or one that implies it; None if it keeps neither."""
    return next((name for name in (model, *PROMISES[model].implied_by) if name in METHODS[algorithm].models), None)


def _taken(algorithm: str, model: str) -> set[str]:
    """The options that a run gets: those of the algorithm that do not belong to another promise. Only algorithms that need a
    taxonomy get one, or use one to form sets of near items: it changes no other's result."""
    method, spec = METHODS[algorithm], PROMISES[model]
    others = {n for other in PROMISES.values() for n in (*other.needs, *other.takes)} - {*spec.needs, *spec.takes}
    takes = (o for o in method.takes if o != "taxonomy" or spec.relational)
    return {*method.needs, *method.option_parameters, *takes} - others


def _combinations(names: Sequence[str], grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    varied = [name for name in names if name in grid]
    return [dict(zip(varied, values, strict=True)) for values in product(*(grid[name] for name in varied))]


def run_all(
    setting: Setting,
    runs: Sequence[Run],
    stored: Mapping[str, Result],
    keep: Callable[[str, Result], None],
    say: Callable[[str, float | None], None],
    total_limit: float | None = None,
) -> list[Result]:
    """Run all runs that have no settled result in ``stored``, by key; ``keep`` each result before the next run begins, and
    ``say`` each step with the share that is done. What is not done after ``total_limit`` seconds is stopped, or not
    begun."""
    results: list[Result] = []
    until = math.inf if total_limit is None else time.monotonic() + total_limit
    for run in runs:
        key = setting.key(run)
        earlier = stored.get(key)
        if earlier is not None and earlier.status in SETTLED:
            results.append(earlier)
            continue
        left = until - time.monotonic()
        if left <= 0:
            results.append(Result(run, "timeout", "There was no time left for it.", 0.0, 0.0, 0.0))
            continue
        say(run.words, len(results) / len(runs))
        result = run_one(replace(setting, time_limit=min(setting.time_limit, left)), run)
        keep(key, result)
        results.append(result)
    return results


def job_of(setting: Setting, run: Run) -> dict[str, Any]:
    """What the process of a run reads: the setting and the run, with the places of copies and the user's modules."""
    made_in = {METHODS[run.algorithm].run.__module__, PROMISES[run.model].model.__module__}
    return {
        **asdict(setting),
        **asdict(run),
        "options": {name: setting.places.get(name, value) for name, value in run.options.items()},
        **{name: setting.places.get(name, getattr(setting, name)) for name in ("workload", "log")},
        "modules": sorted(module for module in made_in if not module.startswith("anondb.")),
    }


def run_one(setting: Setting, run: Run) -> Result:
    """Execute one run in a separate process, which also imports the user's modules of algorithms and models."""
    limit = None if setting.memory_limit is None else parse_size(setting.memory_limit)
    command = [sys.executable, "-m", "anondb.compare.child"]
    done = run_limited(command, json.dumps(job_of(setting, run)), seconds=setting.time_limit, memory=limit)
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
        return {"status": "timeout", "message": f"It was stopped after {number(setting.time_limit)} seconds."}
    if done.status == "memory":
        return {"status": "memory", "message": f"It was stopped at the memory limit of {setting.memory_limit}."}
    try:
        figures = json.loads(done.output)
        return dict(figures)
    except ValueError:
        how = f"signal {-done.code}" if done.code < 0 else f"exit code {done.code}"
        return {"status": "failed", "message": f"The process ended without a result ({how})."}
