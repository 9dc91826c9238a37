"""Reports on releases of every kind: the figures against naive ones, and nothing on a public page but what a file shows."""

from __future__ import annotations

import json
import random
import re
import shutil
from html import unescape
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import pytest
from cli.shop import Run, state_of
from portions import some
from report.kinds import HOSTILE, KINDS, QUICK, Parsed, baskets, release

import anondb
from anondb.errors import InputError
from anondb.report.answers import Answer, by_support, figures
from anondb.report.owner import CHANGED, GONE, UNCHANGED, collect
from anondb.report.owner_page import owner_page
from anondb.report.text import owner_rows, public_rows

K = 3


def supported(items: tuple[str, ...]) -> int:
    """How many baskets hold all of the items."""
    return sum(set(items) <= basket for basket in baskets().values())


# ---------------------------------------------------------------------- every kind of release


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(KINDS, *QUICK, "bags", "buckets", "records", check=()))
def test_every_kind_has_pages(place: Path, kind: str) -> None:
    """Closed tags, nothing loaded or run, no number that is none; in words and as JSON, too."""
    with anondb.connect(place) as database:
        release(database, kind)
        report = collect(database.engine, kind, queries=20, individuals=30)
        pages = [owner_page(report), database.release(kind).report_html(public=True)]
    for page in pages:
        parsed = Parsed(page)
        assert parsed.loaded == [] and not parsed.tags & {"script", "b>&amp;", "link", "img", "iframe"}
        assert not re.search(r"\b(nan|None)\b", " ".join(parsed.texts))
        assert len(page) < 300_000
    assert report.source == UNCHANGED and report.entry.name == kind
    assert json.loads(json.dumps(report.to_json()))["shows"]["transactions"] == report.contents.transactions
    assert all(isinstance(value, str) for rows in (owner_rows(report), public_rows(report.contents)) for _, value in rows)
    for asked in report.asked:
        assert all(low <= truth <= high for _, truth, _, low, high in asked.answers)
        if kind not in ("single", "thousands"):
            assert all(truth == supported(items) for items, truth, *_ in asked.answers)


@pytest.mark.slow
def test_attributes_before_and_after(place: Path) -> None:
    """Histograms against the table of persons, losses against NCP, groups against the released rows."""
    with anondb.connect(place) as database:
        made = release(database, "records")
        report = collect(database.engine, "records", queries=20, individuals=30)
        counted = "SELECT count(*) AS n FROM release_records.records GROUP BY age, area ORDER BY n"
        groups = database.engine.connection.execute(counted).fetchall()
        held = "FROM private_place.sales JOIN people USING (tid)"
        truths = {
            (item, words): database.engine.connection.execute(
                f"SELECT count(DISTINCT tid) {held} WHERE item = ? AND {condition}", [item]
            ).fetchall()[0][0]
            for item in {q.item for q in report.questions}
            for words, condition in (
                *((f"age {a} to {b}", f"age BETWEEN {a} AND {b}") for a, b in ((20, 22), (23, 24), (25, 26))),
                *((f"area {side}", f"area = '{side}'") for side in ("north", "south")),
            )
        }
    assert {(q.item, q.words): q.truth for q in report.questions} == truths and len(truths) == 10
    assert all(q.answer.lower <= q.truth <= q.answer.upper for q in report.questions)
    assert report.to_json()["conditional"][0]["truth"] == report.questions[0].truth
    age, area = report.seen
    assert [(b.name, b.before) for b in area.bins] == [("north", 30), ("south", 30)] and age.ranges and not area.ranges
    ages = [20 + tid % 7 for tid in range(1, 61)]
    assert [b.before for b in age.bins if b.before] == [ages.count(20 + n) for n in range(7)] and len(age.bins) == 7
    assert [b.name for b in age.bins] == [str(20 + n) for n in range(7)]
    for one in report.seen:
        assert sum(b.after for b in one.bins) == pytest.approx(60)
    assert (age.loss + area.loss) / 2 == pytest.approx(made.loss.ncp)
    assert sum(persons for *_, persons in age.ranges) == 60 and all(0 <= a <= b <= 20.001 for a, b, _ in age.ranges)
    assert report.groups is not None
    told = report.groups.groups, report.groups.smallest, report.groups.largest
    assert told == (len(groups), groups[0][0], groups[-1][0])
    page = unescape(owner_page(report))
    assert f"{told[0]} group" in page and "age before and after" in page and "a released range of" in page
    assert "north</text>" in page and "Confidence of a guess" not in page


