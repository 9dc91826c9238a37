"""A toy model: every released item occurs in at least ``floor`` transactions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from sqlglot import exp, parse_one

from anondb.models import INTEGER, Model, digits, parameter
from anondb.promises import register
from anondb.promises.spec import ModelSpec, Shown, Subject
from anondb.verify import Verification


@dataclass(frozen=True)
class Floor(Model):
    floor: int = parameter(3, "Least support of a released item.", kinds=(INTEGER,), read=digits)
    name: ClassVar[str] = "floor"
    layout: ClassVar[str] = "transactions"

    @property
    def promise(self) -> str:
        return f"support of at least {self.floor}"


def verify(subject: Subject, model: Floor, witnesses: int) -> Verification:
    rows = exp.select("item").from_(subject.transactions.expression()).group_by("item").having(f"count(*) < {model.floor}")
    rare = len(subject.engine.select(rows)["item"])
    return Verification(model, rare == 0, rare)


def proof(manifest: Mapping[str, str], shown: Shown) -> exp.Query:
    rare = "SELECT 'rare' AS violation, [item] AS items, count(*) AS support FROM main.transactions GROUP BY item"
    return parse_one(f"{rare} HAVING count(*) < {int(manifest['floor'])}", dialect="duckdb")


register(ModelSpec(Floor, verify, proof, "* **Needs only the release**: the support of each item.", remarks=lambda m: ()))
