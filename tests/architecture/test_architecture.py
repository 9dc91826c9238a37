"""The rooms and the direction of imports, SQL only where it belongs, and what is in the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import sqlglot
from each import each
from sqlglot import exp

import anondb
from anondb.engine import all_names, load
from anondb.engine.queries import SQL_ROOT

PACKAGE = Path(anondb.__file__).parent
PROJECT = PACKAGE.parent
SOURCES = {path.relative_to(PACKAGE): ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}

# What each room may import of the others; a module at the top is a room of its own. Later rooms build on earlier ones.
ROOMS: dict[str, set[str]] = {
    "errors": set(),
    "pages": {"errors"},
    "engine": {"errors"},
    "models": {"errors"},
    "recoding": {"engine"},
    "reading": {"engine", "errors", "models"},
    "data": {"engine", "errors", "models", "reading", "recoding"},
    "taxonomies": {"data", "engine", "errors"},
    "algorithms": {"data", "models", "recoding", "engine", "errors"},
    "verify": {"models", "pages", "engine", "errors"},
    "utility": {"data", "models", "recoding", "pages", "engine", "errors"},
    "release": {"data", "models", "recoding", "utility", "verify", "pages", "engine", "errors"},
    "postgres": {"release", "engine", "errors"},
    "warehouse": {"data", "postgres", "release", "engine", "errors"},
    "answers/rules": set(),
    "query": {"answers/rules", "data", "release", "engine", "errors"},
    "answers": {"query", "release", "engine", "errors"},
    "session": {"answers", "query", "warehouse", "release", "data", "reading", "engine", "errors"},
    "serve": {"session", "query", "errors"},
    "promises": {"data", "models", "release", "verify", "engine", "errors"},
    "policy": {"algorithms", "models", "promises", "reading", "errors"},
    "options": {"algorithms", "models", "policy", "reading", "errors"},
    "statements": {"options", "release", "errors"},
    "recode": {
        "algorithms",
        "data",
        "models",
        "policy",
        "promises",
        "recoding",
        "release",
        "utility",
        "engine",
        "errors",
    },
    "clock": {"engine"},
    "report_rows": {"reading"},
    "ledger": {
        *("algorithms", "options", "policy", "promises", "statements"),
        *("data", "reading", "recoding", "release", "engine", "errors"),
    },
    "publications": {
        *("answers", "ledger", "policy", "postgres", "promises", "statements", "warehouse"),
        *("data", "models", "reading", "release", "engine", "errors"),
    },
    "risk": {
        *("algorithms", "ledger", "policy", "promises", "recode", "session", "statements", "verify"),
        *("data", "models", "pages", "recoding", "release", "utility", "engine", "errors"),
    },
    "engine_release": {"data", "models", "recoding", "release", "verify", "warehouse", "engine", "errors"},
    "on_engine": {
        *("algorithms", "engine_release", "ledger", "policy", "postgres", "recode", "verify", "warehouse"),
        *("data", "models", "recoding", "release", "utility", "engine", "errors"),
    },
    "load": {
        *("algorithms", "clock", "on_engine", "policy", "promises", "publications"),
        *("data", "reading", "engine", "errors"),
    },
    "reports": {
        *("ledger", "publications", "report_rows", "risk", "verify"),
        *("data", "models", "reading", "release", "utility", "engine"),
    },
    "pipeline": {
        *("algorithms", "clock", "ledger", "load", "on_engine", "policy", "promises", "publications", "recode"),
        *("reports", "risk", "verify"),
        *("data", "models", "reading", "recoding", "release", "utility", "engine", "errors"),
    },
    "views": {
        *("algorithms", "clock", "ledger", "load", "options", "pages", "pipeline", "policy", "postgres", "promises"),
        *("publications", "reports", "statements", "verify", "warehouse"),
        *("data", "models", "reading", "recoding", "release", "utility", "engine", "errors"),
    },
}
OWNERS = {"ledger", "publications", "risk", "views"}  # what they read and return is the owner's
OUTSIDE = set(
    ROOMS
)  # the modules at the top that are no rooms (the Python interface, the command line) may use any room
MAY_IMPORT_DUCKDB = {Path("release/reader.py")}  # hands a locked connection to analysts
TALKS_TO_POSTGRES = {Path("postgres/server.py")}
USES_ALL_AT_ONCE = {Path("serve/values.py")}  # the room is imported where it is used: by the command serve
READS_SQLITE = {Path("reading/sqlite.py")}
PLAYS_THE_ANALYST = {Path("demo.py")}  # asks the sealed file as any DuckDB client would
QUERY_ROOM = {
    "algorithms": {"anatomy", "itemsets", "coat", "clusters", "transactions", "warehouse/threats"},
    "verify": {"verify", "warehouse/verify"},
    "engine": {"engine"},
}
LONG_FILES = {  # over 400 lines, and why
    "database.py": "the Python interface: one method for each thing that can be done with a database or a release",
    "query/predicates.py": "the algebra of predicates",
}


def room(path: Path) -> str:
    inner = "/".join(path.parts[:2])
    return inner if inner in ROOMS else path.parts[0] if len(path.parts) > 1 else path.stem


def imports(tree: ast.Module) -> set[str]:
    """The dotted names of everything that a module imports, also inside functions."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative import"
            found.add(node.module or "")
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "anondb"}
    return found