@pytest.mark.slow
def test_attributes_with_missing_values(tmp_path: Path) -> None:
    """NULL is a category; a range with NULL spans all, as in the NCP; the values of a release are in its histogram."""
    with anondb.connect(tmp_path / "people.duckdb") as database:
        database.sql("CREATE TABLE visits AS SELECT i AS tid, 'i' || i % 2 AS item FROM range(60) t(i)")
        database.sql(
            "CREATE TABLE people AS SELECT i AS tid, CASE WHEN i % 9 > 0 THEN i % 40 * 0.7 END AS pay,"
            " CASE WHEN i % 5 > 0 THEN substr('abcd', 1 + i % 4, 1) END AS ward FROM range(60) t(i)"
        )
        people = {"records": "people", "quasi_identifiers": "pay,ward"}
        made = database.anonymize("visits", model=anondb.KkmAnonymity(3, 1), delta=0.9, name="r", **people)
        report = collect(database.engine, "r", queries=5, individuals=5)
        ranged = "SELECT count(*) FROM release_r.records WHERE pay_lo IS NOT NULL"
        with_pay = database.engine.connection.execute(ranged).fetchone()
    pay, ward = report.seen
    assert {b.name: b.before for b in ward.bins} == {"(none)": 12, "a": 12, "b": 12, "c": 12, "d": 12}
    assert sum(b.after for b in ward.bins) == pytest.approx(60)
    assert with_pay is not None and sum(b.before for b in pay.bins) == 53
    assert sum(b.after for b in pay.bins) == pytest.approx(with_pay[0])
    assert (pay.loss + ward.loss) / 2 == pytest.approx(made.loss.ncp)
    assert "ward before and after" in owner_page(report)


@pytest.mark.slow
def test_confidence_of_a_guess_in_words(place: Path) -> None:
    with anondb.connect(place) as database:
        for kind, most in (("diverse", "50 %"), ("hidden", "80 %"), ("buckets", "50 %")):
            page = release(database, kind).report_html(queries=20)
            assert f"Confidence of a guess: at most {most}." in page


@pytest.mark.slow
def test_a_public_page_is_read_from_the_release_alone(with_some: Path, tmp_path: Path, run: Run) -> None:
    shutil.copy(with_some, tmp_path / "shop.duckdb")
    check_public_pages(tmp_path / "shop.duckdb", "some", with_some.with_name("sealed.duckdb"), run)


@pytest.mark.slow
@pytest.mark.parametrize("kind", some(KINDS, *QUICK, "buckets", check=()))
def test_a_public_page_of_every_kind_is_read_from_the_release_alone(place: Path, run: Run, kind: str) -> None:
    sealed = place.with_name("sealed.duckdb")
    with anondb.connect(place) as database:
        release(database, kind).publish(sealed)
    told = [run("report", sealed, "--json").json, run("report", place, "--release", kind, "--public", "--json").json]
    assert told[0] == told[1]
    check_public_pages(place, kind, sealed, run)


def check_public_pages(place: Path, name: str, sealed: Path, run: Run) -> None:
    """The same page from the owner's release, from the sealed file, and from the release after all else is gone."""
    pages = [place.with_name(f"{n}.html") for n in ("first", "second", "third")]
    assert run("report", place, "--release", name, "--public", "--html", pages[0]).code == 0
    assert run("report", sealed, "--html", pages[1]).code == 0
    with duckdb.connect(str(place)) as connection:
        connection.execute("DROP SCHEMA anondb CASCADE; DROP SCHEMA private_place CASCADE")
        for table in ("food", "people", "secrets", "one", "many", "columns_of"):
            connection.execute(f"DROP TABLE {table}")
    assert run("report", place, "--release", name, "--public", "--html", pages[2]).code == 0
    texts = [page.read_text("utf-8") for page in pages]
    assert texts[0] == texts[1] == texts[2]


