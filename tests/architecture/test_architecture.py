"""The rooms and the direction of imports, SQL only where it belongs, and what is in the package."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import sqlglot
from each import each
from sqlglot import exp

import anondb
from anondb.engine import all_names, load
from anondb.engine.queries import SQL_ROOT

PACKAGE = Path(anondb.__file__).parent
PROJECT = PACKAGE.parent
FOLDERS = {name.rpartition("/")[0] for name in all_names()}
SOURCES = [path.relative_to(PACKAGE) for path in sorted(PACKAGE.rglob("*.py"))]

# What each room imports of those above it; a module at the top is a room of its own.
ROOMS = {
    "errors": "",
    "engine": "errors",
    "models": "errors",
    "recoding": "engine",
    "reading": "errors engine models",
    "data": "errors engine reading",
    "utility": "errors engine models recoding data",
    "release": "errors engine models recoding data utility",
    "warehouse": "errors engine data release",
    "algorithms": "errors engine models recoding data",
    "verify": "errors engine models",
    "warehouse/conformance.py": "errors engine models data release warehouse algorithms verify",
    "promises": "errors engine models data release verify",
    "policy": "errors models reading algorithms promises",
    "options": "errors models reading algorithms policy",
    "statements": "errors engine release options",
    "ledger": "errors engine recoding reading data release algorithms promises policy options statements",
    "recode": "errors engine models recoding data utility release algorithms promises policy",
    "answers/rules": "",
    "query": "errors engine data release answers/rules",
    "answers": "errors engine release query",
    "session": "errors engine reading data release warehouse query answers",
    "publications": ("errors engine models reading data release warehouse verify promises policy statements ledger answers"),
    "risk": (
        "errors engine models recoding reading data utility release algorithms verify promises policy statements ledger "
        "recode session"
    ),
    "pipeline": (
        "errors engine models recoding reading data utility release warehouse algorithms verify promises policy "
        "ledger recode publications risk"
    ),
    "taxonomies": "errors engine data",
    "pages": "models",
    "compare": ("errors engine models reading data utility algorithms promises policy options ledger risk pipeline pages"),
    "guide": "errors engine models reading data utility release algorithms verify promises taxonomies pages compare",
    "views": (
        "errors engine models recoding reading data utility release warehouse algorithms verify promises policy "
        "options statements ledger publications pipeline"
    ),
    "report": "errors engine models data release promises policy ledger publications risk pipeline pages",
    "api": (
        "errors engine models reading data utility release warehouse verify promises policy options ledger "
        "session publications risk pipeline compare guide views report"
    ),
    "demo": "errors engine models pipeline api",
    "serve": "errors query session",
    "ui": "errors engine reading policy options session taxonomies pages compare guide report api",
    "dbapi": "errors engine session",
    "sqlalchemy": "session dbapi",
    "cli": (
        "errors engine models reading data release warehouse algorithms verify policy options ledger query "
        "answers session publications risk pipeline taxonomies pages compare guide views report api demo serve ui"
    ),
    "__init__": "errors models release session publications api",
    "__main__": "errors cli",
}
OWNERS = {"ledger", "publications", "risk", "views"}  # what they read and return is the owner's
MAY_IMPORT_DUCKDB = {  # to hand a locked connection to analysts, and to take one
    Path("release/reader.py"),
    Path("api/connect.py"),
    Path("warehouse/duckdb.py"),  # whose rows are compared with those of other engines
}
TALKS_TO_POSTGRES = {Path("warehouse/postgres/server.py")}
USES_ALL_AT_ONCE = {Path("serve/values.py")}  # the room is imported where it is used: by the command serve
READS_SQLITE = {Path("reading/cells.py"), Path("warehouse/sqlite.py")}
PLAYS_THE_ANALYST = {Path("demo.py")}  # asks the sealed file as any DuckDB client would
QUERY_ROOM = {
    "algorithms": {"itemsets", "coat", "transactions", "warehouse/threats"},
    "verify": {"verify", "warehouse/verify"},
    "engine": {"engine"},
}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse((PACKAGE / path).read_text("utf-8"))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(tree_of(path)))


def room(path: Path) -> str:
    inner = "/".join(path.parts[:2])
    return inner if inner in ROOMS else path.parts[0] if len(path.parts) > 1 else path.stem


def imports(nodes: Iterable[ast.AST]) -> set[str]:
    """The dotted names of everything that is imported in a part of a module."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "anondb"}
    return found


