"""The window of an owner: loading files and tables, their pictures, and trees that are edited."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from cli.shop import BASKETS, EDGES, Run
from ui.client import Client, window_on
from ui.conftest import HOSTILE

import anondb
from anondb.reading.options import ReadAs
from anondb.taxonomies import BUILDERS
from anondb.taxonomies.check import supported_taxonomy

PURCHASES = ReadAs("purchases", id="client", item="thing")
PEOPLE = {"taxonomy": "taxonomy", "records": "records", "quasi_identifiers": "age,sex"}
ITEMS = {item: HOSTILE if item == "d" else item for item in "abcd"}


def csv_file(folder: Path) -> Path:
    """Purchases separated by vertical bars, with a line before the header."""
    rows = [f"{person}|{ITEMS[item]}" for person, items in BASKETS.items() for item in items]
    (folder / "purchases.txt").write_text("\n".join(["exported by the till", "client|thing", *rows]), "utf-8")
    return folder / "purchases.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("owner")
    csv_file(made)
    paths = {item: [ITEMS[item], *(p for p in (dict(EDGES)[item], "all") if p)] for item in "abcd"}
    quoted = "\n".join(";".join('"' + part.replace('"', '""') + '"' for part in path) for path in paths.values())
    (made / "food.tree").write_text(quoted + "\n", "utf-8")
    people = [f"{person},{30 + person % 2},{'FM'[person % 2]}" for person in BASKETS]
    (made / "people.csv").write_text("\n".join(["client,age,sex", *people]), "utf-8")
    return made


@pytest.fixture
def client(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.chdir(folder)
    with window_on("purchases.txt") as opened:
        opened.enter()
        yield opened


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Path:
    """The purchases in a database, with their taxonomy and records."""
    held = {
        "purchases(client BIGINT, thing TEXT)": [(n, ITEMS[item]) for n, items in BASKETS.items() for item in items],
        "taxonomy(node TEXT, parent TEXT)": [(ITEMS.get(node, node), parent) for node, parent in EDGES],
        "records(client BIGINT, age BIGINT, sex TEXT)": [(n, 30 + n % 2, "FM"[n % 2]) for n in BASKETS],
    }
    with duckdb.connect(str(folder / "loaded.duckdb")) as connection:
        for table, rows in held.items():
            connection.execute(f"CREATE TABLE {table}")
            connection.executemany(f"INSERT INTO {table[: table.index('(')]} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    return folder / "loaded.duckdb"


@pytest.fixture
def chosen(client: Client, loaded: Path) -> Client:
    """A window on the tables of that database."""
    client.post("/load/source", path=loaded.name)
    client.post("/load/reading", transactions="purchases", id="client", item="thing")
    for part in ("taxonomy", "records"):
        client.post(f"/load/{part}", path=part)
    client.post("/load/confirm", quasi_identifiers=["age", "sex"])
    assert not problems_on(client.done("/load"))
    return client


def commands_on(page: str) -> list[list[str]]:
    figures = re.findall(r'<figure class="command">.*?<pre tabindex="0">(.*?)</pre>', page, re.S)
    return [shlex.split(html.unescape(text))[1:] for text in figures]


def problems_on(page: str) -> str:
    return " ".join(html.unescape(text) for text in re.findall(r'<div class="problem" role="alert">(.*?)</div>', page, re.S))


def tables(path: Path, *names: str) -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        shown = names or ("purchases", "taxonomy", "records")
        rows = {name: connection.sql(f"SELECT * FROM {name} ORDER BY ALL") for name in shown}
        return {name: [tuple(r.columns), *r.fetchall()] for name, r in rows.items()}


def nodes_on(page: str) -> dict[str, tuple[int, int | None]]:
    """The nodes of the tree that are shown, by label: their number, and their persons if these are counted."""
    rows = re.findall(r'name="node" value="(\d+)"[^>]*> (.*?)</label>\s*<span class="note">(.*?)</span>', page, re.S)
    persons = {number: re.search(r"([\d,]+) persons", note) for number, _, note in rows}
    return {html.unescape(label): (int(n), int(p[1]) if (p := persons[n]) else None) for n, label, _ in rows}


def builders_on(page: str) -> list[str]:
    return re.findall(r'<input type="radio" name="by" value="(\w*)"', page)


def test_a_file_is_mended_and_loaded_as_the_command_says(
    client: Client, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = client.done("/load")
    assert "<b>skip</b> 1" in page and not problems_on(page), "the first line is none of the table"
    client.post("/load/reading", skip="0")
    page = client.done("/load")
    assert "<svg" not in page and problems_on(page)
    client.post("/load/reading", skip="1", delimiter="|", id="client", item="thing")
    page = client.done("/load")
    assert page.count("<svg") == 2 and "6 persons" in page and HOSTILE not in page and "<img" not in page
    assert not problems_on(page)
    shown = page[: page.index("<svg")]
    assert "<b>layout</b> long" in shown and "<b>id</b> client" in shown and "<b>format</b> separated by" in shown
    client.drop("/load/taxonomy", folder / "food.tree")
    assert "It fits: 7 nodes" in client.done("/load")
    client.post("/load/records", path="people.csv")
    page = client.done("/load")
    assert re.findall(r'name="quasi_identifiers" value="(\w+)" checked', page) == ["age", "sex"]
    client.post("/load/confirm", quasi_identifiers=["age", "sex"], database="window.duckdb")
    page = client.done("/load")
    assert "is loaded" in page and "food.tree: " in page and "people.csv: " in page
    (command,) = commands_on(page)
    assert command[1] == "window.duckdb", "the file that was loaded, not the next one"
    monkeypatch.chdir(folder)
    assert run(*["command.duckdb" if word.endswith(".duckdb") else word for word in command]).code == 0
    assert tables(folder / "window.duckdb") == tables(folder / "command.duckdb")
    assert len(tables(folder / "window.duckdb")["records"]) == 1 + len(BASKETS)
    assert tables(folder / "window.duckdb")["purchases"][0] == ("client", "thing"), "as in the file"


def test_files_in_two_encodings_are_loaded(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("id,code\n1,ä\n2,ö\n1,ö\n", "utf-8")
    Path("people.csv").write_text("id;town\n1;Köln\n2;Düren\n", "latin-1")
    with window_on("visits.csv") as opened:
        opened.enter()
        opened.done("/load")
        opened.post("/load/records", path="people.csv")
        assert "Köln" in opened.done("/load")
        opened.post("/load/confirm", quasi_identifiers=["town"], database="window.duckdb")
        page = opened.done("/load")
        assert "is loaded" in page
        (command,) = commands_on(page)
    assert run(*["command.duckdb" if word.endswith(".duckdb") else word for word in command]).code == 0
    held = tables(Path("window.duckdb"), "visits", "records")
    assert held == tables(Path("command.duckdb"), "visits", "records")
    assert held["records"][1:] == [("1", "Köln"), ("2", "Düren")] and {item for _, item in held["visits"][1:]} == {"ä", "ö"}


def test_attributes_in_the_rows_of_the_transactions(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = (f"{n},{item},{30 + n % 2},{day}" for n, items in BASKETS.items() for day, item in enumerate(items))
    Path("visits.csv").write_text("\n".join(["client,thing,age,day", *rows]))
    with window_on("visits.csv") as opened:
        opened.enter()
        opened.done("/load")
        Path("twice.csv").write_text("client,age\n1,30\n1,31\n")
        opened.post("/load/records", path="twice.csv")
        problem = problems_on(opened.done("/load"))
        assert "repeats an id" in problem
        opened.post("/load/confirm", database="window.duckdb")
        assert problems_on(opened.done("/load")) == problem and not Path("window.duckdb").exists()
        opened.post("/load/records", path="visits.csv")
        page = opened.done("/load")
        assert not problems_on(page) and "it varies in the rows of a person" in page
        assert re.findall(r'name="quasi_identifiers" value="(\w+)"( checked)?', page) == [("age", " checked"), ("day", "")]
        opened.post("/load/confirm", quasi_identifiers=["age"], database="window.duckdb")
        assert "is loaded" in opened.done("/load")
        assert "Persons by age" in opened.done("/understand")
    shown = run("peek", "visits.csv", "--layout", "people", "--id", "client", "--item", "thing").out
    assert [line.split(": ")[1] for line in shown.splitlines() if line.startswith("  person")] == [
        "age 31",
        "age 30",
        "age 31",
    ]
    (command,) = (shlex.split(line) for line in shown.splitlines() if line.startswith("anondb "))
    command[command.index("--quasi-identifiers") + 1] += ":numeric"
    assert run(*command[1:], "--k", "2").code == 0


@pytest.mark.slow
def test_the_profile_as_pictures(chosen: Client, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    page = chosen.done("/understand")
    with anondb.connect(folder / "loaded.duckdb", read_only=True) as db:
        told = db.profile("purchases", id="client", item="thing", **PEOPLE)
    tiles = re.findall(r'<div class="tile"><b>([\d,]+)</b>', page)
    assert tiles == [f"{n:,}" for n in (told.persons, told.items, told.occurrences, told.single_items)]
    assert (
        page.count("<figure><h3>") == 7
        and "<h3>Persons by age</h3>" in page
        and "All figures" in page
        and "<img" not in page
    )
    monkeypatch.chdir(folder)
    assert all(run(*command).code == 0 for command in commands_on(page))


@pytest.mark.slow
def test_a_tree_is_edited_saved_and_used(chosen: Client, folder: Path) -> None:
    page = chosen.done("/understand")
    nodes = nodes_on(page)
    assert {label: persons for label, (_, persons) in nodes.items()} == {"all": 6, "X": 6, "Y": 4}
    x, y = str(nodes["X"][0]), str(nodes["Y"][0])
    nodes = nodes_on(chosen.post("/understand/tree", do=f"toggle:{x}"))
    assert nodes["a"][1] == 4 and chosen.get("/understand").count('aria-expanded="true"') == 2
    chosen.post("/understand/tree", do="group", node=[str(nodes["a"][0]), y], name="new <b>")
    page = chosen.done("/understand")
    nodes = nodes_on(page)
    assert nodes["new <b>"][1] == 6 and "<b>&" not in page and "not saved" in page
    assert re.findall(r'name="node"[^>]*checked', page) == [], "the next edit is about other nodes"
    chosen.post("/understand/tree", do="enter", node=[str(nodes["new <b>"][0])], name="rest")
    chosen.post("/understand/tree", do="move", node=[str(nodes["b"][0])], into="Y")
    assert nodes_on(chosen.done("/understand"))["Y"][1] == 6
    chosen.post("/understand/tree", do="undo")
    page = chosen.post("/understand/tree", do="move", node=["0"], into="rest")
    assert "below itself" in problems_on(page)
    page = chosen.post("/understand/tree", find="IMG")
    assert "1 found" in page and '<div class="node found"' in page and "<img" not in page
    chosen.post("/understand/save", to="mended.tree")
    page = chosen.done("/understand")
    assert ">saved<" in page and all("mended.tree" in command for command in commands_on(page))
    with anondb.connect(folder / "loaded.duckdb", read_only=True) as db:
        tree, persons = supported_taxonomy(db.engine, folder / "mended.tree", PURCHASES)
    assert persons is not None
    found = {label: (tree.labels[tree.parent[n]], persons[n]) for n, label in enumerate(tree.labels) if n}
    assert found["a"] == ("rest", 4) and found["rest"] == ("X", 6) and found["Y"] == ("rest", 4) and len(found) == 7
    chosen.post("/understand/save", to="mended.tree")
    assert "exists already" in problems_on(chosen.done("/understand"))


@pytest.mark.slow
def test_hierarchies_are_built_and_saved(chosen: Client, folder: Path) -> None:
    chosen.post("/understand/of", attribute="age")
    page = chosen.done("/understand")
    assert "The hierarchy of age" in page and not nodes_on(page) and builders_on(page)[0] == ""
    chosen.post("/understand/build", by="frequency", **{"more-frequency": "2"})
    page = chosen.done("/understand")
    assert nodes_on(page)["all"][1] == 6 and "--by frequency --fan-out 2" in page
    chosen.post("/understand/save", to="hierarchies/")
    page = chosen.done("/understand")
    assert ">saved<" in page and (folder / "hierarchies" / "age.tree").exists() and "--hierarchies hierarchies/" in page
    chosen.post("/understand/build", by="bands", **{"more-bands": "nothing"})
    assert "widths above 0" in problems_on(chosen.done("/understand"))
    chosen.post("/understand/of", attribute="sex")
    page = chosen.done("/understand")
    assert "It has none yet" in page and not problems_on(page) and "<details open><summary>Build one" in page
    chosen.post("/understand/build", by="")
    page = chosen.done("/understand")
    assert nodes_on(page)["all"][1] == 6 and "hierarchy build" in page and "--by" not in page


def test_tables_of_a_database_are_chosen(client: Client, loaded: Path) -> None:
    page = client.post("/load/source", path=loaded.name)
    page = client.done("/load")
    assert re.findall(r'name="transactions" value="(\w+)"', page) == ["purchases", "records", "taxonomy"]
    client.post("/load/reading", transactions="purchases", id="client", item="thing")
    assert "<svg" in client.done("/load")
    client.post("/load/taxonomy", path="records")
    page = client.done("/load")
    assert problems_on(page), "records are no taxonomy"
    client.post("/load/taxonomy", path="")
    client.post("/load/confirm")
    page = client.done("/understand")
    assert loaded.name in page and "--taxonomy" not in page
    assert "<details open><summary>Build one" in page and builders_on(page) == list(BUILDERS)
    client.post("/understand/build", by="similarity")
    page = client.done("/understand")
    assert not problems_on(page) and nodes_on(page)["all"][1] == 6 and "not saved" in page
    client.post("/understand/tree", do="rename", node=["0"], name="everything")
    client.post("/understand/save", to="built")
    page = client.done("/understand")
    assert nodes_on(page)["everything"][1] == 6 and ">saved<" in page
    assert all("--taxonomy built" in shlex.join(command) for command in commands_on(page))


@pytest.mark.slow
def test_missing_items_are_added(chosen: Client, folder: Path) -> None:
    (folder / "part.tree").write_text("a;X;all\nb;X;all\n", "utf-8")
    chosen.post("/load/taxonomy", path="part.tree")
    assert "2 items are missing" in problems_on(chosen.done("/load"))
    chosen.post("/load/confirm")
    page = chosen.done("/understand")
    assert "items of table 'purchases' are not in" in problems_on(page) and 'name="under"' in page
    chosen.post("/understand/build", under="others")
    page = chosen.done("/understand")
    assert nodes_on(page)["others"][1] == 4 and not problems_on(page) and "not saved" in page


@pytest.mark.slow
def test_a_table_of_people_without_items(client: Client, folder: Path) -> None:
    client.drop("/load/source", folder / "people.csv")
    page = client.done("/load")
    assert "quasi_identifiers" in page and "people.csv" in page
    kinds = {"kind of age": "categorical", "kind of sex": ""}
    client.post("/load/confirm", quasi_identifiers=["age", "sex"], database="people.duckdb", **kinds)
    assert "is loaded" in client.done("/load")
    page = client.done("/understand")
    assert not problems_on(page) and "--layout people" in page and "The hierarchy of age" in page
    assert "--quasi-identifiers age:categorical,sex" in page
    client.post("/understand/build", by="bands", **{"more-bands": "10"})
    assert nodes_on(client.done("/understand"))["all"][1] == 6
    assert "some of their items" not in client.get("/choose") and 'name="m"' not in client.get("/choose")
    client.post("/choose", model="kkm", k="2, 3", **{"try": "yes"})
    page = client.done("/choose")
    assert not problems_on(page) and "--k 2,3" in page and "--algorithms rum_bound_rt" in page and "--delta" not in page


@pytest.mark.slow
def test_a_column_whose_name_has_a_comma(client: Client, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (f"{person},{'YL'[person % 2]},{30 + person % 4}\n" for person in range(12))
    (folder / "towns.csv").write_text('tid,"town, region",age\n' + "".join(rows))
    client.post("/load/source", path="towns.csv")
    client.done("/load")
    client.post("/load/confirm", quasi_identifiers=["town, region", "age"], database="towns.duckdb")
    assert "is loaded" in client.done("/load")
    client.post("/understand/of", attribute="town, region")
    client.post("/understand/build", by="")
    page = client.done("/understand")
    assert "The hierarchy of town, region" in page and nodes_on(page)["all"][1] == 12
    client.post("/understand/save", to="towns/")
    page = client.done("/understand")
    monkeypatch.chdir(folder)
    assert all(run(*command).code == 0 for command in commands_on(page)), problems_on(page)
    client.post("/choose", model="kkm", k="2", **{"try": "yes"})
    page = client.done("/choose")
    assert not problems_on(page) and 'name="pair"' in page
    client.post("/publish/release", name="towns")
    page = client.done("/publish")
    assert "found no violation" in page and "generalized values of town, region, age" in page
    client.post("/publish/file", path="sealed.duckdb")
    client.done("/publish")
    (folder / "towns.toml").write_text(client.get("/publish/policy.toml"))
    assert "nothing was done" in run("run", "towns.toml").out


def test_an_empty_file_is_not_loaded(client: Client, folder: Path) -> None:
    for text, problem in (("", "is empty"), ("customer,product\n", "nobody is in it")):
        (folder / "empty.csv").write_text(text)
        client.post("/load/source", path="empty.csv")
        page = client.done("/load")
        assert problem in problems_on(page) and "/load/confirm" not in page


def test_persons_whose_items_are_missing_stay(client: Client, folder: Path) -> None:
    (folder / "gaps.csv").write_text("tid,item\n1,\n2,milk\n3,milk\n")
    client.post("/load/source", path="gaps.csv")
    client.done("/load")
    client.post("/load/reading", drop_missing_items="yes")
    client.done("/load")
    client.post("/load/confirm", database="gaps.duckdb")
    client.done("/load")
    page = client.done("/understand")
    assert not problems_on(page) and re.search(r"\b3\b.{0,40}persons", page) and "--drop-missing-items" in page


def test_a_name_that_says_nothing_is_no_mistake_of_the_window(client: Client, folder: Path) -> None:
    (folder / "sold.csv").write_text("tid,item\n1,milk\n")
    for words, told in (("skp=1", "says nothing of how"), ("skip=x", "must be"), ("encoding=nosuch", "no such encoding")):
        reply = client.ask(
            "POST",
            "/load/source",
            f"path={folder}/sold.csv%23{words}".encode(),
            Content_Type="application/x-www-form-urlencoded",
        )
        assert (reply.status, told in reply.text) == (400, True), reply.text


@pytest.mark.slow
def test_what_is_missing_is_said(client: Client) -> None:
    client.post("/load/source", path="nowhere.csv")
    assert "does not exist" in problems_on(client.done("/load"))
