"""What names mean in an expression over the rows of persons, and functions of the list of a person's items."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from anondb.answers.persons.conditions import LISTED_ITEMS
from anondb.answers.persons.domains import wrapped
from anondb.answers.persons.estimated import COMPARED, by_estimates
from anondb.answers.persons.numbers import Numbers
from anondb.answers.persons.quantities import certain
from anondb.answers.persons.terms import Id, Item, Listing, Number, Refused, Scope, Truth, Values
from anondb.answers.ranged.clauses import set_children
from anondb.errors import InputError
from anondb.query.item_tests import ItemTest, Labels, item_all, item_not
from anondb.query.parsing import bare, lowered, operands
from anondb.query.predicates import ALWAYS, NEVER, Condition, Weights, at_least, both, negate
from anondb.query.refusals import unsupported

_OF_LISTS: Mapping[type[exp.Expr], str] = {
    exp.ArrayContains: "one",
    exp.ArrayOverlaps: "any",
    exp.ArrayContainsAll: "all",
    exp.ArrayContainedBy: "inside",
    exp.Contains: "one",
    exp.Length: "len",
    exp.ArraySize: "len",
}
_CALLS = {"list_has_all": "all", "array_has_all": "all", "list_has_any": "any", "array_has_any": "any", "len": "len"}
_INTERSECTIONS = ("list_intersect", "array_intersect")
_TURNED = {"any": "any", "all": "inside", "inside": "all"}  # what a function says if the list is its second argument


class Names(Numbers):
    """Resolves names."""

    def resolved(self, node: exp.Expr, scope: Scope, *, quiet: bool = False) -> exp.Expr:
        """An expression over atoms; with ``quiet`` one that no rule reads is refused where it is used.

        Raises:
            InputError: ``unsupported_query``.
        """
        copy = node.copy()
        return self.quietly(lambda part: self._visit(part, scope), copy) if quiet else self._visit(copy, scope)

    def quietly(self, read: Callable[[exp.Expr], exp.Expr], node: exp.Expr) -> exp.Expr:
        """An expression over atoms; one that no rule reads is refused where it is used."""
        try:
            return read(node)
        except InputError as error:
            if error.code != "unsupported_query":
                raise
            return self.column(refused(error))

    def _visit(self, node: exp.Expr, scope: Scope) -> exp.Expr:
        if isinstance(node, exp.Column):
            return self._named(node, scope)
        if isinstance(node, exp.And | exp.Or):
            parts = [self._visit(part, scope) for part in operands(node)]
            return (exp.and_ if isinstance(node, exp.And) else exp.or_)(*parts, copy=False)
        special = self._special(node, scope)
        if special is not None:
            return special
        set_children(node, lambda part: self._visit(part, scope))
        return self.plain(node)

    def _named(self, node: exp.Column, scope: Scope) -> exp.Expr:
        """What a name stands for."""
        if isinstance(node.this, exp.Star):
            raise unsupported("table.* in an expression")
        if not node.table and node.name in self.atoms and node.this.args.get("quoted"):
            return node
        table, name = lowered(node.table), lowered(node.name)
        for here in scope.around():
            columns = [c for c in here.rows.columns if c.name == name and (c.alias == table if table else not c.merged)]
            if columns:
                return wrapped(columns[0].value)
            if here is scope and not table and name in scope.aliases:
                inner = replace(scope, aliases={k: v for k, v in scope.aliases.items() if k != name})
                return wrapped(self._visit(scope.aliases[name].copy(), inner))
        raise unsupported(f"the column {node.name!r} in this place")

    @abstractmethod
    def _special(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """Subqueries, and functions of lists of items; None for other expressions."""

    def plain(self, node: exp.Expr) -> exp.Expr:
        """An expression over atoms: COALESCE as ``_filled`` has it, NULLIF of numbers of items as CASE, a comparison with an
        estimate as a condition."""
        if isinstance(node, COMPARED) and (compared := by_estimates(node, self)) is not None:
            return self.column(compared)
        if isinstance(node, exp.Coalesce):
            return self._filled(node)
        if isinstance(node, exp.Nullif) and any(isinstance(atom, Number) for atom in self.atoms_of(node)):
            equal = exp.EQ(this=exp.paren(node.this), expression=exp.paren(node.expression))
            return exp.paren(exp.Case(ifs=[exp.If(this=equal, true=exp.null())], default=node.this.copy()))
        return node

    def _filled(self, node: exp.Coalesce) -> exp.Expr:
        """COALESCE over atoms, without the values that it never takes; of a sum and 0 it is the number that is 0 for those
        who have nothing to sum."""
        values = [value for value in (node.this, *node.expressions) if not isinstance(bare(value), exp.Null)]
        if not values or len(values) == 1 or isinstance(self.atom(values[0]), Id):
            return wrapped(values[0] if values else exp.null())
        case = bare(values[0])
        if isinstance(case, exp.Case) and len(case.args["ifs"]) == 1 and isinstance(case.args.get("default"), exp.Null):
            there, total = self.atom(case.args["ifs"][0].this), case.args["ifs"][0].args["true"]
            zero = not self.atoms_of(values[1]) and self.value(values[1]) == 0
            if isinstance(there, Truth) and zero and self._is_zero(total, there.false):
                return wrapped(total)
        return exp.Coalesce(this=values[0], expressions=values[1:])

    def _is_zero(self, total: exp.Expr, met: Condition) -> bool:
        """Whether a sum of numbers of items is 0 for those who meet a condition: they have none of the items that count."""
        sum_ = self.linear(total) if self._is_never_null(total) else None
        if sum_ is None or sum_[1]:
            return False
        for weights in (atom.weights for atom in sum_[0]):
            labels = frozenset(label for label, weight in weights.by_label or () if weight)
            test = weights.test if weights.by_label is None else Labels(labels)
            if weights.others != (0.0, 0.0) or both(met, at_least(1, test)) != NEVER:
                return False
        return True

    # ---------------------------------------------------------------- lists

    def _list_of(self, tree: exp.Expr, scope: Scope) -> Listing | None:
        """The list of a person's items that an expression is; None for others."""
        atom = self.atom(self.resolved(tree, scope, quiet=True))
        return atom if isinstance(atom, Listing) else None

    def _list_function(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """A function of the list of a person's items; None for other expressions."""
        kind, this, other = "", None, None
        for read in (self._part_of_list, self._sorted_list, self._is_list):
            if (tree := read(node, scope)) is not None:
                return tree
        if isinstance(node, tuple(_OF_LISTS)):
            kind = next(kind for of, kind in _OF_LISTS.items() if isinstance(node, of))
            this, other = node.this, node.args.get("expression")
        elif isinstance(node, exp.Anonymous) and lowered(node.name) in _CALLS:
            kind, this = _CALLS[lowered(node.name)], node.expressions[0]
            other = node.expressions[1] if len(node.expressions) > 1 else None
        elif isinstance(node, exp.EQ) and isinstance(node.expression, exp.Any):
            kind, this, other = "one", node.expression.this, node.this
        elif isinstance(node, exp.In) and node.args.get("field") is not None:
            kind, this, other = "one", node.args["field"], node.this
        elif isinstance(node, exp.NEQ) and (listed := _all_of(node.expression)) is not None:
            inner = exp.EQ(this=node.this, expression=exp.Any(this=exp.paren(listed)))
            return exp.Not(this=exp.paren(self._visit(inner, scope)))
        if not kind or this is None:
            return None
        listing = self.atom(self.resolved(this, scope, quiet=True))
        if isinstance(listing, Values) and other is not None:
            return self._has_values(listing, kind, self.resolved(other, scope).unnest())
        if not isinstance(listing, Listing) and kind in _TURNED and other is not None:
            turned = self._list_of(other, scope)
            if turned is not None:
                kind, listing, other = _TURNED[kind], turned, this
        if not isinstance(listing, Listing):
            if kind == "one" and isinstance(node, exp.EQ) and isinstance(this.unnest(), exp.Array):
                return self._visit(exp.In(this=node.this, expressions=[e.copy() for e in this.unnest().expressions]), scope)
            return None
        rows = isinstance(node, exp.EQ)  # of the list, of which ANY reads none if it is NULL
        there = ALWAYS if rows else _is_there(listing)
        if kind == "len":
            if self.releases.bags:
                raise unsupported("the length of a list, which may repeat an item", "Ask which items it has.")
            return self.column(Number(Weights(listing.test), there))
        assert other is not None
        labels = self._texts(self.resolved(other, scope), one=kind == "one")
        if kind == "all":
            met = both(*(_in_list(listing, Labels(frozenset({label}))) for label in labels))
        elif kind == "inside":
            met = negate(_in_list(listing, item_not(Labels(labels))))
        else:
            met = _in_list(listing, Labels(labels))
        true = both(met, there) if kind == "inside" or not labels else met
        return self.column(Truth(true, both(negate(met), there)))

    def _has_values(self, listing: Values, kind: str, other: exp.Expr) -> exp.Expr:
        """Whether a list of texts that are looked up for items has some constants: an item with this text."""
        evaluated = self.evaluated(listing.value)
        asked = [other] if kind == "one" else other.expressions if isinstance(other, exp.Array) else None
        texts = None if asked is None else [one.unnest() for one in asked]
        inside = self.passing(listing.test, frozenset(evaluated.values))
        others = [evaluated.other] if self.releases.suppressed and self._may_pass(listing.test) else []
        values = [*(evaluated.values[item] for item in inside), *others]  # of which a NULL may make a comparison unknown
        plain = all(isinstance(value, str) for value in values)
        if (
            kind == "inside"
            or texts is None
            or not plain
            or not all(isinstance(t, exp.Literal) and t.is_string for t in texts)
        ):
            raise unsupported("a list of values of items compared with others than texts", "Name the items.")
        wanted = [{t.name} for t in texts] if kind == "all" else [{t.name for t in texts}]
        tests = [self.test(listing.value, lambda value, these=these: value in these) for these in wanted]  # type: ignore[misc]
        met = both(*(at_least(1, item_all(listing.test, test)) for test in tests))
        return self.column(certain(met))

    def _part_of_list(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """The list of those items of a person that are in another list, or that a condition chooses; None for others."""
        named = isinstance(node, exp.Anonymous) and lowered(node.name) in _INTERSECTIONS and len(node.expressions) == 2
        chosen = isinstance(node, exp.ArrayFilter) and isinstance(node.expression, exp.Lambda)
        if not (named or chosen):
            return None
        for this, other in [node.expressions, node.expressions[::-1]] if named else [(node.this, node.expression)]:
            listing = self._list_of(this, scope)
            if listing is None:
                continue
            if named:
                labels = self._texts(self.resolved(other, scope))
                return self.column(replace(listing, test=item_all(listing.test, Labels(labels))))
            if len(other.expressions) == 1 and not other.this.find(exp.Query, exp.Lambda):
                body, name = exp.paren(other.this.copy()), lowered(other.expressions[0].name)
                for each in [i for i in body.find_all(exp.Identifier) if not isinstance(i.parent, exp.Column)]:
                    if lowered(each.name) == name:
                        each.replace(self.column(Item(-1)))
                tree = self.resolved(body, scope)
                if not all(isinstance(atom, Item) for atom in self.atoms_of(tree)):
                    return None
                test = self.test(tree, lambda value: value is not None and bool(value))
                return self.column(replace(listing, test=item_all(listing.test, test)))
        return None

    def _sorted_list(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """The list of a person's items in order, or with each item once, as it is; None for other expressions."""
        if not isinstance(node, exp.ArraySort | exp.ArrayDistinct) or self.releases.bags:
            return None
        listing = self._list_of(node.this, scope)
        if listing is None:
            return None
        falls = isinstance(node, exp.ArraySort) and node.args.get("asc") == exp.false()
        step = 0 if self.releases.typed or isinstance(node, exp.ArrayDistinct) else -1 if falls else 1
        return self.column(replace(listing, step=step))

    def _is_list(self, node: exp.Expr, scope: Scope) -> exp.Expr | None:
        """Whether the ordered list of a person's items is a list of constants; None for other expressions."""
        if not isinstance(node, exp.EQ | exp.NEQ):
            return None
        for this, other in ((node.this, node.expression), (node.expression, node.this)):
            listing = self._list_of(this, scope) if isinstance(other.unnest(), exp.Array) else None
            if listing is None or not listing.step:
                continue
            labels = self._texts(other)
            met = both(
                *(_in_list(listing, Labels(frozenset({label}))) for label in labels),
                negate(_in_list(listing, item_not(Labels(labels)))),
            )
            met = met if [e.unnest().name for e in other.unnest().expressions] == sorted(labels)[:: listing.step] else NEVER
            equal = Truth(both(met, _is_there(listing)), both(negate(met), _is_there(listing)))
            return self.column(equal if isinstance(node, exp.EQ) else equal.opposite)
        return None

    def _texts(self, tree: exp.Expr, *, one: bool = False) -> frozenset[str]:
        """The items of a list of constants, or the item that a constant is if it is ``one``."""
        tree = tree.unnest()
        values = [tree] if one else tree.expressions if isinstance(tree, exp.Array) else None
        if self.releases.typed and values and not any(self.atoms_of(v) for v in values):
            kind = exp.DataType.build(self.releases.type, dialect="duckdb")
            texts = [exp.cast(exp.TryCast(this=exp.paren(v.copy()), to=kind.copy()), "VARCHAR") for v in values]
            labels = frozenset(t for t in self.releases.rows(exp.select(*texts))[0] if t is not None)
        else:
            labels = _texts_of(values)
        self.written |= labels
        return labels


def _texts_of(values: Sequence[exp.Expr] | None) -> frozenset[str]:
    """The texts that literals are; None is no list of values."""
    literals = None if values is None else [value.unnest() for value in values]
    if literals is None or not all(isinstance(literal, exp.Literal) and literal.is_string for literal in literals):
        raise unsupported("a list of items compared with values that are not texts")
    return frozenset(literal.name for literal in literals)


def _is_there(listing: Listing) -> Condition:
    """The condition that a list is not NULL."""
    return LISTED_ITEMS if listing.nullable else ALWAYS


def _in_list(listing: Listing, test: ItemTest) -> Condition:
    """The condition that a list has an item that passes a test."""
    return at_least(1, item_all(listing.test, test))


def _all_of(node: exp.Expr) -> exp.Expr | None:
    """The list of ALL(list); None for other expressions."""
    if isinstance(node, exp.All):
        inner: exp.Expr = node.this
        return inner.unnest()
    named = isinstance(node, exp.Anonymous) and lowered(node.name) == "all" and len(node.expressions) == 1
    listed: exp.Expr | None = node.expressions[0].unnest() if named else None
    return listed


def refused(error: InputError) -> Refused:
    """The column that no rule reads, by the error of its reading."""
    construct = str(error).removeprefix("Not answered from a release: ").partition(". ")[0].rstrip(".")
    return Refused(construct, error.hint or "")