def shown_by(sealed: Path) -> tuple[set[str], set[str]]:
    """The numbers and labels of a sealed file, by SQL of its own: rows, counts of rows, and answers of its macros."""
    with duckdb.connect(str(sealed), read_only=True) as file:

        def values(sql: str) -> list[tuple[Any, ...]]:
            return file.execute(sql).fetchall()

        n = values("SELECT count(*) FROM transaction_ids")[0][0]
        supports = [s for (s,) in values("SELECT count(DISTINCT transaction_id) FROM transactions GROUP BY item")]
        sizes = [s for (s,) in values("SELECT count(*) FROM released_items GROUP BY released_item")]
        counts = values("SELECT lower_bound, estimate, upper_bound FROM item_counts")
        first = values("SELECT any_value(item ORDER BY item) FROM released_items GROUP BY released_item")
        pairs = [sorted({a, b}) for (a,), (b,) in combinations(first, 2)] + [[a] for (a,) in first]
        counts += [values(f"FROM count_bounds({file.execute('SELECT ?::VARCHAR[]', [p]).fetchall()[0][0]!r})")[0]
                   for p in pairs if all(c.isalnum() for item in p for c in item)]  # fmt: skip
        items = values("SELECT count(DISTINCT item) FROM released_items")[0][0]
        exact = values("SELECT count(*) FROM item_counts WHERE lower_bound = upper_bound")[0][0]
        several = sum(size > 1 for size in sizes)
        incomplete = values("SELECT count(*) FROM transaction_ids WHERE NOT complete")[0][0]
        labels = {x for row in values("SELECT released_item, item FROM released_items") for x in row}
        manifest = dict(values("FROM manifest"))
    numbers = {n, *supports, *sizes, items, exact, several, incomplete, len(sizes), *(s - 6 for s in sizes)}
    numbers |= {x for row in counts for x in row}
    shares = {s / n for s in supports} | {exact / items}
    shown = {f"{100 * s:.3g}" for s in shares}
    shown |= {text for x in numbers for text in (f"{x:,}", f"{x:,.1f}", f"{x:.3g}")}
    shown |= set(re.findall(r"\d[\d,.]*\d|\d", " ".join([*labels, *manifest.values()])))
    return shown, labels | set(manifest.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["records", "buckets"])
def test_what_a_public_page_asks_is_what_the_file_answers(place: Path, tmp_path: Path, kind: str) -> None:
    """Its SQL runs in the file as it stands on the page, and the first answers are those that the page has."""
    with anondb.connect(place) as database:
        made = release(database, kind)
        made.publish(tmp_path / "sealed.duckdb")
        public, owned = made.report_html(public=True), made.report_html(queries=10)
    asked = unescape(re.findall(r"<pre>(.*?)</pre>", public, re.S)[0]).strip().split("\n")
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", public)]
    with duckdb.connect(str(tmp_path / "sealed.duckdb"), read_only=True) as file:
        answers = [file.execute(sql).fetchall() for sql in asked]
    counted = [a[0] for sql, a in zip(asked, answers, strict=True) if "count_bounds" in sql]
    shown = rows[-len(counted) :]
    assert [tuple(float(x.replace(",", "")) for x in row[1:]) for row in shown] == [
        (low, round(middle, 1), high) for low, middle, high in counted
    ]
    assert ("reconstruct(1)" in public) == (kind == "buckets") and ">publish</td>" not in owned
    if kind == "records":
        assert re.search(r"age := \[\d+, \d+\], area := \['(north|south)'", asked[2]) and len(counted) == 3
        assert re.search(r"age \d+ to \d+, area (north|south)", shown[2][0])
        assert "an attribute&#x27;s values" in owned or "an attribute's values" in owned
        assert "NCP of the attributes" in owned and "100 % for a suppressed item" not in owned
    else:
        assert answers[2] and "hides counts below k" not in owned


STATIC = {"0", "1", "2", "5", "10", "20", "50", "100"}  # ticks of axes, and LIMIT 10


