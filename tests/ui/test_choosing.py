"""The owner's way in the window: a promise, candidates, two of them side by side, a checklist, and the file."""

from __future__ import annotations

import html
import re
import shlex
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest
from cli.shop import Run, runs_in_this_process
from ui.client import Client, window, window_on
from ui.conftest import HOSTILE

import anondb
from anondb.pages.text import number
from anondb.release import numbering, objects
from anondb.report.pair import several
from anondb.ui.window import Project

SAID = {"model": "km", "k": "2", "m": "1, 2", "use": "items", "supports": "no", "questions": "", "seconds": "100"}


@pytest.fixture(scope="module")
def place(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the owner's database, and a copy of it as it was."""
    folder = tmp_path_factory.mktemp("owner")
    for name in ("shop.duckdb", "copy.duckdb", "other.duckdb"):
        shutil.copy(files / "shop.duckdb", folder / name)
    return folder


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[Client]:
    project = Project(str(place / "shop.duckdb"), "sales", {"taxonomy": "food"})
    with runs_in_this_process(), window_on(project) as opened:
        assert opened.enter().status == 200
        yield opened


@pytest.fixture(scope="module")
def tried(client: Client) -> str:
    """The page of two candidates."""
    client.post("/choose", **SAID)
    return client.done("/choose")


@contextmanager
def drawn_alike() -> Iterator[None]:
    """Releases have the same number, and their rows the same order, which are drawn at random otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(objects, "secrets", SimpleNamespace(token_hex=lambda n: "ab" * n))
        patch.setattr(numbering, "os", SimpleNamespace(urandom=bytes))
        yield


@pytest.fixture(scope="module")
def published(client: Client, place: Path, tried: str) -> str:
    """The page of a release that was chosen, made, and published."""
    page = client.post("/choose/take", chosen="1")
    assert "mm, 2<sup>2</sup>-anonymity" in page
    with drawn_alike():
        client.post("/publish/release", name="picked")
        client.done("/publish")
        file = {"path": str(place / "picked.duckdb"), "mode": "0640", "format": "duckdb", "modelled_rows": "yes"}
        client.post("/publish/file", **file)
        assert "Say --allow-overlap" in client.done("/publish") and not (place / "picked.duckdb").exists()
        client.post("/publish/file", allow_overlap="yes", of="77", **file)
        assert not (place / "picked.duckdb").exists(), "the checklist of another release was confirmed"
        client.post("/publish/file", allow_overlap="yes", **file)
    return client.done("/publish")


def commands_on(page: str) -> list[list[str]]:
    """The words of the commands that a page shows last."""
    texts = re.findall(r'<figure class="command">.*?<pre tabindex="0">(.*?)</pre>', page, re.S)
    return [shlex.split(line)[1:] for line in html.unescape(texts[-1]).splitlines()]


def test_candidates_stand_beside_a_command_and_leave_the_database_as_it_is(tried: str, place: Path) -> None:
    assert tried.count('name="pair"') == 2 and "<svg" in tried and "recommended" in tried
    meant = html.unescape(re.sub("<[^>]*>", "", tried[tried.index("What the words mean") :]))
    for words in ("22-anonymity: An attacker who knows up to m items", "candidate: a release by", "loss (NCP): the share"):
        assert words in meant
    main = [words for look, words in re.findall(r"<button([^>]*)>(.*?)</button>", tried) if "plain" not in look]
    assert main == ["Try candidates", "Choose"], "look at two is no step on the way"
    (command,) = commands_on(tried)
    assert command[:4] == ["compare", str(place / "shop.duckdb"), "--transactions", "sales"]
    wanted = "--taxonomy food --model km --k 2 --m 1,2 --algorithms mm --no-item-supports --total-limit 100"
    assert command[4:] == wanted.split()
    with anondb.connect(place / "shop.duckdb", read_only=True) as database:
        assert [entry.name for entry in database.releases()] == ["spring"]


@pytest.mark.slow
def test_the_command_tries_the_same(tried: str, place: Path, run: Run) -> None:
    (command,) = commands_on(tried)
    found = run(*(word.replace("shop.duckdb", "copy.duckdb") for word in command), "--json").json["runs"]
    shown = re.findall(r'data-name="bounds\' width">([^<]*)<', tried)
    assert sorted(number(one["bounds_width"]) for one in found) == sorted(shown) and len(found) == 2


@pytest.mark.slow
def test_two_candidates_side_by_side(client: Client, tried: str, place: Path) -> None:
    client.post("/choose/take", pair=["0", "1"])
    page = client.done("/choose/pair")
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row, re.S) for row in re.findall(r"<tr>(.*?)</tr>", page, re.S)]
    answers = {row[0]: (row[1], row[3]) for row in rows if len(row) == 6}
    forms = {row[0]: row[2:] for row in rows if len(row) == 4}
    assert answers["a"] == ("4", "4 to 4") and answers["a, b"][0] == "2"
    assert forms["c"] == ["as itself", "deleted"] and "a" not in forms and len(forms) == 2
    assert "<img" not in page and html.escape("<img src=x") in page
    assert page.count(HOSTILE[-1]) == 1, "as the value of a choice alone"
    client.post("/choose/why", item="c")
    why = html.unescape(client.done("/choose/pair"))
    assert "'c' is published as it is" in why and "fewer than k = 2" in why
    assert "Tick two" in client.post("/choose/take", pair="0")
    with anondb.connect(place / "shop.duckdb", read_only=True) as database:
        assert [entry.name for entry in database.releases()] == ["spring"]


@pytest.mark.slow
def test_the_checklist_and_the_file_are_as_asked(client: Client, place: Path, published: str) -> None:
    assert "Compared with the published 'spring'" in html.unescape(published) and "found no violation" in published
    assert html.escape("<img src=x") in published and "<img" not in published
    checked = anondb.verify_file(place / "picked.duckdb")
    assert checked.content_digest in published and checked.holds and checked.modelled_rows
    assert stat.S_IMODE((place / "picked.duckdb").stat().st_mode) == 0o640
    for kind, words in (("owner", "truth"), ("public", "lower bound")):
        reply = client.ask("GET", f"/publish/report/{kind}")
        assert words in reply.text and "script-src" not in reply.headers["content-security-policy"]
        assert "picked.duckdb" in reply.text or kind == "public"
        assert "not published" not in reply.text and 'href="/publish">Back' in reply.text
        saved = client.ask("GET", f"/publish/report/{kind}?save=yes")
        assert "attachment" in saved.headers["content-disposition"] and "Back to the window" not in saved.text
        assert "style-src 'unsafe-inline'" in reply.headers["content-security-policy"]


@pytest.mark.slow
def test_the_checklist_has_the_signature_and_the_mode(published: str) -> None:
    (checks,) = re.findall(r'<ul class="checks">(.*?)</ul>\s*<fieldset>', published, re.S)
    assert "It is not signed" in checks and 'name="sign"' in checks and 'value="0640" selected' in checks


@pytest.mark.slow
def test_the_command_and_the_policy_give_the_same_content(client: Client, place: Path, published: str, run: Run) -> None:
    wanted = anondb.verify_file(place / "picked.duckdb").content_digest
    for command in commands_on(published):
        moved = [w.replace("shop.duckdb", "copy.duckdb").replace("picked.duckdb", "by_command.duckdb") for w in command]
        with drawn_alike():
            assert run(*moved).code == 0
    assert anondb.verify_file(place / "by_command.duckdb").content_digest == wanted
    text = client.get("/publish/policy.toml")
    assert text.count(str(place)) == 2
    moved_text = text.replace("shop.duckdb", "other.duckdb").replace("picked.duckdb", "by_policy.duckdb")
    (place / "policy.toml").write_text(moved_text)
    with drawn_alike():
        assert run("run", place / "policy.toml").code == 0
    assert anondb.verify_file(place / "by_policy.duckdb").content_digest == wanted
    before = (place / "picked.duckdb").read_bytes()
    (place / "here.toml").write_text(text)
    done = run("run", place / "here.toml")
    assert done.code == 0 and "nothing was done" in done.out and (place / "picked.duckdb").read_bytes() == before


def but_for_numbers(file: Path) -> tuple[list[str], list[str]]:
    """What a sealed file says of each person, and in its other rows, without the numbers that are drawn for each release."""
    of_persons: dict[int, list[str]] = {}
    others: list[str] = []
    with duckdb.connect(str(file), read_only=True) as sealed:
        for (name,) in sealed.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = 'main'").fetchall():
            rows = sealed.sql(f"FROM {name}")
            for row in map(dict, (zip(rows.columns, row, strict=True) for row in rows.fetchall())):
                number = row.pop("transaction_id", None)
                if row.get("key") != "release_id":
                    (others if number is None else of_persons.setdefault(number, [])).append(f"{name} {row}")
    return sorted(str(sorted(rows)) for rows in of_persons.values()), sorted(others)


@pytest.mark.slow
@pytest.mark.parametrize("clicked", [{"supports": "yes", "use": "counts"}, {"model": "kkm", "delta": "0.3"}])
def test_all_but_the_drawn_numbers_are_those_of_the_command(clicked: dict[str, str], tmp_path: Path, run: Run) -> None:
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.sql(
            "CREATE TABLE sales AS SELECT n // 4 AS tid, 'i' || (n * n * n + 5 * n) % 101 % 23 AS item FROM range(240) t(n)"
        )
        connection.sql("CREATE TABLE people AS SELECT n AS tid, 20 + n % 9 AS age, 't' || n % 4 AS town FROM range(60) t(n)")
    shutil.copy(tmp_path / "shop.duckdb", tmp_path / "copy.duckdb")
    shutil.copy(tmp_path / "shop.duckdb", tmp_path / "other.duckdb")
    people = {"records": "people", "quasi_identifiers": "age,town"} if "model" in clicked else {}
    with window_on(Project(str(tmp_path / "shop.duckdb"), "sales", people)) as opened:
        opened.enter()
        opened.post("/choose", **{**SAID, "m": "2", **clicked, "plain": "yes"})
        opened.post("/publish/release", name="clicked")
        opened.done("/publish")
        opened.post("/publish/file", path=str(tmp_path / "clicked.duckdb"), modelled_rows="yes", accept="modelled-records")
        page = opened.done("/publish")
        text = opened.get("/publish/policy.toml")
    wanted = but_for_numbers(tmp_path / "clicked.duckdb")
    assert len(wanted[0]) == 60 and any(row.startswith("item_supports ") for row in wanted[1]) == (not people)
    for command in commands_on(page):
        words = [w.replace("shop.duckdb", "copy.duckdb").replace("clicked.duckdb", "by_command.duckdb") for w in command]
        assert run(*words).code == 0
    (tmp_path / "policy.toml").write_text(
        text.replace("shop.duckdb", "other.duckdb").replace("clicked.duckdb", "by_policy.duckdb")
    )
    assert run("run", tmp_path / "policy.toml").code == 0
    assert but_for_numbers(tmp_path / "by_command.duckdb") == wanted == but_for_numbers(tmp_path / "by_policy.duckdb")


@pytest.mark.slow
def test_findings_are_confirmed_where_a_release_stops(tmp_path: Path) -> None:
    rows = [(t, f"{part}.{t * n % 4}") for t in range(40) for n, part in enumerate(("color", "trim", "seat"), 1)]
    (tmp_path / "cars.csv").write_text("tid,item\n" + "".join(f"{t},{item}\n" for t, item in rows))
    with anondb.connect(tmp_path / "cars.duckdb") as database:
        database.load(tmp_path / "cars.csv", transactions_as="cars")
    with window_on(Project(str(tmp_path / "cars.duckdb"), "cars")) as opened:
        opened.enter()
        opened.post("/choose", **SAID)
        assert opened.done("/choose").count('name="pair"') == 2
        opened.post("/choose/take", pair=["0", "1"])
        assert "Ten answers" in opened.done("/choose/pair"), "they are not given away"
        opened.post("/publish/release", name="cars")
        page = opened.done("/publish")
        boxes = re.findall(r'type="checkbox" name="accept" value="([^"]*)"', page)
        assert boxes == ["column-prefixes"] and "found no violation" not in page
        opened.post("/publish/release", name="cars", accept="column-prefixes")
        page = opened.done("/publish")
        assert "found no violation" in page and "--accept column-prefixes" in page


@pytest.mark.slow
def test_the_policy_reads_the_file_of_the_owner_every_night(tmp_path: Path, run: Run) -> None:
    sales, file, policy = (tmp_path / name for name in ("our sales.csv", "given 1.duckdb", "policy.toml"))
    sales.write_text("customer;product\n" + "".join(f"{n};{item}\n" for n in range(12) for item in "ab"[: 1 + n % 2]))
    with window(str(sales), folder=tmp_path) as opened:
        opened.enter()
        opened.done("/load")
        opened.post("/load/confirm", item_as="what")
        assert "is loaded" in opened.done("/load")
        opened.get("/publish")
        opened.post("/publish/release", name="night")
        opened.done("/publish")
        opened.post("/publish/file", path=str(file), proof="yes")
        page = opened.done("/publish")
        assert str(file) in page and "allow_overlap = true\n" not in html.unescape(page)
        assert "anondb verify 'given 1.duckdb' --expect content:" in html.unescape(page)
        policy.write_text(opened.get("/publish/policy.toml"))
        again = opened.get("/publish/policy.toml?again=yes")
    before = file.read_bytes(), anondb.verify_file(file).content_digest
    assert before[1] in page and anondb.open(file).sql("SELECT count(*) FROM our_sales WHERE what = 'a'").fetchall()
    done = run("run", policy)
    assert done.code == 0 and "nothing was done" in done.out and file.read_bytes() == before[0]
    with sales.open("a") as more:
        more.write("12;a\n")
    assert "allow_overlap = true" in run("run", policy).err and file.read_bytes() == before[0]
    policy.write_text(again)
    assert run("run", policy).code == 0
    digest = anondb.verify_file(file).content_digest
    assert digest != before[1] and digest in (tmp_path / "given 1-proof" / "README.md").read_text()


@pytest.mark.slow
def test_a_proof_of_an_earlier_release(client: Client, place: Path, published: str, run: Run) -> None:
    client.post("/publish/release", name="picked", open="yes")
    assert "picked" in client.done("/publish")
    client.post("/publish/file", path=str(place / "proven.duckdb"), proof="yes", allow_overlap="yes")
    page = client.done("/publish")
    (command,) = commands_on(page)
    assert command[0] == "publish" and (place / "proven-proof").is_dir()
    assert client.ask("GET", "/publish/policy.toml").status == 404, "its options are not those of this window"
    assert run(*(word.replace("proven", "again") for word in command)).code == 0
    assert (place / "again-proof").is_dir() and anondb.verify_file(place / "again.duckdb").holds


@pytest.mark.slow
def test_a_release_is_dropped(client: Client, place: Path, published: str) -> None:
    client.post("/publish/drop", name="spring")
    page = client.done("/publish")
    assert re.search(r"spring <span[^>]*>\(dropped\)", page) and "verify FILE --expect DIGEST" in page
    with anondb.connect(place / "shop.duckdb", read_only=True) as database:
        assert {entry.name: entry.status for entry in database.releases()}["spring"] == "dropped"


def test_what_cannot_be_promised_is_said(client: Client, tried: str) -> None:
    for wrong, words in (
        ({"k": "many"}, "k must be"),
        ({"seconds": "soon"}, "number of seconds"),
        ({"use": "categories", "model": "hkp"}, "sensitive"),
    ):
        page = html.unescape(client.post("/choose", **{**SAID, **wrong, "plain": "yes"}))
        assert 'role="alert"' in page and words in page, words
    assert "--k 5 --m 2" in client.post("/choose", **{**SAID, "k": "5", "m": "2", "plain": "yes"})
    best = client.post("/choose", **{**SAID, "use": "counts", "supports": "both", "plain": "yes"})
    assert "similar + supports" in best or "--algorithm similar" in best


@pytest.mark.slow
def test_candidates_without_a_release_are_named_once(client: Client, published: str) -> None:
    client.post("/choose", **{**SAID, "use": "categories", "k": "2, 50", "m": "1"})
    page = html.unescape(client.done("/choose"))
    assert page.count('name="pair"') >= 1 and page.count("Others, which made no release") == 1
    (others,) = re.findall(r"Others, which made no release.*?</details>", page, re.S)
    assert 1 <= others.count("<li>") < others.count("-anonymity"), "those with the same reason stand together"


@pytest.mark.slow
def test_questions_that_are_not_answered_are_named(client: Client, published: str) -> None:
    asked = "SELECT count(*) FROM sales WHERE item = 'a'; SELECT nonsense"
    client.post("/choose", **{**SAID, "m": "1", "questions": asked})
    page = html.unescape(client.done("/choose"))
    assert "Question 2 is in no error" in page and "no table of the query has a column 'nonsense'" in page
    assert "Question 1 is in no error" not in page


@pytest.mark.slow
def test_items_that_local_recodings_show_in_many_ways() -> None:
    assert several("abc") == "a or b or c" and several("abcd") == "a or b or c or 1 other"
    assert several("abcde").endswith("or 2 others") and several(()) == "deleted"


def test_without_a_project_there_is_a_way_back(tmp_path: Path) -> None:
    with window(folder=tmp_path) as opened:
        opened.enter()
        for part in ("choose", "publish", "choose/pair"):
            page = opened.get(f"/{part}")
            assert "/load" in page