@cache
def texts(path: Path) -> list[str]:
    return [n.value for n in nodes_of(path) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def imported_at_once(tree: ast.Module) -> set[str]:
    """The modules that are imported at the top of a file, that is whenever anondb is."""
    return imports(tree.body)


@each("path", SOURCES)
def test_imports_follow_the_arrows(path: Path) -> None:
    here = room(path)
    modules = [Path(*name.split(".")[1:]) for name in imports(nodes_of(path)) if name.startswith("anondb.")]
    others = {room(m) for m in modules if m != Path("__version__")} - {here}
    assert others <= set(ROOMS[here].split())


def test_no_room_imports_one_below_it() -> None:
    """So that there is no circle."""
    order = list(ROOMS)
    for here, others in ROOMS.items():
        assert set(others.split()) <= set(order[: order.index(here)]), here


def test_the_page_on_the_architecture_has_every_room() -> None:
    """The table names each; and in the picture, each stands above those that it imports."""
    _, picture, rest = (PROJECT / "docs" / "architecture.md").read_text("utf-8").split("```\n", 2)
    table = [line.split("|")[1] for line in rest.split("\n## ")[0].splitlines() if line.startswith("| `")]
    known = {name for name in ROOMS if "/" not in name and not name.startswith("__")}
    assert sorted(re.findall(r"`(\w+)`", "".join(table))) == sorted(known)
    lines = [set(line.split()) for line in picture.splitlines()]
    place = {name: next((n for n, words in enumerate(lines) if name in words), -1) for name in known}
    assert not [name for name, n in place.items() if n < 0]
    arrows = [(here, other) for here in known for other in ROOMS[here].split() if other in known]
    assert not [(here, other) for here, other in arrows if place[here] >= place[other]]


def test_the_top_level_is_short() -> None:
    assert len([path for path in SOURCES if len(path.parts) == 1]) <= 12


def query_folders(path: Path) -> set[str]:
    """The folders of the queries that a module names."""
    return {t.rpartition("/")[0] for t in texts(path) if re.fullmatch(r"[a-z]+(/[a-z]+)?/\w+", t)} & FOLDERS


@each("path", [p for p in SOURCES if room(p) in QUERY_ROOM])
def test_queries_of_a_room_stay_there(path: Path) -> None:
    """Algorithms and the verifier share no SQL, so that a wrong query cannot vouch for itself."""
    assert query_folders(path) <= QUERY_ROOM[room(path)]


@each("path", [p for p in SOURCES if room(p) in ROOMS])
def test_queries_of_the_owner_and_of_a_release_share_no_folder(path: Path) -> None:
    if room(path) in OWNERS:
        assert "release" not in query_folders(path)
    else:
        assert not query_folders(path) & OWNERS


@each("path", SOURCES)
def test_only_the_engine_executes_sql(path: Path) -> None:
    nodes = nodes_of(path)
    at_run_time = {n for n in imports(nodes) if n.split(".")[0] in ("duckdb", "_duckdb")}
    inside = [n for n in nodes if isinstance(n, ast.If) and getattr(n.test, "id", "") == "TYPE_CHECKING"]
    for_types = {name for block in inside for name in imports(block.body)}
    top_level = len(path.parts) == 1
    if room(path) != "engine" and not top_level and path not in MAY_IMPORT_DUCKDB:
        assert at_run_time <= for_types
    if room(path) != "engine" and path not in PLAYS_THE_ANALYST | TALKS_TO_POSTGRES | READS_SQLITE:
        called = {n.func.attr for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
        assert not called & {"execute", "executemany", "executescript"}
        attributes = {n.attr for n in nodes if isinstance(n, ast.Attribute)}
        assert "_connection" not in attributes or top_level


SQL_TEXT = re.compile(
    r"^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|ATTACH|DETACH|COPY|SET|PRAGMA|FROM|DESCRIBE)\s", re.I
)


@each("path", SOURCES)
def test_no_sql_is_put_together_as_text(path: Path) -> None:
    """No f-string, %, + or format that begins like a statement, but for those that are shown to the user."""
    calls = [n for n in nodes_of(path) if isinstance(n, ast.Call)]
    shown = {id(arg) for call in calls if getattr(call.func, "attr", "") == "echo" for arg in call.args}
    for node in nodes_of(path):
        if id(node) in shown:
            continue
        first: ast.expr | None = None
        if isinstance(node, ast.JoinedStr) and len(node.values) > 1:
            first = node.values[0]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.Add):
            first = node.left
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            first = node.func.value
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            assert not SQL_TEXT.match(first.value.replace("CREATE ANONYMIZED", "")) or not _upper(first.value), (
                path,
                node.lineno,
            )


def _upper(text: str) -> bool:
    """Whether the first word is in capitals: prose begins sentences with "Set" and "Drop" too."""
    return text.split()[0].isupper()


@each("path", SOURCES)
def test_length_of_files(path: Path) -> None:
    assert len((PACKAGE / path).read_text("utf-8").splitlines()) <= 400


def test_the_window_keeps_to_its_room() -> None:
    """At most 2,500 lines of anondb's own: Python, pages, style and script."""
    files = [p for p in (PACKAGE / "ui").rglob("*.*") if p.suffix in (".py", ".html", ".css", ".js")]
    texts = [p.read_text("utf-8") for p in files if p.name != "htmx.min.js"]
    assert sum(len(text.splitlines()) for text in texts) <= 2500


def test_functions_fit_on_a_screen() -> None:
    """At most 60 lines, with the docstring."""
    functions = [(p, n) for p in SOURCES for n in nodes_of(p) if isinstance(n, ast.FunctionDef)]
    assert not [f"{path}: {f.name}" for path, f in functions if (f.end_lineno or 0) - f.lineno >= 60]


def test_no_module_hides_a_public_name() -> None:
    """Importing a module sets its name on the package, in the place of a function of that name."""
    assert not {p.stem for p in SOURCES if len(p.parts) == 1} & set(anondb.__all__)


@each("path", SOURCES)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(tree_of(path))


def test_heavy_modules_are_imported_where_they_are_used() -> None:
    for path in SOURCES:
        heavy = {"pandas", "pyarrow", "rich", "matplotlib", "psycopg", "pyspark"}
        at_once = {n.split(".")[0] for n in imported_at_once(tree_of(path))}
        assert path in USES_ALL_AT_ONCE or not at_once & heavy, path


@each("name", all_names())
def test_headers_and_the_portable_subset(name: str) -> None:
    query = load(name)
    ctes = {cte.alias for cte in query.tree.find_all(exp.CTE)}
    tables = [t for t in query.tree.find_all(exp.Table) if isinstance(t.this, exp.Identifier) and not t.db]
    variables = [c for c in query.tree.find_all(exp.Anonymous) if c.name.lower() == "getvariable"]
    assert set(query.reads) == {t.name for t in tables} - ctes
    assert query.params == {c.expressions[0].name for c in variables}
    assert set(query.returns) == set(query.tree.named_selects)
    assert query.grain and query.returns
    text = (SQL_ROOT / f"{name}.sql").read_text("utf-8")
    described = [line for line in text.splitlines() if line.startswith("-- ") and not re.match(r"-- \w+:", line)]
    assert described, "what is the query for?"
    for join in query.tree.find_all(exp.Join):
        assert str(join.args.get("kind") or "").upper() not in ("SEMI", "ANTI")
        assert str(join.side).upper() not in ("SEMI", "ANTI")
    calls = {f.sql_name().lower() for f in query.tree.find_all(exp.Func) if not isinstance(f, exp.Anonymous)}
    calls |= {f.name.lower() for f in query.tree.find_all(exp.Anonymous)}
    assert not calls & {"hash", "random", "rand", "uuid", "gen_random_uuid", "setseed", "now", "current_timestamp"}
    stars = [s for s in query.tree.find_all(exp.Star) if not isinstance(s.parent, exp.Count)]
    assert not stars, "explicit columns"


def test_every_query_is_used() -> None:
    used = {t for path in SOURCES for t in texts(path)}
    short = {(room(path), t) for path in SOURCES if room(path) in ("verify", "query") for t in texts(path)}
    for name in all_names():
        assert name in used or tuple(name.split("/")) in short, name


def test_sql_files_hold_one_statement_each() -> None:
    for path in SQL_ROOT.rglob("*.sql"):
        assert len(sqlglot.parse(path.read_text("utf-8"), dialect="duckdb")) == 1, path


def test_queries_lie_beside_the_package() -> None:
    """The package holds nothing but code and the window's pages: a folder anondb/sql would be read instead of sql."""
    assert SQL_ROOT == PROJECT / "sql"
    files = [p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert {p.suffix for p in files if p.parent.parent != PACKAGE / "ui"} <= {".py", ".typed"}
    assert {p.suffix for p in SQL_ROOT.rglob("*") if p.is_file()} == {".sql"}