def test_every_number_and_label_of_a_public_page_is_in_the_file(with_some: Path, tmp_path: Path, run: Run) -> None:
    sealed, target = with_some.with_name("sealed.duckdb"), tmp_path / "page.html"
    assert run("report", sealed, "--html", target).code == 0
    texts = Parsed(target.read_text("utf-8")).texts
    numbers, labels = shown_by(sealed)
    written = {n for text in texts for n in re.findall(r"\d[\d,.]*\d|\d", text)}
    assert written <= numbers | STATIC
    words = " ".join(texts)
    assert not re.search("[а-яё]", words) and "private_place" not in words and not {"mm", "error"} & set(words.split())
    names = re.findall(r'class="head">([^<]*)<', target.read_text("utf-8"))
    visible = {label.encode("unicode_escape").decode() if label in HOSTILE[2:3] else label for label in labels}
    cut = [n.removesuffix("\N{HORIZONTAL ELLIPSIS}") for n in names]
    unescaped = [c.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&#x27;", "'") for c in cut]
    assert unescaped and all(any(v.startswith(u.replace("&amp;", "&")) for v in visible) for u in unescaped)


# ---------------------------------------------------------------------- the owner's figures


@pytest.mark.slow
def test_the_owners_figures(with_some: Path, tmp_path: Path, run: Run) -> None:
    """Suppressed items with their supports, minimal rare sets, and persons who are alone, counted naively; labels are
    escaped; nothing is written but the page."""
    before, target = state_of(with_some), tmp_path / "page.html"
    done = run("report", with_some, "--release", "some", "--queries", "50", "--json", "--html", target)
    report, page = done.json, target.read_text("utf-8")
    assert state_of(with_some) == before and list(tmp_path.iterdir()) == [target] and report["html"] == str(target)
    assert report["release"] == "some" and report["source"] == UNCHANGED and done.code == 0
    everything = {item for basket in baskets().values() for item in basket}
    shown = {m for item in report["shows"]["released_items"] for m in item["stands_for"]}
    assert {(s["label"], s["support"]) for s in report["suppressed"]} == {(i, supported((i,))) for i in everything - shown}
    assert all("fewer than k = 3" in s["why"] for s in report["suppressed"])
    rare = [{c for c in combinations(sorted(everything), size) if 0 < supported(c) < K} for size in (1, 2)]
    minimal = {c for c in rare[1] if not any((item,) in rare[0] for item in c)}
    counted = [(t["before"], t["after"]) for t in report["infrequent_sets"]]
    assert counted == [(len(rare[0]), 0), (len(minimal), 0)]
    alone = sum(1 for basket in baskets().values() if any(supported((item,)) == 1 for item in basket))
    one = report["attacks"][0]
    assert [a["known"] for a in report["attacks"]] == [1, 2, 3]
    assert one["before"]["of_one"] <= alone and one["after"]["below_k"] == 0
    assert set(report["seconds"]) >= {"load", "anonymize", "verify"} and all(s >= 0 for s in report["seconds"].values())
    for raw in ("<script", "</svg><b>", "two\nlines", "x" * 100, '"quoted"'):
        assert raw not in page
    for visible in ("&lt;script&gt;", "two\\nlines", "\N{GRINNING FACE}", "\N{HORIZONTAL ELLIPSIS}", "&quot;quoted&quot;"):
        assert visible in page


@pytest.mark.slow
def test_items_of_a_suppressed_category_have_its_reason() -> None:
    """Each of six products of X is bought once, one of them with c; the category is suppressed as a whole."""
    baskets_of = {n: {"cd"[n % 2]} for n in range(60)} | {100 + n: {f"a{n}"} for n in range(6)}
    baskets_of[100].add("c")
    edges = [("all", None), ("X", "all"), ("c", "all"), ("d", "all"), *((f"a{n}", "X") for n in range(6))]
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE sales (tid INTEGER, item VARCHAR); CREATE TABLE food (node VARCHAR, parent VARCHAR)"
        )
        connection.executemany("INSERT INTO sales VALUES (?, ?)", [(t, i) for t, some in baskets_of.items() for i in some])
        connection.executemany("INSERT INTO food VALUES (?, ?)", edges)
        database = anondb.connect(connection)
        database.anonymize("sales", name="x", model=anondb.KmAnonymity(2, 2), taxonomy="food", queries=5)
        report = collect(database.engine, "x", queries=5, individuals=5)
    few = "a combination of up to 2 items with it is held by only 1 transaction, fewer than k = 2"
    assert [(s.label, s.support, s.why) for s in report.suppressed] == [
        (f"a{n}", 1, f"suppressed as a part of 'X': {few}") for n in range(6)
    ]


@pytest.mark.slow
def test_changed_and_missing_sources(with_some: Path, tmp_path: Path) -> None:
    with anondb.connect(shutil.copy(with_some, tmp_path / "shop.duckdb")) as database:
        database.sql("INSERT INTO private_place.sales VALUES (1000, 'a')")
        report = collect(database.engine, "some", queries=10, individuals=10)
        assert report.source == CHANGED and "has changed since" in owner_page(report)
        database.sql("DROP TABLE private_place.sales")
        report = collect(database.engine, "some", queries=10)
        assert report.source == GONE and report.attacks == () and "cannot be read any more" in owner_page(report)
        assert len(report.asked) == 1 and report.asked[0].words.startswith("random size=2 queries=5")
        database.sql("DROP SCHEMA anondb CASCADE")
        with pytest.raises(InputError, match="The ledger has no figures") as caught:
            database.release("some").report_html()
        assert caught.value.code == "no_report" and database.release("some").report_html(public=True)


