"""Rows that show a label by estimates are not certain, and an infinite bound is none."""

from __future__ import annotations

from each import each

from anondb import Session

ITEMS = "(SELECT item, count(*) AS n FROM sales GROUP BY item)"


@each(
    "sql",
    [
        f"SELECT item, n, first_value(item) OVER (ORDER BY n DESC) AS most FROM {ITEMS}",
        f"SELECT item, n, CASE WHEN n > 5 THEN 'many' ELSE 'few' END AS how FROM {ITEMS}",
        f"SELECT left(item, 1) AS k, arg_max(item, n) AS most FROM {ITEMS} GROUP BY k",
        "SELECT left(item, 1) AS k, count(*) AS n, string_agg(DISTINCT item) AS those FROM sales GROUP BY k",
    ],
)
def test_a_row_with_an_estimated_label_is_not_certain(plain: Session, sql: str) -> None:
    result = plain.sql(sql)
    assert result.columns[-1] == "certain" and {row[-1] for row in result.fetchall()} == {False}


@each("sign", ["", "-"])
def test_a_product_with_an_infinite_bound_is_no_error(plain: Session, sign: str) -> None:
    shares = "SELECT item, count(*) / sum(count(*)) OVER () AS p FROM sales GROUP BY item"
    result = plain.sql(f"SELECT {sign}sum(p * ln(p)) AS n FROM ({shares})")
    ((n, lower, upper),) = result.fetchall()
    assert n and lower is None and upper is None and not any("Internal error" in note for note in result.notes)
    decided = {row[1] for row in plain.sql(f"SELECT item, {sign}p * ln(p) < 9 AS less FROM ({shares})").fetchall()}
    assert decided <= {True, None}