def texts(tree: ast.Module) -> list[str]:
    return [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def imported_at_once(tree: ast.Module) -> set[str]:
    """The modules that are imported at the top of a file, that is whenever anondb is."""
    return {
        n
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for n in imports(ast.Module([node], []))
    }


@each("path", SOURCES)
def test_imports_follow_the_arrows(path: Path) -> None:
    here = room(path)
    modules = [Path(*name.split(".")[1:]) for name in imports(SOURCES[path]) if name.startswith("anondb.")]
    others = {room(module) if len(module.parts) > 1 else str(module) for module in modules} - {here}
    if here in ROOMS:
        assert others & OUTSIDE <= ROOMS[here]
        assert not {o for o in others - OUTSIDE if (PACKAGE / f"{o}.py").exists()}


def test_every_room_is_known() -> None:
    folders = {room(p) for p in SOURCES if len(p.parts) > 1}
    above = {"cli", "compare", "guide", "report"}
    assert folders <= set(ROOMS) | above  # the others lie above the pipeline


def test_the_arrows_have_no_cycle() -> None:
    order = list(ROOMS)
    done: set[str] = set()
    while order:
        ready = [r for r in order if ROOMS[r] <= done]
        assert ready, f"a cycle among {order}"
        done |= set(ready)
        order = [r for r in order if r not in done]


def query_folders(path: Path) -> set[str]:
    """The folders of the queries that a module names."""
    folders = {name.rpartition("/")[0] for name in all_names()}
    return {t.rpartition("/")[0] for t in texts(SOURCES[path]) if re.fullmatch(r"[a-z]+(/[a-z]+)?/\w+", t)} & folders


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
    tree = SOURCES[path]
    at_run_time = {n for n in imports(tree) if n.split(".")[0] in ("duckdb", "_duckdb")}
    inside = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in ast.dump(n.test)]
    for_types = {name for block in inside for name in imports(ast.Module([*block.body], []))}
    top_level = len(path.parts) == 1
    if room(path) != "engine" and not top_level and path not in MAY_IMPORT_DUCKDB:
        assert at_run_time <= for_types
    if room(path) not in ("engine", "warehouse") and path not in PLAYS_THE_ANALYST | TALKS_TO_POSTGRES | READS_SQLITE:
        called = {n.func.attr for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
        assert not called & {"execute", "executemany", "executescript"}
        attributes = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        assert "_connection" not in attributes or top_level


SQL_TEXT = re.compile(
    r"^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|ATTACH|DETACH|COPY|SET|PRAGMA|FROM|DESCRIBE)\s", re.I
)


@each("path", SOURCES)
def test_no_sql_is_put_together_as_text(path: Path) -> None:
    """No f-string, %, + or format that begins like a statement, but for those that are shown to the user."""
    calls = [n for n in ast.walk(SOURCES[path]) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)]
    shown = {id(arg) for call in calls if ast.unparse(call.func) == "typer.echo" for arg in call.args}
    for node in ast.walk(SOURCES[path]):
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
    if str(path) not in LONG_FILES:
        assert len((PACKAGE / path).read_text("utf-8").splitlines()) <= 400


def test_no_module_hides_a_public_name() -> None:
    """Importing a module sets its name on the package, in the place of a function of that name."""
    assert not {p.stem for p in SOURCES if len(p.parts) == 1} & set(anondb.__all__)


@each("path", SOURCES)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(SOURCES[path])


def test_heavy_modules_are_imported_where_they_are_used() -> None:
    for path, tree in SOURCES.items():
        heavy = {"pandas", "pyarrow", "rich", "matplotlib", "psycopg", "pyspark"}
        assert path in USES_ALL_AT_ONCE or not {n.split(".")[0] for n in imported_at_once(tree)} & heavy, path


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
    used = {t for tree in SOURCES.values() for t in texts(tree)}
    short = {
        (room(path), t) for path, tree in SOURCES.items() for t in texts(tree) if room(path) in ("verify", "query")
    }
    for name in all_names():
        assert name in used or tuple(name.split("/")) in short, name


def test_sql_files_hold_one_statement_each() -> None:
    for path in SQL_ROOT.rglob("*.sql"):
        assert len(sqlglot.parse(path.read_text("utf-8"), dialect="duckdb")) == 1, path


def test_queries_lie_beside_the_package() -> None:
    """The package holds nothing but code: a folder anondb/sql in the source tree would be read instead of sql."""
    assert SQL_ROOT == PROJECT / "sql"
    files = [p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    assert {p.suffix for p in files} <= {".py", ".typed"}
    assert {p.suffix for p in SQL_ROOT.rglob("*") if p.is_file()} == {".sql"}