@pytest.mark.slow
def test_other_publications_and_files(place: Path, tmp_path: Path) -> None:
    with anondb.connect(place) as database:
        release(database, "global").publish(tmp_path / "first.duckdb")
        release(database, "sets").publish(tmp_path / "second.duckdb", allow_overlap=True)
        page = database.release("global").report_html(queries=10)
    assert "first.duckdb" in page and "Compared with the published &#x27;sets&#x27;" in page


@pytest.mark.slow
def test_two_releases_side_by_side(place: Path) -> None:
    with anondb.connect(place) as database:
        reports = [release(database, kind).owner_report(queries=20) for kind in ("global", "sets")]
    beside = reports[0].beside(reports[1])
    persons = {item: int(n.replace(",", "")) for item, n, *_ in beside["rows"]}
    assert (
        persons and persons == {item: reports[0].supports[item] for item in persons} and set(persons) <= set(beside["items"])
    )
    assert all(first != second for _, _, first, second in beside["rows"])
    assert reports[0].beside(reports[0])["rows"] == [] and len(beside["answers"]) > 4


def test_figures_against_naive_ones() -> None:
    draw = random.Random(3)
    for _ in range(300):
        k = draw.choice([1, 2, 5, 30])
        truths = [draw.choice([0, 1, 2, k, 10 * k, draw.randint(0, 400)]) for _ in range(draw.randint(1, 30))]
        answers: list[Answer] = [
            (("a",), t, draw.uniform(0, 2 * t + 1), t - draw.randint(0, t), t + draw.choice([0, 9])) for t in truths
        ]
        whole, parts = figures("all", answers, k), list(by_support(answers, k))
        errors = [abs(t - e) / t for _, t, e, *_ in answers if t]
        assert whole.queries == len(answers) == whole.within and whole.frequent == sum(t >= max(k, 1) for t in truths)
        assert whole.error == (median(errors) if errors else None)
        assert whole.width == median(high - low for *_, low, high in answers)
        assert whole.exact == sum(low == high for *_, low, high in answers)
        assert sum(p.queries for p in parts) == len(answers) and all(p.queries for p in parts)
        ranges = [tuple(int(x.replace(",", "")) for x in p.words.split(" to ")) for p in parts]
        for (first, *last), part in zip(ranges, parts, strict=True):
            held = [t for t in truths if first <= t <= (last or [first])[0]]
            assert len(held) == part.queries and (first >= k or part.frequent == 0 or k == 1)


# ---------------------------------------------------------------------- the command


def test_the_command_prints_words(with_some: Path, tmp_path: Path, run: Run) -> None:
    words = ("report", with_some, "--release", "some")
    said = run(*words, "--public")
    assert "release some, for analysts" in said.out and "known exactly" in said.out and said.code == 0
    assert "the page for analysts of some" in run(*words, "--public", "--html", tmp_path / "page.html").out
    assert "for the owner" not in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.slow
def test_the_command_prints_words_for_the_owner(with_some: Path, tmp_path: Path, run: Run) -> None:
    words = ("report", with_some, "--release", "some", "--queries", "20")
    said = run(*words)
    assert "release some, for its owner" in said.out and "median error" in said.out and "fewer than k" in said.out
    assert "do not pass it on" in run(*words, "--html", tmp_path / "page.html").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Say which release: --release NAME"),
        (("--release", "none"), "There is no release 'none'"),
        (("--release", "old", "--html", "nowhere/page.html"), "its folder does not exist"),
        (("--release", "old", "--html", "page.duckdb"), "does not end in .html"),
        (("--release", "old", "--queries", "0"), "queries must be an integer"),
        (("--release", "old", "--hmtl", "page.html"), "No such option"),
    ],
)
def test_bad_usage(place: Path, run: Run, words: tuple[str, ...], message: str) -> None:
    failed = run("report", place, *words)
    assert failed.code == 2 and failed.out == "" and message in failed.err


def test_a_data_file_has_no_release(tmp_path: Path, run: Run) -> None:
    (tmp_path / "sales.csv").write_text("tid,item\n1,a\n")
    failed = run("report", tmp_path / "sales.csv")
    assert failed.code == 2 and "A data file has no release" in failed.err
    assert run("report", tmp_path / "sales.csv", "--release", "x").code == 2
