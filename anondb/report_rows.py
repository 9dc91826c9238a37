"""The owner's report on a release in words: rows of names and values, for the command line and for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anondb.owner.accuracy import AnatomyFigures
    from anondb.owner.constraint_report import ConstraintReport
    from anondb.pipeline import Report

Rows = list[tuple[str, str]]


def figure(value: float | None) -> str:
    """Format a number with four digits; a dash for None."""
    return "-" if value is None else f"{value:.4g}"


def report_rows(report: Report) -> Rows:
    """The rows of a report."""
    rows: Rows = [
        ("promise", f"{report.model.promise} by {report.algorithm}, verified on the frozen rows"),
        ("transactions", f"{report.transactions:,}"),
        ("items", f"{report.items:,}"),
        ("released items", f"{report.frozen.released_items:,}"),
        (
            "suppressed",
            f"{report.frozen.suppressed_items:,} items, {report.frozen.suppressed_occurrences:,} occurrences",
        ),
        *_loss_rows(report),
        *_constraint_rows(report.constraints),
        *_relational_rows(report.relational),
        *accuracy_rows(report.accuracy.to_json()),
        ("seconds", ", ".join(f"{name} {value:.2f}" for name, value in report.seconds.items() if value)),
    ]
    if report.anatomy is not None:
        rows[-1:-1] = _anatomy_rows(report.anatomy)
    return rows


def accuracy_rows(accuracy: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows on a workload and its relative errors, from an accuracy's JSON."""
    asked = f"{accuracy['queries']:,} of {accuracy['size'] or 'various'} items"
    return [("COUNT queries", asked + truth_words(accuracy)), *error_rows(accuracy)]


def error_rows(accuracy: dict[str, Any], name: str = "relative error") -> list[tuple[str, str]]:
    """The rows on relative errors: of queries with a truth of at least k, then of all, with the score of the answer 0."""
    errors, frequent = accuracy["relative_error"], accuracy["frequent"]
    if errors["mean"] is None:
        return [(name, "not measured: no query has a truth above 0")]
    words = []
    if frequent is not None and frequent["queries"]:
        number = f"{frequent['queries']:,} {'query' if frequent['queries'] == 1 else 'queries'}"
        least = f"where truth >= {frequent['truth_from']} ({number})"
        words.append(f"median {figure(errors['median_frequent'])}, mean {figure(errors['mean_frequent'])} {least}")
    elif frequent is not None:
        words.append(f"no query has a truth of {frequent['truth_from']} or more")
    zero = f"(always answering 0: {figure(errors['always_zero'])})"
    words.append(f"median {figure(errors['median'])}, mean {figure(errors['mean'])} over all {zero}")
    rows = [(name if i == 0 else "", line) for i, line in enumerate(words)]
    if errors["width"] is not None:
        rows.append(("width of bounds", f"median {figure(errors['width'])} times the truth"))
    return rows


def truth_words(accuracy: dict[str, Any]) -> str:
    """Text on the true counts: the number of skipped queries, and the median truth."""
    truth, skipped = accuracy["relative_error"]["median_truth"], accuracy.get("skipped")
    words = f", {skipped:,} skipped (truth 0)" if skipped else ""
    return words if truth is None else f"{words}; the median truth is {figure(truth)}"


def _loss_rows(report: Report) -> list[tuple[str, str]]:
    """The row on information loss, if the model has one."""
    loss = report.loss
    if report.relational:
        return [("information loss", f"NCP of the records {figure(loss.ncp)}, UL of the items {figure(loss.ul)}")]
    if loss.lm is None:
        return []
    words = f"LM {figure(loss.lm)} (total {loss.lm_total}), NCP {figure(loss.ncp)}"
    words += "" if loss.ggd is None else f", GGD {figure(float(loss.ggd))} (total {loss.ggd})"
    return [("information loss", words if loss.ul_log2 is None else f"{words}, log2 UL {figure(loss.ul_log2)}")]


def _anatomy_rows(figures: AnatomyFigures) -> list[tuple[str, Any]]:
    """The rows on the figures of an anatomy."""
    buckets, rules = figures.buckets, figures.rules
    json_ = buckets.to_json()
    rows = [
        ("buckets", f"{buckets.buckets:,} of {buckets.columns} columns, the largest of {buckets.largest_bucket:,}"),
        (
            "largest posterior",
            f"{json_['largest_posterior']} of a value that counts, {json_['largest_posterior_empty'] or 0} of an empty one",
        ),
        (
            "faked records",
            f"e^{figure(json_['faked_records_ln'])} recombinations, e^{figure(json_['faked_distinct_ln'])} distinct",
        ),
    ]
    if rules is None:
        return [*rows, ("rules", "not mined: mlxtend is not installed")]
    ratio = rules.accuracy_ratio
    words = f"{rules.common:,} of {rules.original:,} kept (AR {figure(None if ratio is None else float(ratio))})"
    return [*rows, ("rules", f"{words}, {rules.reconstructed:,} in a reconstruction")]


def _relational_rows(figures: dict[str, Any] | None) -> list[tuple[str, str]]:
    """The rows on relational records."""
    if figures is None:
        return []
    rows = [
        (
            "clusters",
            f"{figures['clusters']:,}, the largest of {figures['largest_cluster']:,} records; items suppressed in "
            f"{figures['suppressed_clusters']:,}; {figures['merged_clusters']:,} merged with others instead",
        )
    ]
    asked = figures["accuracy"]
    if asked is not None:
        kind = f"{asked['values']} value{'s' * (asked['values'] != 1)} and {asked['items']} items"
        rows.append(("queries of values", f"{asked['queries']} of {kind}{truth_words(asked)}"))
        rows += error_rows(asked)
    return rows


def _constraint_rows(report: ConstraintReport | None) -> list[tuple[str, str]]:
    """The rows on the owner's constraints."""
    if report is None:
        return []
    rows = []
    if report.privacy is not None:
        rows.append(("privacy constraints", str(report.privacy)))
    if report.utility is not None:
        rest = f", and one of the {report.rest:,} other items" if report.rest else ""
        rows.append(("utility constraints", f"{report.utility:,}{rest}, verified on the frozen rows"))
    if report.countable:
        exact = sum(c.exact for c in report.countable)
        rows.append(("countable sets", f"{exact:,} of {len(report.countable):,} exactly"))
    rows += [
        (
            f"  {c.set_id}",
            f"not exact: of {c.items:,} items {c.suppressed:,} suppressed, {c.mixed:,} together with others",
        )
        for c in report.countable
        if not c.exact
    ]
    return rows
