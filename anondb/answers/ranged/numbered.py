"""Aggregates of windows that number rows as aggregates of the rows: the greatest ``row_number()`` is the number of rows, the
greatest ``dense_rank()`` that of different values, and the value at a place that follows from the number of rows a quantile.

Averages of squared distances from the mean as variances: ``avg((n - m) ** 2)`` where m is ``(SELECT avg(n) FROM p)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from anondb.answers.quotients import filtered
from anondb.answers.ranged.clauses import ROWS, both_ways, clauses_of, conditions_of, shown_by_name, with_filter
from anondb.answers.ranged.distinct_rows import first_of
from anondb.answers.ranged.equivalents import are_same, query_of, resolved, select_sources, terms_of_order, write_windows
from anondb.answers.ranged.listed import count_of, present, put
from anondb.answers.ranged.originals import Originals, Present, is_present, rule
from anondb.query.parsing import bare, conjoined, lowered

_NUMBERINGS = (exp.RowNumber, exp.DenseRank, exp.CumeDist)
_CUT = ("qualify", "limit", "offset", "distinct")
_PLACE, _TOTAL = "place", "total"
_MOST = 400  # rows for which places are compared
_OF_ONE_ROW = (exp.Min, exp.Max, exp.Avg, exp.Sum, exp.AnyValue)  # of one row they are its number
_COMPUTED = (
    *(exp.And, exp.Or, exp.Paren, exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Abs),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Ceil, exp.Floor, exp.Literal, exp.Column, exp.Identifier),
)
"""Of which the truth of a condition on places depends on the number of rows alike for all numbers: with such small constants
as are allowed it repeats itself long before ``_MOST``."""


@rule(exp.Window)
def with_numbers_of_rows(select: exp.Select, originals: Originals) -> None:
    """A query with aggregates of rows in place of those of their numbers, wherever it has them."""
    for source, inner in list(select_sources(select)):
        if not select.args.get("joins") and not any(inner.args.get(key) for key in _CUT):
            write_windows(inner)
            numbered = _Numbered(select, inner, lowered(source.alias_or_name), originals)
            added = _of_added(inner)
            if added is not None:
                inner.replace(added)
                if replace(numbered, inner=added).write(every=True):
                    continue
                added.replace(inner)
            numbered.write()


def _of_added(inner: exp.Select) -> exp.Select | None:
    """A SELECT that adds up the numbers of rows of groups, in the order of their key, over these rows; None for others.

    ``sum(c) OVER (ORDER BY n)`` of one row for each n, with the number c of rows, is the place of the last row with n.
    """
    sources = list(select_sources(inner))
    groups = sources[0][1] if len(sources) == 1 and not inner.args.get("joins") and not inner.args.get("where") else None
    if groups is None or groups.args.get("group") is None or inner.find(exp.Sum) is None:
        return None
    shown = shown_by_name(groups)
    counts = {name for name, value in shown.items() if value == exp.Count(this=exp.Star(), big_int=True)}
    keys = [resolved(key, groups) for key in groups.args["group"].expressions]
    rows = groups.copy()
    rows.set("group", None)
    rows.set("expressions", [exp.alias_(e.copy(), name, quoted=True) for name, e in shown.items() if name not in counts])
    plain = clauses_of(groups) <= {"expressions", *ROWS, "group"}
    if not plain or len(keys) != 1 or [e for name, e in shown.items() if name not in counts] != keys:
        return None
    copy = inner.copy()
    for window in list(copy.find_all(exp.Window)):
        of = window.this.this if isinstance(window.this, exp.Sum) else None
        plain = not any(window.args.get(part) for part in ("partition_by", "spec", "alias"))
        if not plain or not isinstance(of, exp.Column) or lowered(of.name) not in counts:
            return None
        total = exp.Window(this=exp.Count(this=exp.Star(), big_int=True), over="OVER")
        share = exp.Window(this=exp.CumeDist(), order=window.args.get("order"), over="OVER")
        window.replace(total if window.args.get("order") is None else exp.paren(share * total))
    kept = [e for e in copy.expressions if not any(lowered(c.name) in counts for c in e.find_all(exp.Column))]
    copy.set("expressions", kept)
    copy.set("from_", exp.From(this=rows.subquery(sources[0][0].alias_or_name or "rows", copy=False)))
    return copy


@dataclass(frozen=True)
class _Numbered:
    """A SELECT over the rows that another one numbers.

    Attributes:
        select: the SELECT, whose aggregates are changed.
        inner: the one that numbers rows, of which columns that nothing uses any more are removed.
        alias: the name of the rows.
        originals: the tables of the query.
    """

    select: exp.Select
    inner: exp.Select
    alias: str
    originals: Originals

    @property
    def values(self) -> Mapping[str, exp.Expr]:
        """What the columns of the rows are, by their names."""
        return shown_by_name(self.inner)

    def write(self, *, every: bool = False) -> bool:
        """Write aggregates of numbers as those of rows, where they are; returns whether all are. ``every``: all or none."""
        calls = [c for c in self.select.find_all(exp.AggFunc) if c.parent_select is self.select]
        outer = [with_filter(call) for call in calls]
        made = {id(call): self._of_rows(call) for call in outer}
        if every or self.select.args.get("where") is not None:
            if not outer or None in made.values():
                return False
            self.select.set("where", None)
        for call in outer:
            if (value := made[id(call)]) is not None:
                put(call, value)
        root = self.select.root()
        used = {lowered(column.name) for column in root.find_all(exp.Column)}
        kept = [e for e in self.inner.expressions if e.find(*_NUMBERINGS) is None or lowered(e.alias_or_name) in used]
        clauses = [self.inner.args[key] for key in ("group", "order") if self.inner.args.get(key) is not None]
        by_place = any(clause.find(exp.Literal) for clause in clauses)  # GROUP BY 2
        if kept and not by_place and not any(select.is_star for select in root.find_all(exp.Select)):
            self.inner.set("expressions", kept)
        return None not in made.values()

    def _of_rows(self, call: exp.Expr) -> exp.Expr | None:
        """An aggregate of numbers as one of rows; None for others, and for those of windows."""
        if isinstance(call.parent, exp.Window):
            return None
        function, wanted = filtered(call)
        where = self.select.args.get("where")
        conditions = conditions_of(self.select) + conjoined(wanted)
        if not conditions and isinstance(function, exp.Max):
            return self._greatest(self._value(function.this))
        condition = self._condition(exp.and_(*conditions)) if conditions else None
        if condition is None:
            return None
        if where is None and isinstance(function, exp.Count) and isinstance(function.this, exp.Star):
            keys = first_of(condition)
            within = keys is not None and all(key and {*key.find_all(exp.Column)} <= {*keys} for key in self._groups())
            return self._count([self._shown(key) for key in keys]) if keys and within else None
        return self._quantile(function, condition)

    def _count(self, keys: Sequence[exp.Expr]) -> exp.Expr:
        """The number of different keys, which is 0 without rows."""
        number = present(count_of(keys, None), self.select, None)
        if isinstance(number, exp.Case):
            number.set("default", exp.convert(0))
        return number

    def _greatest(self, window: exp.Expr | None) -> exp.Expr | None:
        """The greatest number of the rows of each group; None if they are not numbered within it."""
        if not isinstance(window, exp.Window) or not self._is_within(window):
            return None
        if isinstance(window.this, exp.RowNumber):
            return present(exp.Count(this=exp.Star(), big_int=True), self.select, None)
        terms = terms_of_order(window)
        if not isinstance(window.this, exp.DenseRank) or len(terms) != 1:
            return None
        return present(count_of([self._shown(terms[0].this)], None), self.select, None)

    def _quantile(self, function: exp.Expr, condition: exp.Expr) -> exp.Expr | None:
        """An aggregate of the values at places that follow from the number of rows, as a quantile; None for others."""
        value = self._value(function.this) if isinstance(function, _OF_ONE_ROW) else None
        if value is None or not is_present(value, self.inner, self.originals.present):
            return None
        ties = condition.find(exp.CumeDist) is not None
        for window in list(condition.find_all(exp.Window)):
            place = self._place(window, value)
            if place is None:
                return None
            window.replace(place)
        if not {*condition.find_all(exp.Column)} <= {exp.column(_PLACE), exp.column(_TOTAL)}:
            return None
        literals = set(condition.find_all(exp.Literal))
        shares = [Fraction(one.name) for one in literals if not one.is_string and "." in one.name and len(one.name) <= 4]
        whole = [int(one.name) for one in literals if not one.is_string and one.is_int]
        large = sorted(one for one in whole if one > 2)
        plain = len(shares) == len(literals) - len(whole) <= 1 and len(large) <= 2 and all(one <= 20 for one in large)
        shares += [Fraction(*large)] if len(large) == 2 else []
        if not plain or not all(isinstance(part, _COMPUTED) for part in condition.walk()):
            return None
        places = self._places(condition)
        if isinstance(function, exp.Avg) and places == [sorted({(n + 1) // 2, n // 2 + 1}) for n in range(1, _MOST + 1)]:
            return None if ties else exp.Median(this=function.this.copy())
        of_end = isinstance(function, exp.Min | exp.Max) and (not ties or isinstance(function, exp.Min))
        end = -1 if isinstance(function, exp.Max) else 0
        if ties and not all(of and of == list(range(of[0], n + 1)) for n, of in enumerate(places, 1)):
            return None
        if not all(len(of) == 1 or (of and of_end) for of in places):
            return None
        for share in (*(share for share in shares if 0 < share < 1), Fraction(1, 2)):
            if [of[end] for of in places] == [-(-n * share // 1) for n in range(1, _MOST + 1)]:
                return exp.PercentileDisc(this=function.this.copy(), expression=exp.Literal.number(str(float(share))))
        return None

    def _place(self, window: exp.Window, value: exp.Expr) -> exp.Expr | None:
        """A window in the order of a value as an expression of the place of a row, from 1, and of the number of rows."""
        if not self._is_within(window):
            return None
        place, total = exp.column(_PLACE), exp.column(_TOTAL)
        terms = terms_of_order(window)
        if isinstance(window.this, exp.Count) and isinstance(window.this.this, exp.Star) and not terms:
            return total
        if len(terms) != 1 or terms[0].this != value or not isinstance(window.this, exp.RowNumber | exp.CumeDist):
            return None
        if isinstance(window.this, exp.CumeDist):
            return None if terms[0].args.get("desc") else exp.paren(exp.Div(this=place, expression=total))
        return exp.paren(total + 1 - place) if terms[0].args.get("desc") else place

    def _places(self, condition: exp.Expr) -> list[list[int]]:
        """The places that a condition chooses of one row, of two, and so on."""
        numbers = exp.select("*").from_(f"range(1, {_MOST + 1}) AS n({_TOTAL}), range(1, {_MOST + 1}) AS r({_PLACE})")
        chosen = numbers.where(f"{_PLACE} <= {_TOTAL}").where(exp.paren(condition)).order_by(_TOTAL, _PLACE)
        places: list[list[int]] = [[] for _ in range(_MOST)]
        for total, place in self.originals.analyst.rows(chosen):
            places[total - 1].append(place)
        return places

    def _is_within(self, window: exp.Window) -> bool:
        """Whether a window numbers the rows of each group of the SELECT."""
        by = {bare(part) for part in window.args.get("partition_by") or ()}
        return by == {*self._groups()} and not any(window.args.get(key) for key in ("spec", "alias"))

    def _groups(self) -> list[exp.Expr | None]:
        """The grouped expressions of the SELECT, as those of the rows that are numbered; None for others."""
        group = self.select.args.get("group")
        keys = [] if group is None else [resolved(key, self.select) for key in group.expressions]
        return [self._condition(key) for key in keys]

    def _value(self, node: exp.Expr) -> exp.Expr | None:
        """What a column of the rows is; None for anything else."""
        mine = isinstance(node, exp.Column) and lowered(node.table) in ("", self.alias)
        return self.values.get(lowered(node.name)) if mine else None

    def _condition(self, node: exp.Expr) -> exp.Expr | None:
        """An expression over the rows, with what their columns are; None if it names others."""
        made = exp.paren(node.copy())
        for column in list(made.find_all(exp.Column)):
            value = self._value(column)
            if value is None:
                return None
            column.replace(value.copy())
        return bare(made)

    def _shown(self, value: exp.Expr) -> exp.Expr:
        """The column of the rows that is an expression, which they get if they lack it."""
        names = [name for name, shown in self.values.items() if shown == value]
        name = names[0] if names else f"_numbered{len(self.inner.expressions)}"
        if not names:
            self.inner.append("expressions", exp.alias_(value.copy(), name, quoted=True))
        return exp.column(name, quoted=True)


_PARTS = {"expressions", "from_", "joins", "with_"}
_EVERY = exp.Count(this=exp.Star(), big_int=True)


@rule(exp.Avg, (exp.Pow, exp.Mul))
def with_variances(select: exp.Select, originals: Originals) -> None:
    """A query with variances in place of averages of squared distances from the mean of the same rows."""
    clause, joins = select.args.get("from_"), select.args.get("joins") or []
    plain = all(join.kind in ("", "CROSS") and not (join.side or join.args.get("on")) for join in joins)
    if clause is not None and plain and clauses_of(select) <= _PARTS:
        means = {name: of for join in joins for name, of in _means(join.this, clause.this).items()}
        _Deviations(select, clause.this, means).write(originals.present)


@dataclass(frozen=True)
class _Deviations:
    """A SELECT without groups over rows and their means.

    Attributes:
        select: the SELECT, which is changed.
        source: the source of the rows.
        means: the column of the rows that each column of the other sources is the mean of, in lower case.
    """

    select: exp.Select
    source: exp.Expr
    means: Mapping[str, str]

    def write(self, present: Present) -> None:
        """Write variances, and leave out sources that gave means for these alone."""
        for node in [n for n in self.select.find_all(exp.Avg, exp.Div) if n.parent_select is self.select]:
            squares = _averaged(node)
            value = None if squares is None else self._deviating(squares)
            if value is not None and (isinstance(node, exp.Avg) or is_present(value, self.select, present)):
                node.replace(exp.VariancePop(this=value.copy()))
        used = {(lowered(c.table), lowered(c.name)) for e in self.select.expressions for c in e.find_all(exp.Column)}
        kept = [join for join in self.select.args.get("joins") or [] if not _is_unused(join.this, self.source, used)]
        self.select.set("joins", kept)

    def _deviating(self, squares: exp.Expr) -> exp.Column | None:
        """The column of which an expression is the squared distance from the mean; None for others."""
        squared = isinstance(squares, exp.Pow) and squares.expression == exp.convert(2)
        squared = squared or (isinstance(squares, exp.Mul) and bare(squares.this) == bare(squares.expression))
        distance = bare(squares.this) if squared else None
        for value, mean in both_ways(distance, exp.Sub):
            own = isinstance(value, exp.Column) and lowered(value.table) in ("", lowered(self.source.alias_or_name))
            if isinstance(value, exp.Column) and own and self._mean(mean) == lowered(value.name):
                return value
        return None

    def _mean(self, node: exp.Expr) -> str | None:
        """The column of the rows that an expression is the mean of."""
        if isinstance(node, exp.Subquery):
            return next(iter(_means(node, self.source).values()), None)
        beside = isinstance(node, exp.Column) and (
            not node.table or lowered(node.table) != lowered(self.source.alias_or_name)
        )
        return self.means.get(lowered(node.name)) if beside else None


def _averaged(node: exp.Expr) -> exp.Expr | None:
    """What is averaged over all rows; None for other quotients, such as by one row less, which may be 0 / 0."""
    if isinstance(node, exp.Avg):
        return bare(node.this)
    call = bare(node.this)
    return bare(call.this) if isinstance(call, exp.Sum) and bare(node.args["expression"]) == _EVERY else None


def _means(place: exp.Expr, source: exp.Expr) -> dict[str, str]:
    """The columns of a source of one row that are means of a column of all rows of another source, and that column."""
    query = query_of(place)
    plain = isinstance(query, exp.Select) and clauses_of(query) == {"expressions", "from_"}
    if query is None or not plain or not are_same(query.args["from_"].this, source):
        return {}
    of = {name: value.this for name, value in shown_by_name(query).items() if isinstance(value, exp.Avg)}
    return {name: lowered(column.name) for name, column in of.items() if isinstance(column, exp.Column)}


def _is_unused(place: exp.Expr, source: exp.Expr, used: set[tuple[str, str]]) -> bool:
    """Whether a source of one row of means is named nowhere."""
    names, alias = _means(place, source), lowered(place.alias_or_name)
    query = query_of(place)
    alone = isinstance(query, exp.Select) and len(names) == len(query.expressions)
    return alone and not any(table == alias or (not table and name in names) for table, name in used)
