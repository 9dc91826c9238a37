"""Read the conditions of a query: WHERE, ON, HAVING and FILTER, down to columns and literals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import count

from sqlglot import exp

from anondb.query.flags import CONDITIONS, as_counts, flag, is_settled, is_truth, is_whole
from anondb.query.merged import VALUES
from anondb.query.parsing import lowered
from anondb.query.predicates import (
    ALWAYS,
    ANY_ITEM,
    NEVER,
    NO_ITEM,
    Condition,
    Constant,
    ItemTest,
    Labels,
    OnSum,
    Pattern,
    Weights,
    at_least,
    both,
    close,
    either,
    item_all,
    item_not,
    listed,
    negate,
    on_item,
    settled,
    split,
)
from anondb.query.refusals import name_of, only, unsupported
from anondb.query.relations import (
    AttributeTerm,
    ChangedItem,
    Column,
    FlagTerm,
    Group,
    IdTerm,
    IntegerTerm,
    ItemsTerm,
    ItemTerm,
    ListTerm,
    NumberTerm,
    OptionalTerm,
    Relation,
    Scope,
    SumTerm,
    Term,
    TextTerm,
    TruthTerm,
    bare,
    operands,
    whole,
)
from anondb.query.values import NULL_LIST, UNKNOWN_LIST, Attribute, on_value

LONG, LIST = "rows", "lists"
"""The layouts of the original, as the manifest names them."""
WEIGHT = "weight of an item"
"""The name of a function of an item and of the number of a mapping in ``ConditionReader.weights``; no text parses as it."""
_SIGNS: Mapping[type[exp.Expr], str] = {exp.NEQ: "<>", exp.GT: ">", exp.GTE: ">=", exp.LT: "<", exp.LTE: "<="}


def _regular(node: exp.Expr) -> str:
    """The kind of pattern of a condition by a regular expression."""
    only(node, "this", "expression", "flag")
    kinds: dict[type[exp.Expr], str] = {exp.RegexpFullMatch: "regexp_full_match", exp.SimilarTo: "similar_to"}
    kind = kinds.get(type(node), "regexp_matches")
    flag = node.args.get("flag")
    if flag is None or (flag.name == "c" and flag.is_string):
        return kind
    if kind != "regexp_matches" or flag.name != "i" or not flag.is_string:
        raise unsupported("other options of a regular expression than 'i' and 'c'", "Write them into it: (?is)...")
    return "regexp_imatches"


def _flag(term: FlagTerm, of_none: bool, of_one: bool) -> Condition:
    """The condition on a number that is 0 or 1, from its truth for 0 and for 1."""
    if of_none == of_one:
        return Constant(of_one)
    return term.condition if of_one else negate(term.condition)


def _is_weight(node: exp.Expr) -> bool:
    """Whether an expression is a number that depends on the item."""
    return isinstance(node, exp.Anonymous) and bool(node.name == WEIGHT)


def _weight_of(node: exp.Expr) -> exp.Expr | None:
    """The number of each item under an aggregate of such numbers; None for other aggregates."""
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct) and len(node.this.expressions) == 1:
        weight = bare(node.this.expressions[0])
    elif isinstance(node, exp.Sum | exp.Max | exp.Min):
        only(node, "this")
        weight = bare(node.this)
    else:
        return None
    return weight if _is_weight(weight) else None


def _more(one: NumberTerm, other: NumberTerm, *, open: bool) -> Condition:
    """The condition that a person has more items that pass one test than that pass another; or, unless ``open``, as many.

    Raises:
        InputError: ``unsupported_query`` where the items that pass cannot be listed.
    """
    added, taken = (listed(term.test) for term in (one, other))
    if added is None or taken is None:
        raise unsupported("a comparison of two counts of any items", "Name the items that each of them counts.")
    weights = [(label, 1.0) for label in added - taken] + [(label, -1.0) for label in taken - added]
    return OnSum(Weights(ANY_ITEM, tuple(sorted(weights))), 0.0, open)


class ConditionReader(ABC):
    """Reads conditions and terms; the subclass's ``_relation`` reads subqueries."""

    def __init__(
        self, table: str, id_column: str, item_column: str, form: str, attributes: Sequence[Attribute] | None = None
    ) -> None:
        self.table, self.id_column, self.item_column = lowered(table), lowered(id_column), lowered(item_column)
        self.form, self.attributes = form, attributes
        self.labels: set[str] = set()
        self.numbers: set[str] = set()
        self.counts_rows = False
        self.weights: Mapping[int, Weights] = {}
        self.records: tuple[str, ...] = ("records",)
        self._fresh = count(1)
        self._same: dict[int, int] = {}

    # ---------------------------------------------------------------- persons

    def _root(self, person: int) -> int:
        while person in self._same:
            person = self._same[person]
        return person

    def _unite(self, left: int, right: int) -> None:
        left, right = self._root(left), self._root(right)
        if left != right:
            self._same[left] = right

    @abstractmethod
    def _relation(
        self, node: exp.Expr, env: Mapping[str, Relation], outer: Scope | None, *, exists: bool = False
    ) -> Relation:
        """Read a subquery as a relation."""

    # ---------------------------------------------------------------- conditions

    def _top(self, node: exp.Expr, scope: Scope) -> Condition:
        """Read a condition; equalities of ids that are joined only by AND unite two sources to one person."""
        node = bare(node)
        if isinstance(node, exp.And):
            return both(*(self._top(part, scope) for part in operands(node)))
        if isinstance(node, exp.EQ):
            one, two = bare(node.left), bare(node.right)
            if isinstance(one, exp.Column) and isinstance(two, exp.Column):
                left, right = self._column(one, scope), self._column(two, scope)
                if isinstance(left, IdTerm) and isinstance(right, IdTerm):
                    self._unite(left.person, right.person)
                    return ALWAYS
        if isinstance(node, exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
            sides = [bare(node.args[key]) for key in ("this", "expression")]
            terms = [self._column(side, scope) for side in sides if isinstance(side, exp.Column)]
            rows = [term.row for term in terms if isinstance(term, ItemTerm)]
            if len(rows) == 2 and rows[0] != rows[1]:
                scope.compared.append((_SIGNS[type(node)], rows[0], rows[1]))
                return ALWAYS
        return self._condition(node, scope)

    def _condition(self, node: exp.Expr, scope: Scope) -> Condition:
        """Read any condition."""
        node = bare(node)
        if isinstance(node, exp.And):
            return both(*(self._condition(p, scope) for p in operands(node)))
        if isinstance(node, exp.Or):
            return either(*(self._condition(p, scope) for p in operands(node)))
        if isinstance(node, exp.Not):
            return negate(self._condition(node.this, scope))
        if isinstance(node, exp.Boolean):
            return Constant(bool(node.this))
        if isinstance(node, exp.Exists):
            return self._exists(node, scope)
        if (value := self._on_value(node, scope)) is not None:
            return value
        if isinstance(node, exp.In):
            return self._in(node, scope)
        if isinstance(node, exp.Is):
            return self._is(node, scope)
        if isinstance(node, exp.EQ | exp.NEQ | exp.NullSafeEQ | exp.NullSafeNEQ):
            same = self._on_sum(node, scope) or self._equal(node.left, node.right, scope, isinstance(node, exp.NEQ))
            if isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ) and settled(same) != same:
                raise unsupported("IS DISTINCT FROM of conditions that may be unknown", "Use coalesce(..., false).")
            return negate(same) if isinstance(node, exp.NEQ | exp.NullSafeNEQ) else same
        if isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE):
            return self._compare(node, scope)
        if (read := self._matched(node, scope)) is not None:
            return read
        if (read := self._lists(node, scope)) is not None:
            return read
        if isinstance(node, exp.Column | exp.LogicalOr | exp.LogicalAnd | exp.Max | exp.Min | exp.Case | exp.If):
            term = self._term(node, scope)
            if isinstance(term, TruthTerm | FlagTerm):
                return term.condition
            raise unsupported("a column used as a condition" if isinstance(node, exp.Column) else name_of(node))
        if is_settled(node):
            inner, otherwise = self._condition(node.this, scope), bool(node.expressions[0].this)
            return negate(settled(negate(inner))) if otherwise else settled(inner)
        if isinstance(node, exp.Between):
            only(node, "this", "low", "high")
            ends = ((exp.GTE, node.args["low"]), (exp.LTE, node.args["high"]))
            return both(*(self._compare(kind(this=node.this, expression=end), scope) for kind, end in ends))
        if isinstance(node, exp.Xor | exp.BitwiseXor):
            raise unsupported("XOR")
        if isinstance(node, exp.Select | exp.Subquery):
            raise unsupported("a scalar subquery")
        raise unsupported(name_of(node))

    def _on_value(self, node: exp.Expr, scope: Scope) -> Condition | None:
        """Read a comparison with a relational attribute; None for other conditions."""
        kinds = exp.EQ | exp.NEQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.NullSafeEQ | exp.NullSafeNEQ
        if not self.attributes or not isinstance(node, kinds | exp.Between | exp.In | exp.Is):
            return None
        for side in ("this", "expression"):
            column = node.args.get(side)
            column = bare(column) if column is not None else None
            if isinstance(column, exp.Column):
                term = self._column(column, scope)
                if isinstance(term, AttributeTerm):
                    return on_value(node, term.attribute, left=side == "this")
        return None

    def _count_people(self, scope: Scope | None) -> int:
        """The number of persons that the sources of a scope and its outer scopes may belong to."""
        people = set()
        while scope is not None:
            people |= {self._root(p) for p in scope.people}
            scope = scope.outer
        return len(people)

    def _nested(self, node: exp.Expr, scope: Scope, *, exists: bool = False) -> Relation:
        """Read a subquery of a condition: its equalities of ids hold only inside, so it must not unite outer sources."""
        before = self._count_people(scope)
        relation = self._relation(node, scope.env, scope, exists=exists)
        if self._count_people(scope) != before:
            raise unsupported("a subquery that compares ids of the outer query with each other")
        return relation

    def _exists(self, node: exp.Exists, scope: Scope) -> Condition:
        only(node, "this")
        relation = self._nested(node.this, scope, exists=True)
        if not relation.linked:
            raise unsupported("EXISTS without the outer id", "Compare the id with the one of the outer query.")
        return close(relation.condition, relation.rows)

    def _subquery_of_ids(self, node: exp.Expr, scope: Scope, what: str) -> Condition:
        relation = self._nested(node, scope)
        if len(relation.columns) != 1 or not isinstance(relation.columns[0][1], IdTerm):
            raise unsupported(f"{what} of something else than ids")
        return close(relation.condition, relation.rows)

    def _in(self, node: exp.In, scope: Scope) -> Condition:
        only(node, "this", "expressions", "query", "field")
        if isinstance(bare(node.this), exp.Tuple):
            raise unsupported("IN with several columns")
        query, field_node = node.args.get("query"), node.args.get("field")
        left = self._term(node.this, scope)
        if query is not None:
            if isinstance(left, IdTerm):
                return self._subquery_of_ids(query, scope, "IN with a subquery")
            raise unsupported("IN with a subquery on another column than the id")
        if field_node is not None:
            lists = self._term(field_node, scope)
            if isinstance(left, TextTerm | IntegerTerm) and isinstance(lists, ItemsTerm):
                return self._contains(lists, left)
            if isinstance(left, TextTerm) and isinstance(lists, ItemTerm):
                return on_item(lists.row, Pattern("contains", left.label))  # DuckDB's meaning of IN on a text
            raise unsupported("IN with a column")
        labels = [self._term(e, scope) for e in node.expressions]
        if isinstance(left, IdTerm):
            raise unsupported("a condition on the values of the id column", "A release has no original ids.")
        if isinstance(left, ChangedItem):
            return either(*(self._changed(left, "=", label) for label in labels))
        if not isinstance(left, ItemTerm | ItemsTerm):
            raise unsupported("IN on another column than the item")
        if isinstance(left, ItemsTerm):
            raise self._no_value(labels)
        return on_item(left.row, Labels(frozenset(self._label(x) for x in labels)))

    def _is(self, node: exp.Is, scope: Scope) -> Condition:
        only(node, "this", "expression")
        right = bare(node.expression)
        if isinstance(right, exp.Boolean):
            inner = self._condition(node.this, scope)
            return settled(inner if right.this else negate(inner))
        if not isinstance(right, exp.Null):
            raise unsupported("IS with something else than NULL, TRUE or FALSE")
        term = self._term(node.this, scope)
        if isinstance(term, OptionalTerm):
            return negate(term.present)
        if isinstance(term, AttributeTerm):
            raise unsupported("a relational attribute in a group")
        if isinstance(term, ItemsTerm) and term.nullable:
            return NULL_LIST
        return NEVER  # ids and items of a release's original are never NULL

    def _equal(self, left_node: exp.Expr, right_node: exp.Expr, scope: Scope, differs: bool) -> Condition:
        """Read ``left = right``; with ``differs`` the caller negates the result: ``<> ALL`` is the negation of ``= ANY``."""
        left_node, right_node = bare(left_node), bare(right_node)
        if isinstance(left_node, exp.Any):
            left_node, right_node = right_node, left_node
        many = None
        if isinstance(right_node, exp.All if differs else exp.Any):
            many = bare(right_node.this)
        elif differs and isinstance(right_node, exp.Anonymous) and lowered(right_node.name) == "all":
            many = bare(right_node.expressions[0])
        if many is not None:
            return self._equal_any(self._term(left_node, scope), many, scope)
        if isinstance(left_node, exp.Subquery) or isinstance(right_node, exp.Subquery):
            raise unsupported("a scalar subquery")
        if isinstance(left_node, exp.Boolean):
            left_node, right_node = right_node, left_node
        if isinstance(right_node, exp.Boolean):
            inner = self._condition(left_node, scope)
            return inner if right_node.this else negate(inner)
        left, right = self._term(left_node, scope), self._term(right_node, scope)
        if isinstance(left, TextTerm | IntegerTerm) and not isinstance(right, TextTerm | IntegerTerm):
            left, right = right, left
        if isinstance(left, IdTerm) and isinstance(right, IdTerm):
            if self._root(left.person) == self._root(right.person):
                return ALWAYS
            raise unsupported("a comparison of ids other than = beside AND")
        if isinstance(left, IdTerm):
            raise unsupported("a condition on the values of the id column", "A release has no original ids.")
        if isinstance(left, ChangedItem):
            return self._changed(left, "=", right)
        if isinstance(left, ItemTerm) and isinstance(right, TextTerm | IntegerTerm):
            return on_item(left.row, Labels(frozenset({self._label(right)})))
        if isinstance(left, ItemTerm) and isinstance(right, ItemTerm):
            if left == right:
                return ALWAYS
            raise unsupported("a comparison of the items of two copies")
        if isinstance(left, ItemsTerm) and isinstance(right, TextTerm | IntegerTerm):
            raise self._no_value([right])
        if isinstance(left, NumberTerm) and isinstance(right, IntegerTerm):
            return both(at_least(right.value, left.test), negate(at_least(right.value + 1, left.test)))
        if isinstance(left, FlagTerm) and isinstance(right, IntegerTerm):
            return _flag(left, right.value == 0, right.value == 1)
        if isinstance(left, FlagTerm | TruthTerm) and type(left) is type(right):
            one, two = left.condition, right.condition
            return either(both(one, two), both(negate(one), negate(two)))
        if isinstance(left, NumberTerm) and isinstance(right, NumberTerm):
            return both(_more(left, right, open=False), negate(_more(left, right, open=True)))
        if isinstance(left, TextTerm | IntegerTerm) and type(left) is type(right):
            return Constant(left == right)
        raise unsupported("a comparison of these operands")

    def _equal_any(self, left: Term, many: exp.Expr, scope: Scope) -> Condition:
        """Read ``left = ANY (many)``."""
        if isinstance(many, exp.Subquery | exp.Select | exp.SetOperation):
            if isinstance(left, IdTerm):
                return self._subquery_of_ids(many, scope, "ANY with a subquery")
            raise unsupported("ANY with a subquery on another column than the id")
        right = self._term(many, scope)
        if isinstance(left, ItemTerm) and isinstance(right, ListTerm):
            return on_item(left.row, Labels(right.labels))
        if isinstance(left, ItemsTerm) and isinstance(right, ListTerm):
            raise self._wrong_form()
        if isinstance(left, TextTerm | IntegerTerm) and isinstance(right, ItemsTerm):
            return self._has(right, self._label(left))  # of NULL, ANY is false and ALL is true
        if isinstance(left, TextTerm | IntegerTerm) and isinstance(right, ItemTerm):
            raise self._wrong_form()
        raise unsupported("ANY with these operands")

    def _compare(self, node: exp.Expr, scope: Scope) -> Condition:
        kind: type[exp.Expr] = type(node)
        if (of_sum := self._on_sum(node, scope)) is not None:
            return of_sum
        left, right = self._term(node.args["this"], scope), self._term(node.args["expression"], scope)
        flipped: dict[type[exp.Expr], type[exp.Expr]] = {
            exp.GT: exp.LT,
            exp.LT: exp.GT,
            exp.GTE: exp.LTE,
            exp.LTE: exp.GTE,
        }
        if isinstance(left, IntegerTerm) and isinstance(right, NumberTerm | FlagTerm):
            left, right, kind = right, left, flipped[kind]
        if isinstance(left, FlagTerm) and isinstance(right, IntegerTerm):
            least = right.value + (1 if kind in (exp.GT, exp.LTE) else 0)
            above = kind in (exp.GT, exp.GTE)
            return _flag(left, (least <= 0) == above, (least <= 1) == above)
        if isinstance(left, NumberTerm) and isinstance(right, IntegerTerm):
            least = right.value + (1 if kind in (exp.GT, exp.LTE) else 0)
            reached = at_least(least, left.test)
            return reached if kind in (exp.GT, exp.GTE) else negate(reached)
        if isinstance(left, NumberTerm) and isinstance(right, NumberTerm):
            more = _more(left, right, open=kind in (exp.GT, exp.LTE))
            return more if kind in (exp.GT, exp.GTE) else negate(more)
        if isinstance(left, ItemTerm) and isinstance(right, ItemTerm):
            raise unsupported("a comparison of the items of two copies")
        if isinstance(left, TextTerm) and isinstance(right, ItemTerm | ItemsTerm):
            left, right, kind = right, left, flipped[kind]
        if isinstance(left, ItemTerm) and isinstance(right, TextTerm):
            return on_item(left.row, Pattern(_SIGNS[kind], right.label))
        if isinstance(left, ItemsTerm) and isinstance(right, TextTerm | IntegerTerm):
            raise self._no_value([right])
        raise unsupported(f"{_SIGNS[kind]} on ids, or of items with something else than a text")

    def _on_sum(self, node: exp.Expr, scope: Scope) -> Condition | None:
        """Read a comparison of a sum with a number, as the condition that ``=``, ``>`` and so on state; None for others."""
        sides = [bare(node.args["this"]), bare(node.args["expression"])]
        for place, side in enumerate(sides):
            plain = side.this if isinstance(side, exp.Neg) else side
            other = sides[1 - place]
            call = other.this if isinstance(other, exp.Filter) else other
            summed = isinstance(other, exp.Column) or _weight_of(call) is not None
            if not isinstance(plain, exp.Literal) or plain.is_string or not summed:
                continue
            term = self._term(other, scope)
            if not isinstance(term, SumTerm):
                return None
            number = float(Decimal(plain.name) * term.weights.scale) * (-1 if plain is not side else 1)
            at_least_it, above = (OnSum(term.weights, number, open) for open in (False, True))
            if isinstance(node, exp.EQ | exp.NEQ | exp.NullSafeEQ | exp.NullSafeNEQ):
                return both(at_least_it, negate(above))
            falls = isinstance(node, exp.LT | exp.LTE) == (place == 1)
            if isinstance(node, exp.GTE | exp.LTE):
                return negate(above) if falls else at_least_it
            return negate(at_least_it) if falls else above
        return None

    def _matched(self, node: exp.Expr, scope: Scope) -> Condition | None:
        """Read LIKE, a regular expression or another pattern; None for other conditions."""
        kind, negated = None, False
        if isinstance(node, exp.Like | exp.ILike | exp.Glob):
            kind, negated = node.key, bool(node.args.get("negate"))
            only(node, "this", "expression", "negate")
        elif isinstance(node, exp.StartsWith | exp.EndsWith | exp.Contains):
            only(node, "this", "expression")
            kind = {exp.StartsWith: "starts_with", exp.EndsWith: "ends_with", exp.Contains: "contains"}[type(node)]
        elif isinstance(node, exp.Anonymous) and lowered(node.name) in ("prefix", "suffix"):
            kind = {"prefix": "starts_with", "suffix": "ends_with"}[lowered(node.name)]
        elif isinstance(node, exp.RegexpLike | exp.RegexpFullMatch | exp.SimilarTo):
            kind = _regular(node)
        elif isinstance(node, exp.Escape):
            raise unsupported("ESCAPE")
        if kind is None:
            return None
        sides = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
        if len(sides) != 2:
            raise unsupported(name_of(node))
        left, right = self._term(sides[0], scope), self._term(sides[1], scope)
        if isinstance(left, ItemsTerm):
            if kind == "contains" and isinstance(right, TextTerm | IntegerTerm):
                return self._contains(left, right)
            raise self._wrong_form()
        if isinstance(left, ChangedItem):
            changed = self._changed(left, kind, right)
            return negate(changed) if negated else changed
        if not isinstance(left, ItemTerm) or not isinstance(right, TextTerm):
            raise unsupported(f"{kind.upper()} with other operands than the item column and a text")
        test: ItemTest = Pattern(kind, right.label)
        if kind == "like" and not set(right.label) & set("%_\\"):
            test = Labels(frozenset({self._label(right)}))
        return on_item(left.row, item_not(test) if negated else test)

    def _changed(self, item: ChangedItem, kind: str, text: Term) -> Condition:
        """The condition that a function of the item matches a text."""
        if not isinstance(text, TextTerm):
            raise unsupported(f"{item.change.upper()} of the item compared with something else than a text")
        return on_item(item.row, Pattern(f"{item.change} {kind}", text.label))

    def _lists(self, node: exp.Expr, scope: Scope) -> Condition | None:
        """Read list_contains, list_has_all, list_has_any, or one of their aliases and operators; None for others."""
        kinds: dict[type[exp.Expr], str] = {
            exp.ArrayContains: "one",
            exp.ArrayContainsAll: "all",
            exp.ArrayOverlaps: "any",
            exp.ArrayContainedBy: "within",
        }
        names = {"list_has_all": "all", "array_has_all": "all", "list_has_any": "any", "array_has_any": "any"}
        if isinstance(node, exp.Anonymous):
            kind, sides = names.get(lowered(node.name)), node.expressions
        else:
            kind, sides = kinds.get(type(node)), [node.args.get("this"), node.args.get("expression")]
        if kind is None:
            return None
        if not isinstance(node, exp.Anonymous):
            only(node, "this", "expression", "null_safe", "ensure_variant", "check_null")
        if len(sides) != 2:
            raise unsupported(name_of(node))
        left, right = self._term(sides[0], scope), self._term(sides[1], scope)
        if isinstance(left, ItemTerm) or isinstance(right, ItemTerm):
            if kind == "one" and isinstance(left, ListTerm) and isinstance(right, ItemTerm):
                return on_item(right.row, Labels(left.labels))
            raise self._wrong_form()
        if kind == "one" and isinstance(left, ItemsTerm) and isinstance(right, TextTerm | IntegerTerm):
            return self._of_list(left, self._has(left, self._label(right)))
        if isinstance(left, ListTerm) and isinstance(right, ItemsTerm) and kind != "one":
            kind = {"all": "within", "within": "all", "any": "any"}[kind]
            left, right = right, left
        if kind == "one" and isinstance(left, ListTerm) and isinstance(right, ItemsTerm):
            raise self._wrong_form()
        if not isinstance(left, ItemsTerm) or not isinstance(right, ListTerm) or kind == "one":
            raise unsupported(f"{name_of(node)} with these operands")
        if kind == "within":
            return self._of_list(left, negate(at_least(1, item_all(left.test, item_not(Labels(right.labels))))))
        inside = item_all(left.test, Labels(right.labels))
        return self._of_list(left, at_least(1 if kind == "any" else len(right.labels), inside))

    def _of_list(self, items: ItemsTerm, condition: Condition) -> Condition:
        """A condition on a list: unknown if the list is NULL."""
        if not items.nullable:
            return condition
        return both(either(condition, UNKNOWN_LIST), negate(UNKNOWN_LIST))

    def _contains(self, items: ItemsTerm, term: TextTerm | IntegerTerm) -> Condition:
        """The condition that a list contains an item."""
        if term == TextTerm(""):  # DuckDB applies its rule for texts: true for every list
            raise unsupported("contains, or IN, of a list and an empty text", "Use list_contains.")
        return self._of_list(items, self._has(items, self._label(term)))

    def _wrong_form(self) -> Exception:
        """The error for an item where the original has a list, or for a list where it has an item."""
        rows = "a list of items for each id" if self.form == LIST else "a row for each item"
        return unsupported("an item where a list is, or a list where an item is", f"The original has {rows}.")

    def _no_value(self, terms: Sequence[Term]) -> Exception:
        """The error for a comparison of a list with these values: DuckDB only compares texts that it reads as lists."""
        texts = [t.label.strip() for t in terms if isinstance(t, TextTerm)]
        if any(text.startswith("[") and text.endswith("]") for text in texts):
            return unsupported("a list compared with a text", "Use list_contains or list_has_all.")
        return self._wrong_form()

    def _has(self, items: ItemsTerm, label: str) -> Condition:
        """The condition that a list has an item."""
        return at_least(1, item_all(items.test, Labels(frozenset({label}))))

    # ---------------------------------------------------------------- terms

    def _label(self, term: Term) -> str:
        if isinstance(term, TextTerm):
            self.labels.add(term.label)
            return term.label
        if isinstance(term, IntegerTerm):
            self.numbers.add(str(term.value))
            self.labels.add(str(term.value))
            return str(term.value)
        raise unsupported("something else than a literal for an item")

    def _term(self, node: exp.Expr, scope: Scope) -> Term:
        node = bare(node)
        if isinstance(node, exp.Literal):
            return TextTerm(node.name) if node.is_string else IntegerTerm(whole(node))
        if isinstance(node, exp.RawString):
            return TextTerm(node.name)
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal) and not node.this.is_string:
            return IntegerTerm(-whole(node.this))
        if isinstance(node, exp.Array):
            only(node, "expressions", "bracket_notation")
            return ListTerm(frozenset(self._label(self._term(e, scope)) for e in node.expressions))
        if isinstance(node, exp.Column):
            if scope.group is not None:
                name = lowered(node.name)
                chosen = scope.aliases.get(name) if not node.table else None
                if chosen is not None and not any(name in columns for _, columns in scope.sources):
                    return self._aggregate(bare(chosen), scope)
            return self._column(node, scope)
        if isinstance(node, exp.Null):
            raise unsupported("NULL in a comparison", "Write IS NULL.")
        if isinstance(node, exp.Boolean):
            raise unsupported("a boolean compared with another value")
        if isinstance(node, exp.Placeholder | exp.Parameter):
            raise unsupported("a parameter", "Write the value itself.")
        if isinstance(node, exp.Lower | exp.Upper | exp.Trim | exp.Cast | exp.TryCast):
            return self._function(node, scope)
        if isinstance(node, exp.Subquery | exp.Select):
            raise unsupported("a scalar subquery")
        if isinstance(node, exp.Length):
            raise unsupported("len of the list of items", "Ask which items it has.")
        if isinstance(node, exp.Window):
            raise unsupported("a window function")
        if scope.group is None and isinstance(node, CONDITIONS):
            return TruthTerm(self._condition(node, scope))
        return self._aggregate(node, scope)

    def _function(self, node: exp.Expr, scope: Scope) -> Term:
        """Read a function of the item; a cast to text changes nothing."""
        if isinstance(node, exp.Cast | exp.TryCast):
            if is_whole(node.to) and isinstance(number := self._cast_number(node.this, scope), FlagTerm | NumberTerm):
                return number
            if node.to.this not in exp.DataType.TEXT_TYPES:
                raise unsupported("CAST to another type than text", "Items are compared as texts.")
            return self._term(node.this, scope)
        only(node, "this")
        item = self._term(node.this, scope)
        if isinstance(item, ItemsTerm):
            raise self._wrong_form()
        if isinstance(item, TextTerm) and item.label.isascii():
            text = item.label
            return TextTerm({"lower": text.lower(), "upper": text.upper(), "trim": text.strip(" ")}[node.key])
        if not isinstance(item, ItemTerm):
            raise unsupported(f"{name_of(node)} of something else than the item")
        return ChangedItem(item.row, node.key)

    def _cast_number(self, node: exp.Expr, scope: Scope) -> Term | None:
        """A condition or a number of items as a whole number; None for what cannot be one."""
        node = bare(node)
        if not isinstance(node, (exp.Column, exp.AggFunc, exp.Filter, exp.Case, exp.If, *CONDITIONS)):
            return None
        term = TruthTerm(self._condition(node, scope)) if isinstance(node, CONDITIONS) else self._term(node, scope)
        if isinstance(term, TruthTerm) and settled(term.condition) == term.condition:
            return FlagTerm(term.condition)
        return term

    def _listed(self, node: exp.Expr, scope: Scope) -> Term:
        """Read ``list(item)`` under GROUP BY the id."""
        only(node, "this", "nulls_excluded")
        row, seen = self._row_of(scope)
        if self._term(node.this, replace(scope, group=None)) != ItemTerm(row):
            raise unsupported("a list of something else than the items of a person")
        return ItemsTerm(scope.people[0], seen, nullable=False)

    def _aggregate(self, node: exp.Expr, scope: Scope) -> Term:
        """Read an aggregate over the rows of one person."""
        group = scope.group
        if isinstance(node, exp.Column):
            return self._column(node, scope)
        if group is None:
            raise unsupported(name_of(node))
        value = self._one_value(node, scope)
        if value is not None:
            return value
        node = as_counts(node)
        if isinstance(node, exp.Cast | exp.TryCast):
            return self._function(node, scope)
        if isinstance(node, CONDITIONS) or is_settled(node):
            return TruthTerm(self._condition(node, scope))
        if (met := flag(node)) is not None:
            condition = self._condition(met, scope)
            return TruthTerm(condition) if is_truth(node) else FlagTerm(condition)
        if isinstance(node, exp.ArrayAgg) and self.form != LIST:
            return self._listed(node, scope)
        if self.form == LIST and not group.rows:
            return self._aggregate_of_one(node, scope)
        extra: ItemTest = ANY_ITEM
        filtered = False
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            extra, filtered, node = self._test(node.expression.this, scope), True, node.this
        if isinstance(node, exp.LogicalOr | exp.LogicalAnd) and not filtered:
            only(node, "this")
            _, seen = self._row_of(scope)
            test = self._test(node.this, scope)
            if isinstance(node, exp.LogicalOr):
                return TruthTerm(at_least(1, item_all(seen, test)))
            return TruthTerm(negate(at_least(1, item_all(seen, item_not(test)))))
        if isinstance(node, exp.CountIf) and not filtered:
            only(node, "this")
            _, seen = self._row_of(scope)
            self.counts_rows = True
            return NumberTerm(item_all(seen, self._test(node.this, scope)))
        if (weight := _weight_of(node)) is not None:
            row, weights = self._weighted(weight, scope)
            seen_row, seen = self._row_of(scope)
            if row != seen_row:
                raise unsupported("a sum over the rows of a join")
            if filtered and weights.kind != VALUES:  # NULL for persons without such an item
                hint = "Write the condition into CASE, such as sum(CASE WHEN x THEN price ELSE 0 END), or into WHERE."
                raise unsupported(f"{name_of(node)} with FILTER for each person", hint)
            return SumTerm(replace(weights, test=item_all(seen, extra)))
        if not isinstance(node, exp.Count):
            raise unsupported(name_of(node))
        only(node, "this", "big_int")
        what = node.this
        if isinstance(what, exp.Distinct):
            return NumberTerm(item_all(self._distinct_items(what, scope, group), extra))
        if isinstance(what, exp.Star):
            only(what)
        elif isinstance(what, exp.Column):
            if isinstance(self._column(what, scope), AttributeTerm):
                raise unsupported("count of a relational attribute", "Use count(*).")
        elif what is not None and not isinstance(what, exp.Literal):
            raise unsupported("count of an expression")
        _, seen = self._row_of(scope)
        self.counts_rows = True
        return NumberTerm(item_all(seen, extra))

    def _one_value(self, node: exp.Expr, scope: Scope) -> AttributeTerm | None:
        """The attribute under an aggregate that gives one of its values in the rows of a person, which are all equal."""
        node = node.this if isinstance(node, exp.IgnoreNulls) else node
        inner = bare(node.this) if isinstance(node, exp.AnyValue | exp.First | exp.Last | exp.Min | exp.Max) else None
        column = self._column(inner, scope) if isinstance(inner, exp.Column) else None
        if not isinstance(column, AttributeTerm):
            return None
        only(node, "this")
        return column

    def _of_values(self, node: exp.Expr, scope: Scope) -> exp.Expr:
        """A condition on a group with attributes in place of their aggregates."""

        def value(part: exp.Expr) -> exp.Expr:
            if self._one_value(part, scope) is None:
                return part
            return bare((part.this if isinstance(part, exp.IgnoreNulls) else part).this)

        return node.transform(value)

    def _weighted(self, node: exp.Expr, scope: Scope) -> tuple[int, Weights]:
        """Read a number that depends on the item (``WEIGHT``): the row of the item, and the numbers of all items."""
        if not _is_weight(node):
            raise unsupported(name_of(node))
        item = self._term(node.expressions[0], replace(scope, group=None))
        if not isinstance(item, ItemTerm):
            raise self._wrong_form()
        return item.row, self.weights[whole(node.expressions[1])]

    def _distinct_items(self, node: exp.Distinct, scope: Scope, group: Group) -> ItemTest:
        """Read the operand of count(DISTINCT item): the test that the items of the group already pass."""
        only(node, "expressions")
        if len(node.expressions) != 1:
            raise unsupported("count(DISTINCT ...) of several columns")
        inner = bare(node.expressions[0])
        column = self._column(inner, scope) if isinstance(inner, exp.Column) else None
        if not isinstance(column, ItemTerm):
            raise unsupported("count(DISTINCT ...) of another column than the item in a group")
        if group.mixed:
            raise unsupported("an aggregate after OR between an item and other conditions")
        return group.tests.get(column.row, ANY_ITEM)

    def _aggregate_of_one(self, node: exp.Expr, scope: Scope) -> Term:
        """Read an aggregate over the single row of an id in a table of lists."""
        if isinstance(node, exp.ArrayAgg) or _weight_of(node) is not None:
            raise self._wrong_form()
        group, inner = scope.group, replace(scope, group=None)
        assert group is not None
        if not group.exact:
            raise unsupported("an aggregate over rows that may repeat", "Use count(DISTINCT id).")
        if isinstance(node, exp.LogicalOr | exp.LogicalAnd):
            only(node, "this")
            return TruthTerm(self._condition(node.this, inner))
        present: Condition = ALWAYS
        if isinstance(node, exp.Filter):
            only(node, "this", "expression")
            present, node = self._condition(node.expression.this, inner), node.this
        if isinstance(node, exp.CountIf):
            only(node, "this")
            counted = self._condition(node.this, inner)
            if present != ALWAYS or settled(counted) != counted:  # count_if of no row, or of unknown only, is NULL
                raise unsupported("count_if of a condition that may be unknown", "Use count(*) FILTER (WHERE ...).")
            return FlagTerm(counted)
        if not isinstance(node, exp.Count):
            raise unsupported(name_of(node))
        only(node, "this", "big_int")
        what = node.this
        if isinstance(what, exp.Distinct) and len(what.expressions) == 1:
            only(what, "expressions")
            what = what.expressions[0]
        what = what if what is None else bare(what)
        if isinstance(what, exp.Column):
            column = self._column(what, inner)
            if isinstance(column, ItemsTerm) and column.nullable:
                present = both(present, negate(NULL_LIST))
            elif not isinstance(column, IdTerm | ItemsTerm):
                raise unsupported("count of a relational attribute", "Use count(*).")
        elif what is not None and not isinstance(what, exp.Star | exp.Literal):
            raise unsupported("count of an expression")
        return FlagTerm(settled(present))

    def _row_of(self, scope: Scope) -> tuple[int, ItemTest]:
        """The only row of a group, and the test that its items already pass."""
        group = scope.group
        assert group is not None
        if group.mixed:
            raise unsupported("an aggregate after OR between an item and other conditions")
        if len(group.rows) != 1 or not group.exact:
            raise unsupported("an aggregate over the rows of a join", "Count DISTINCT items of one copy.")
        (row,) = group.rows
        return row, group.tests.get(row, ANY_ITEM)

    def _test(self, node: exp.Expr, scope: Scope) -> ItemTest:
        """Read a condition on the item of a group's only row."""
        row, _ = self._row_of(scope)
        tests, person, mixed = split(self._condition(node, replace(scope, group=None)))
        if mixed or person not in (ALWAYS, NEVER) or set(tests) - {row}:
            raise unsupported("an aggregate of something else than the item")
        return tests.get(row, ANY_ITEM) if person == ALWAYS else NO_ITEM

    def _column(self, node: exp.Column, scope: Scope) -> Column:
        """Resolve a column name in the innermost scope that has it."""
        only(node, "this", "table")
        if not isinstance(node.this, exp.Identifier):
            raise unsupported(name_of(node.this))
        name, table = lowered(node.name), lowered(node.table)
        at: Scope | None = scope
        while at is not None:
            candidates = [
                column
                for alias, columns in at.sources
                if not table or alias == table
                for column in columns.get(name, ())
            ]
            firm: list[Column] = [c for c in candidates if not isinstance(c, OptionalTerm)]
            if len(firm) == 1 and all(isinstance(c, IdTerm) for c in firm):
                candidates = firm
            if len(candidates) == 1:
                return candidates[0]
            if candidates:
                if not table and all(isinstance(c, IdTerm) for c in candidates):
                    return candidates[0]
                raise unsupported(f"the ambiguous column {node.name!r}", "Write table.column.")
            if table and any(alias == table for alias, _ in at.sources):
                break
            at = at.outer
        raise unsupported(
            f"the column {node.name!r}",
            "The release has the id and item columns of the original, and "
            + (
                f"relational attributes in the table {self.records[0]!r}."
                if self.attributes
                else "no relational attributes."
            ),
        )
