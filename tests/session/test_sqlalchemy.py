"""The SQLAlchemy dialect: selects, reflection, and what tools ask before they work; pandas and polars on top of it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from each import each

sa = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")


import anondb  # noqa: E402
from anondb import Session  # noqa: E402
from anondb.sqlalchemy import AnondbDialect, type_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SALES = sa.table("sales", sa.column("tid", sa.BIGINT), sa.column("item", sa.VARCHAR))
ITEM, N = SALES.c.item, sa.func.count().label("n")


@pytest.fixture(scope="module")
def engine(shop: Path) -> Iterator[Any]:
    sa.dialects.registry.register("anondb", "anondb.sqlalchemy", "AnondbDialect")  # in case anondb is not installed
    made = sa.create_engine(f"anondb:///{shop / 'supports.duckdb'}")
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def asked(shop: Path) -> Iterator[Session]:
    with anondb.open(shop / "supports.duckdb") as session:
        yield session


def test_the_installed_package_names_the_dialect() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    places = project["entry-points"]["sqlalchemy.dialects"]
    assert places == {"anondb": f"{AnondbDialect.__module__}:{AnondbDialect.__name__}"}
    assert project["optional-dependencies"]["sqlalchemy"]


SELECTS: dict[str, tuple[Any, str]] = {
    "a count": (sa.select(N).select_from(SALES), "SELECT count(*) AS n FROM sales"),
    "bound values": (
        sa.select(N).where(ITEM.in_(["milk", "bread"]), ITEM != "figs"),
        "SELECT count(*) AS n FROM sales WHERE item IN ('milk', 'bread') AND item <> 'figs'",
    ),
    "a pattern": (sa.select(N).where(ITEM.startswith("b")), "SELECT count(*) AS n FROM sales WHERE item LIKE 'b%'"),
    "persons": (
        sa.select(sa.func.count(sa.distinct(SALES.c.tid)).label("n")).where(ITEM == "milk"),
        "SELECT count(DISTINCT tid) AS n FROM sales WHERE item = 'milk'",
    ),
    "groups": (
        sa.select(ITEM, N).group_by(ITEM).order_by(N.desc(), ITEM).limit(2).offset(1),
        "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY n DESC, item LIMIT 2 OFFSET 1",
    ),
    "having": (
        sa.select(ITEM, N).group_by(ITEM).having(sa.func.count() > 5).order_by(ITEM),
        "SELECT item, count(*) AS n FROM sales GROUP BY item HAVING count(*) > 5 ORDER BY item",
    ),
    "a ratio": (
        sa.select((sa.func.count().filter(ITEM == "milk") * 100.0 / sa.func.count()).label("n")).where(ITEM != "figs"),
        "SELECT count(*) FILTER (WHERE item = 'milk') * 100.0 / count(*) AS n FROM sales WHERE item <> 'figs'",
    ),
    "a union": (
        sa.union_all(
            sa.select(sa.literal("a").label("w"), N).select_from(SALES), sa.select(sa.literal("b"), N).where(ITEM == "milk")
        ),
        "SELECT 'a' AS w, count(*) AS n FROM sales UNION ALL SELECT 'b', count(*) FROM sales WHERE item = 'milk'",
    ),
    "text": (
        sa.text("SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item LIMIT :k").bindparams(k=2),
        "SELECT item, count(*) AS n FROM sales GROUP BY item ORDER BY item LIMIT 2",
    ),
}


@pytest.mark.slow
@each("name", SELECTS)
def test_selects_have_the_answers_of_their_sql(engine: Any, asked: Session, name: str) -> None:
    select, sql = SELECTS[name]
    expected = asked.sql(sql)
    with engine.connect() as connection:
        rows = connection.execute(select)
        assert list(rows.keys()) == expected.columns
        assert [tuple(row) for row in rows] == [pytest.approx(row) for row in expected.fetchall()]


def test_bounds_are_columns_of_the_rows(engine: Any, shop: Path) -> None:
    with engine.connect() as connection:
        row = connection.execute(sa.select(N).where(ITEM == "milk")).one()
    assert row.n_lower <= row.n == row[0] <= row.n_upper
    estimates = sa.create_engine(f"anondb:///{shop / 'supports.duckdb'}?bounds=none&threads=1&max_seconds=30")
    with estimates.connect() as connection:
        assert list(connection.execute(sa.select(N).where(ITEM == "milk")).keys()) == ["n"]
    estimates.dispose()


def test_reflection(engine: Any) -> None:
    found = sa.inspect(engine)
    assert found.get_schema_names() == [found.default_schema_name] == ["main"]
    assert found.get_table_names() == found.get_table_names("main") == ["baskets", "sales"]
    assert found.has_table("Sales") and not found.has_table("food") and not found.has_table("sales", "other")
    columns = {c["name"]: c["type"] for c in found.get_columns("sales")}
    assert isinstance(columns["tid"], sa.BIGINT) and isinstance(columns["item"], sa.VARCHAR)
    assert isinstance(found.get_columns("baskets")[1]["type"], sa.ARRAY)
    for method in ("foreign_keys", "indexes", "unique_constraints", "check_constraints"):
        assert getattr(found, f"get_{method}")("sales") == []
    assert not found.get_pk_constraint("sales")["constrained_columns"]
    with pytest.raises(sa.exc.NoSuchTableError):
        sa.Table("food", sa.MetaData(), autoload_with=engine)


def test_objects_of_the_file_are_views(engine: Any, asked: Session) -> None:
    found = sa.inspect(engine)
    assert found.get_view_names("main") == ["item_counts", "released_items", "item_supports", "manifest"] == asked.objects
    assert found.has_table("item_counts") and found.get_view_names("other") == []
    counts = sa.Table("item_counts", sa.MetaData(), schema="main", autoload_with=engine)
    assert [column.name for column in counts.columns] == ["item", "lower_bound", "estimate", "upper_bound"]
    assert isinstance(counts.c.estimate.type, sa.DOUBLE)
    with engine.connect() as connection:
        rows = connection.execute(sa.select(counts).order_by(counts.c.item)).fetchall()
    assert [tuple(row) for row in rows] == asked.sql("SELECT * FROM main.item_counts ORDER BY item").fetchall()
    assert "item_counts" not in sa.inspect(engine).get_table_names()


def test_reflected_tables_are_asked_with_and_without_their_schema(engine: Any) -> None:
    for schema in (None, "main"):
        sales = sa.Table("sales", sa.MetaData(), schema=schema, autoload_with=engine)
        with engine.connect() as connection:
            assert connection.scalar(sa.select(sa.func.count(sales.c.tid)).where(sales.c.item == "milk")) > 0


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("DECIMAL(10,2)", "DECIMAL(10, 2)"),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP"),
        ("DOUBLE", "DOUBLE"),
        ("MAP(VARCHAR, INTEGER)", "NULL"),
    ],
)
def test_types(kind: str, wanted: str) -> None:
    assert str(type_of(kind)) == wanted


@pytest.mark.parametrize("sql", ["SELECT 1", "SELECT version()", "SELECT 'test plain returns' AS anon_1"])
def test_what_tools_ask_first(engine: Any, sql: str) -> None:
    with engine.connect() as connection:
        assert connection.execute(sa.text(sql)).scalar()


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c.execute(sa.insert(SALES).values(tid=1, item="x")),
        lambda c: c.execute(sa.select(sa.func.abs(SALES.c.tid))),
        lambda c: c.exec_driver_sql("COPY sales TO 'sales.csv'"),
    ],
)
def test_refused(engine: Any, use: Callable[[Any], Any]) -> None:
    with engine.connect() as connection, pytest.raises(sa.exc.NotSupportedError):
        use(connection)


def test_pandas_and_own_tables(shop: Path) -> None:
    import pandas as pd

    prices = pd.DataFrame({"item": ["milk"], "price": [1.5]})
    engine = sa.create_engine(f"anondb:///{shop / 'plain.duckdb'}", connect_args={"tables": {"prices": prices}})
    frame = pd.read_sql(sa.select(ITEM, N).group_by(ITEM), engine)
    assert list(frame.columns) == ["item", "n", "n_lower", "n_upper", "certain"] and len(frame) == 6
    assert pd.read_sql_table("prices", engine).equals(prices)
    engine.dispose()


def test_polars(engine: Any) -> None:
    pl = pytest.importorskip("polars", reason="polars is not installed")
    with engine.connect() as connection:
        frame = pl.read_database("SELECT item, count(*) AS n FROM sales GROUP BY item", connection)
    assert frame.columns == ["item", "n", "n_lower", "n_upper", "certain"] and frame.height == 6


@each("options", ["tables=x", "files=x", "threads=two", "max_seconds=soon", "bounds=all", "threads=1&threads=2"])
def test_an_option_of_the_url_that_is_not_valid(shop: Path, options: str) -> None:
    with pytest.raises(sa.exc.ArgumentError) as error:
        sa.create_engine(f"anondb:///{shop / 'supports.duckdb'}?{options}").connect()
    assert "bounds" in str(error.value)
