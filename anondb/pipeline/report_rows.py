"""The owner's report on a release in words: rows of names and values, for the command line and for notebooks."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from anondb.reading.account import words_of

Rows = list[tuple[str, str]]


def figure(value: float | None) -> str:
    """Format a number with four digits; a dash for None."""
    return "-" if value is None else f"{value:.4g}"


def report_rows(report: Mapping[str, Any]) -> Rows:
    """The rows of a report, from its JSON."""
    rows: Rows = [
        ("promise", f"{report['promise']} by {report['algorithm']}, verified on the frozen rows"),
        ("transactions", f"{report['transactions']:,}"),
        ("items", f"{report['items']:,}"),
        ("released items", f"{report['released_items']:,}"),
        *[("read", words_of(account)) for account in (report.get("read"), *report.get("read_beside", ())) if account],
        *[("confirmed", f"{f['name']}: {f['message']}") for f in report.get("findings", ())],
        ("suppressed", f"{report['suppressed_items']:,} items, {report['suppressed_occurrences']:,} occurrences"),
        *_loss_rows(report),
        *_constraint_rows(report["constraints"]),
        *_relational_rows(report["relational"]),
        *accuracy_rows(report["accuracy"]),
        *(("estimates", words) for words in worse_than_zero(report)),
        *_anatomy_rows(report.get("anatomy")),
        ("seconds", ", ".join(f"{name} {value:.2f}" for name, value in report["seconds"].items() if value)),
    ]
    return rows


def accuracy_rows(accuracy: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows on a workload and its relative errors, from an accuracy's JSON."""
    asked = f"{accuracy['queries']:,} of {accuracy['size'] or 'various'} items"
    return [("COUNT queries", asked + truth_words(accuracy)), *error_rows(accuracy)]


def error_rows(accuracy: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows on relative errors: of queries with a truth of at least k, then of all, with the score of the answer 0."""
    errors, frequent = accuracy["relative_error"], accuracy["frequent"]
    if errors["mean"] is None:
        return [("relative error", "not measured: no query" + (" has a truth above 0" if accuracy["queries"] else ""))]
    words = []
    if frequent is not None and frequent["queries"]:
        number = f"{frequent['queries']:,} {'query' if frequent['queries'] == 1 else 'queries'}"
        least = f"where truth >= {frequent['truth_from']} ({number})"
        words.append(f"median {figure(errors['median_frequent'])}, mean {figure(errors['mean_frequent'])} {least}")
    elif frequent is not None:
        words.append(f"no query has a truth of {frequent['truth_from']} or more")
    zero = f"(always answering 0: {figure(errors['always_zero'])})"
    words.append(f"median {figure(errors['median'])}, mean {figure(errors['mean'])} over all {zero}")
    rows = [("relative error" if i == 0 else "", line) for i, line in enumerate(words)]
    if errors["width"] is not None:
        rows.append(("width of bounds", f"median {figure(errors['width'])} times the truth"))
    return rows


def worse_than_zero(report: Mapping[str, Any]) -> list[str]:
    """A line on the kinds of measured queries to which 0 would be nearer on average than the estimates, if there are any."""
    of_people = report["relational"]
    kinds = {"items": report["accuracy"], "attributes and items": of_people and of_people["accuracy"]}
    errors = {kind: measured["relative_error"] for kind, measured in kinds.items() if measured}
    worse = [f"{kind} {figure(e['mean'])}" for kind, e in errors.items() if (e["mean"] or 0) > (e["always_zero"] or 0)]
    tried = "with --records and --quasi-identifiers tries other delta" if of_people else "tries other algorithms"
    words = f"worse than 0, which has a mean error of 1, for queries of {' and '.join(worse)}: read the bounds"
    return [f"{words}. anondb advise {tried}"] if worse else []


def truth_words(accuracy: dict[str, Any]) -> str:
    """Text on the true counts: the number of skipped queries, and the median truth."""
    truth, skipped = accuracy["relative_error"]["median_truth"], accuracy.get("skipped")
    words = f", {skipped:,} skipped (truth 0)" if skipped else ""
    return words if truth is None else f"{words}; the median truth is {figure(truth)}"


def _loss_rows(report: Mapping[str, Any]) -> Rows:
    """The row on information loss, if the model has one."""
    loss = report["loss"]
    if report["relational"]:
        words = f"NCP of the records {figure(loss['ncp'])}, UL of the items {figure(loss['ul'])}"
        return [("information loss", words)]
    if loss["lm"] is None:
        return []
    words = f"LM {figure(loss['lm'])} (total {loss['lm_total']}), NCP {figure(loss['ncp'])}"
    words += "" if loss["ggd"] is None else f", GGD {figure(float(Fraction(loss['ggd'])))} (total {loss['ggd']})"
    words += "" if loss["ul_log2"] is None else f", log2 UL {figure(loss['ul_log2'])}"
    return [("information loss", words)]


def _anatomy_rows(figures: Mapping[str, Any] | None) -> Rows:
    if figures is None:
        return []
    largest, empty = figures["largest_posterior"], figures["largest_posterior_empty"] or 0
    records, distinct = figure(figures["faked_records_ln"]), figure(figures["faked_distinct_ln"])
    buckets = f"{figures['buckets']:,} of {figures['columns']} columns, the largest of {figures['largest_bucket']:,}"
    rows: Rows = [
        ("buckets", buckets),
        ("largest posterior", f"{largest} of a value that counts, {empty} of an empty one"),
        ("faked records", f"e^{records} recombinations, e^{distinct} distinct"),
    ]
    if (rules := figures["rules"]) is None:
        return [*rows, ("rules", "not mined: mlxtend is not installed")]
    ratio = rules["accuracy_ratio"]
    kept = f"(AR {figure(None if ratio is None else float(Fraction(ratio)))})"
    words = f"{rules['common']:,} of {rules['original']:,} kept {kept}, {rules['reconstructed']:,} in a reconstruction"
    return [*rows, ("rules", words)]


def _relational_rows(figures: dict[str, Any] | None) -> list[tuple[str, str]]:
    if figures is None:
        return []
    rows = [
        (
            "clusters",
            f"{figures['clusters']:,}, the largest of {figures['largest_cluster']:,} records; items suppressed in "
            f"{figures['suppressed_clusters']:,}; {figures['merged_clusters']:,} merged with others instead",
        )
    ]
    if (asked := figures["accuracy"]) is not None:
        kind = f"{asked['values']} value{'s' * (asked['values'] != 1)} and {asked['items']} items"
        rows.append(("queries of values", f"{asked['queries']} of {kind}{truth_words(asked)}"))
        rows += error_rows(asked)
    return rows


def _constraint_rows(report: Mapping[str, Any] | None) -> Rows:
    if report is None:
        return []
    rows: Rows = []
    if report["privacy"] is not None:
        rows.append(("privacy constraints", str(report["privacy"])))
    if report["utility"] is not None:
        rest = f", and one of the {report['rest']:,} other items" if report["rest"] else ""
        rows.append(("utility constraints", f"{report['utility']:,}{rest}, verified on the frozen rows"))
    if countable := report["countable"]:
        rows.append(("countable sets", f"{sum(c['exact'] for c in countable):,} of {len(countable):,} exactly"))
    for c in countable:
        if not c["exact"]:
            words = f"not exact: of {c['items']:,} items {c['suppressed']:,} suppressed, {c['mixed']:,} together with others"
            rows.append((f"  {c['set_id']}", words))
    return rows
