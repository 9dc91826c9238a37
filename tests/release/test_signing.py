"""Signed releases: readers who trust a key open what it signed, and nothing else, in whatever form it comes."""

from __future__ import annotations

import functools
import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from portions import some
from release.signed import CHANGED_OBJECTS, CHANGED_ROWS, QUESTION, copied, opens, opens_at_all, said, signed_again, ways

import anondb
from anondb.errors import InputError, VerificationFailed
from anondb.models.transactional import KmAnonymity
from anondb.publications import parquet as folders
from anondb.publications.parquet import inspect_folder
from anondb.release import reader
from anondb.release.inspect import inspect
from anondb.release.signing import Signer, new_keys, statement

ALL = {**CHANGED_ROWS, **CHANGED_OBJECTS}


class Published:
    """A release as a signed file, a signed folder and an unsigned file; two pairs of keys."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.key = new_keys(place / "publisher")[2]
        self.other = new_keys(place / "forger")[2]
        self.file = place / "spring.duckdb"
        with anondb.connect(place / "shop.duckdb", threads=1) as db:
            db.sql(
                "CREATE TABLE sales AS SELECT t AS tid, 'i' || (t + n * n) % 7 AS item FROM range(120) r(t), range(3) s(n)"
                " WHERE n <= t % 3"
            )
            nodes = "SELECT DISTINCT item AS node, CASE WHEN item < 'i3' THEN 'A' ELSE 'B' END AS parent FROM sales"
            db.sql(f"CREATE TABLE food AS {nodes} UNION VALUES ('A', 'all'), ('B', 'all')")
            options: dict[str, Any] = {"model": KmAnonymity(15, 2), "taxonomy": "food", "item_supports": True, "queries": 1}
            db.anonymize("sales", publish=self.file, sign=place / "publisher.key", **options)
            assert db.sql("SELECT count(*) FROM release_sales.item_supports").fetchall() == [(7,)]
            ledger = db.sql("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'anondb'").fetchall()
            self.ledger = {name: str(db.sql(f'FROM anondb."{name}"').fetchall()) for (name,) in ledger}

    def _again(self, name: str, **options: Any) -> Path:
        with anondb.connect(self.place / "shop.duckdb", threads=1) as db:
            db.release("sales").publish(self.place / name, allow_overlap=True, **options)
        return self.place / name

    @functools.cached_property
    def folder(self) -> Path:
        return self._again("spring", format="parquet", sign=self.place / "publisher.key")

    @functools.cached_property
    def unsigned(self) -> Path:
        return self._again("unsigned.duckdb")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    return Published(tmp_path_factory.mktemp("signed"))


@pytest.mark.slow
def test_what_the_trusted_key_signed_opens_everywhere(published: Published, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(opens(way) for way in ways(str(published.file), published.key).values())
    in_folder = ways(str(published.folder), published.place / "publisher.pub")
    assert all(opens(in_folder[way]) for way in ("open", "dbapi", "verify", "inspect"))
    checked = anondb.verify_file(published.folder, trusted=published.key)
    assert checked.holds and checked.signed_by == published.key and checked.to_json()["signed_by"] == published.key
    assert inspect(published.file).clean and inspect_folder(published.folder, published.key).clean
    monkeypatch.setenv("ANONDB_TRUSTED", published.key)
    assert opens(ways(str(published.file), None)["verify_file"])
    monkeypatch.setenv("ANONDB_TRUSTED", published.other)
    assert not opens(ways(str(published.file), None)["verify_file"])


@pytest.mark.nightly
def test_a_signed_folder_opens_in_every_way(published: Published) -> None:
    assert all(opens(way) for way in ways(str(published.folder), published.key).values())


@pytest.mark.slow
@pytest.mark.parametrize("by_environment", some([False, True], False, check=()))
def test_others_are_refused_everywhere(published: Published, by_environment: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unsigned releases, and those that another key signed."""
    places = [(published.unsigned, published.key), (published.folder, published.other), (published.file, published.other)]
    for number, (place, key) in enumerate(places[: 1 if by_environment else 3]):
        if by_environment:
            monkeypatch.setenv("ANONDB_TRUSTED", key)
        if not number:
            for name, way in ways(str(place), None if by_environment else key).items():
                assert not opens(way), (place, name)
        assert not opens_at_all(place, key)
        with pytest.raises(VerificationFailed) as refused:
            anondb.open(place, trusted=key)
        assert refused.value.code == "not_trusted" and repr(place.name) in str(refused.value)


@pytest.mark.slow
def test_without_a_key_a_signature_changes_nothing(published: Published) -> None:
    assert anondb.verify_file(published.file).holds and anondb.verify_file(published.file).signed_by is None
    with anondb.open(published.file) as signed, anondb.open(published.unsigned) as unsigned:
        assert signed.sql(QUESTION).fetchall() == unsigned.sql(QUESTION).fetchall() != []


def test_the_content_digest_leaves_the_signature_out(published: Published, tmp_path: Path) -> None:
    place = copied(published.file, tmp_path / "copy.duckdb")
    digest = anondb.verify_file(place).content_digest
    with duckdb.connect(str(place)) as writer:
        writer.execute(CHANGED_ROWS["no signature"])
    assert anondb.verify_file(place).content_digest == digest


@pytest.mark.parametrize("what", some(ALL, "a scalar macro of the same name"))
def test_a_changed_file_is_refused(published: Published, tmp_path: Path, what: str) -> None:
    """By every way of opening."""
    place = copied(published.file, tmp_path / "spring.duckdb")
    with duckdb.connect(str(place)) as writer:
        writer.execute(ALL[what])
    assert not [name for name, way in ways(str(place), published.key).items() if opens(way)]


def test_there_are_enough_changes() -> None:
    assert len(ALL) >= 40


@pytest.mark.slow
@pytest.mark.parametrize("what", some(CHANGED_ROWS, "a bound of an item", check=()))
def test_a_changed_folder_is_refused(published: Published, tmp_path: Path, what: str) -> None:
    """Somebody unpacks the folder, changes rows, and writes a folder of them as anondb does, with all digests."""
    file = copied(published.file, tmp_path / "changed.duckdb")
    with duckdb.connect(str(file)) as writer:
        writer.execute(CHANGED_ROWS[what])
    try:
        digest = anondb.verify_file(file).content_digest
        place = folders._write(file, tmp_path, digest)
    except anondb.AnondbError:
        return  # it is no release any more
    assert not opens_at_all(place, published.key)


@pytest.mark.slow
@pytest.mark.parametrize("what", some(["nothing", *CHANGED_ROWS], "nothing", check=()))
def test_what_a_forger_signs_is_refused(published: Published, tmp_path: Path, what: str) -> None:
    place = copied(published.file, tmp_path / "spring.duckdb")
    try:
        signed_again(place, published.place / "forger.key", CHANGED_ROWS.get(what, "SELECT 1"))
    except (AssertionError, duckdb.Error):
        return  # it is no release any more
    if what == "nothing":
        assert anondb.verify_file(place, trusted=published.other).holds
    for pretended in (False, True):
        if pretended:  # with the name of the trusted key
            with duckdb.connect(str(place)) as writer:
                writer.execute("UPDATE manifest SET value = ? || value[73:] WHERE key = 'signature'", [published.key])
        assert not opens_at_all(place, published.key)


@pytest.mark.slow
def test_a_signature_of_another_release_is_refused(published: Published, tmp_path: Path) -> None:
    place = copied(published.unsigned, tmp_path / "spring.duckdb")
    with duckdb.connect(str(published.file), read_only=True) as reader:
        signature = reader.execute("SELECT value FROM manifest WHERE key = 'signature'").fetchall()[0][0]
    with duckdb.connect(str(place)) as writer:
        writer.execute("INSERT INTO manifest VALUES ('signature', ?)", [signature])
    assert not opens_at_all(place, published.key)
    assert [f.check for f in inspect(place).findings if f.check == "signature"]  # without a key, too


def test_a_log_beside_a_signed_file_is_refused(published: Published, tmp_path: Path) -> None:
    """DuckDB reads the rows of a write-ahead log as those of the file, whose bytes are unchanged."""
    place, other = copied(published.file, tmp_path / "spring.duckdb"), tmp_path / "crashed" / "spring.duckdb"
    other.parent.mkdir()
    shutil.copy(published.file, other)
    writer = duckdb.connect(str(other))
    writer.execute("PRAGMA disable_checkpoint_on_shutdown")
    writer.execute("DELETE FROM transaction_items WHERE transaction_id < 9")
    shutil.copy(f"{other}.wal", f"{place}.wal")
    writer.close()
    digest = anondb.verify_file(published.file).sha256
    assert not opens_at_all(place, published.key)
    with pytest.raises(InputError) as refused:
        anondb.verify_file(place, expect=digest)
    assert refused.value.code == "not_a_release"


def test_a_file_that_is_replaced_while_it_is_opened(
    published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever may write to the folder can wait until the file was checked."""
    place, opened = tmp_path / "spring.duckdb", reader.open_for_analysts

    def replaced(*arguments: Any, **options: Any) -> Any:
        place.unlink()
        duckdb.connect(str(place)).close()
        return opened(*arguments, **options)

    monkeypatch.setattr(reader, "open_for_analysts", replaced)
    copied(published.file, place)
    with anondb.open_release(place, trusted=published.key) as analyst:
        assert analyst.sql("SELECT count(*) FROM manifest WHERE key = 'signature'").fetchall() == [(1,)]
    copied(published.file, place)
    with pytest.raises(InputError) as refused:
        anondb.open_release(place)
    assert refused.value.code == "not_a_release"


@pytest.mark.slow
def test_several_files_need_a_signature_each(published: Published) -> None:
    with pytest.raises(VerificationFailed, match=r"'unsigned\.duckdb' is refused: it is not signed"):
        anondb.open([published.file, published.unsigned], trusted=published.key)


def test_a_file_of_several_keys(published: Published, tmp_path: Path) -> None:
    listed = tmp_path / "keys.txt"
    listed.write_text(f"# the old key\n{published.other}\n\n{published.key.upper().replace('ED', 'ed')}\n", "utf-8")
    assert anondb.verify_file(published.file, trusted=listed).signed_by == published.key


def test_what_is_signed_can_be_checked_without_anondb(published: Published) -> None:
    """The four lines of docs/signing.md, by another program's words."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    with duckdb.connect(str(published.file), read_only=True) as reader:
        manifest = dict(reader.execute("FROM manifest").fetchall())
    _, key, signature = manifest.pop("signature").split(":")
    digest = anondb.verify_file(published.file).content_digest
    words = f"verified by anondb {manifest['version']}: 15^2-anonymity"
    text = "\n".join(("anondb signed release 1", words, digest, json.dumps(manifest, sort_keys=True)))
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature), text.encode())
    assert statement(manifest, digest) == text.encode() and published.key == f"ed25519:{key}"


def test_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, public, text = new_keys(tmp_path / "me")
    assert stat.S_IMODE(private.stat().st_mode) == 0o600 and public.read_text("utf-8") == f"{text}\n"
    before = private.read_bytes()
    with pytest.raises(InputError) as refused:
        new_keys(tmp_path / "me")
    assert refused.value.code == "target_exists" and private.read_bytes() == before
    (tmp_path / "link.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError):
        new_keys(tmp_path / "link")
    assert not (tmp_path / "elsewhere").exists() and not (tmp_path / "link.pub").exists()
    assert said(["keys", "new", str(tmp_path / "you"), "--json"]) == 0 and (tmp_path / "you.key").exists()
    assert text not in repr(Signer.read(private))


def bad_keys(place: Path) -> dict[str, tuple[Callable[[], object], str]]:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    private, public, _ = new_keys(place / "good")
    (place / "words.key").write_text("words", "utf-8")
    (place / "empty.pub").write_text("# none\n", "utf-8")
    formats = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(*formats, serialization.NoEncryption())
    (place / "other.key").write_bytes(other)
    locked = serialization.load_pem_private_key(private.read_bytes(), None)
    (place / "locked.key").write_bytes(locked.private_bytes(*formats, serialization.BestAvailableEncryption(b"x")))
    shutil.copy(private, place / "open.key")
    for path in place.glob("*.key"):
        path.chmod(0o600)
    (place / "open.key").chmod(0o640)
    key_text = private.read_text("utf-8")
    trusts = {
        "a private key": (private, "bad_key"),
        "no key": (place / "empty.pub", "bad_key"),
        "a short key": ("ed25519:00", "no_such_file"),
        "no file": (place / "nothing.pub", "no_such_file"),
        "an empty text": ("", "bad_key"),
        "a number": (7, "bad_key"),
    }
    signs = {
        "a public key signs": (public, "bad_key"),
        "words sign": (place / "words.key", "bad_key"),
        "a key of another kind": (place / "other.key", "bad_key"),
        "a key with a password": (place / "locked.key", "bad_key"),
        "a key that others read": (place / "open.key", "bad_key"),
        "no file signs": (place / "nothing.key", "no_such_file"),
        "the key itself": (key_text, "no_such_file"),
    }
    made: dict[str, tuple[Callable[[], object], str]] = {}
    for name, (value, code) in trusts.items():
        made[name] = (lambda v=value: anondb.verify_file(place / "none.duckdb", trusted=v), code)  # type: ignore[misc]
    for name, (value, code) in signs.items():
        made[name] = (lambda v=value: Signer.read(v), code)  # type: ignore[misc]
    return made


def test_bad_keys(tmp_path: Path) -> None:
    for name, (call, code) in bad_keys(tmp_path).items():
        with pytest.raises(InputError) as refused:
            call()
        assert refused.value.code == code, name
        assert "PRIVATE" not in str(refused.value) and str(tmp_path) not in str(refused.value), name


def test_wrong_uses(published: Published, tmp_path: Path) -> None:
    shop, key = str(published.place / "shop.duckdb"), str(published.place / "publisher.key")
    script = tmp_path / "script.sql"
    script.write_text("SELECT 1;", "utf-8")
    trusted = ["--trusted", published.key]
    for words in (
        ["verify", shop, "--transactions", "sales", *trusted],
        ["verify", shop, "--release", "sales", *trusted],
        ["query", shop, QUESTION, "--release", "sales", *trusted],
        ["run", shop, str(script), *trusted],
        ["anonymize", shop, "--transactions", "sales", "--release", "new", "--sign", key],
        ["publish", shop, "--release", "sales", "--to", str(tmp_path / "new.duckdb"), "--sign", str(script)],
    ):
        assert said(words) == 2, words
    assert not (tmp_path / "new.duckdb").exists()


@pytest.mark.slow
def test_the_owner_may_trust_a_key(published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the owner does with a database of hers does not need signatures, whatever ANONDB_TRUSTED says."""
    monkeypatch.setenv("ANONDB_TRUSTED", published.other)
    script = tmp_path / "script.sql"
    script.write_text("SELECT count(*) FROM sales;", "utf-8")
    assert said(["run", str(published.place / "shop.duckdb"), str(script)]) == 0
    with anondb.connect(published.place / "shop.duckdb") as db:
        release = db.release("sales")
        release.publish(tmp_path / "a.duckdb", allow_overlap=True)
        release.publish(tmp_path / "b", format="parquet", allow_overlap=True)
    assert not opens(lambda: anondb.open(tmp_path / "a.duckdb"))


@pytest.mark.slow
def test_views_and_policies_sign(published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """REFRESH signs again; the ledger has the path of the key, and nothing of the key."""
    shutil.copy(published.place / "publisher.key", tmp_path / "my.key")
    monkeypatch.chdir(tmp_path)
    secret = (tmp_path / "my.key").read_text("utf-8").split("\n")[1]
    with anondb.connect("shop.duckdb", threads=1) as db:
        db.sql("CREATE TABLE t AS SELECT range AS tid, 'ab'[range % 2 + 1] AS item FROM range(8)")
        options = "k = 2, m = 1, queries = 1, publish = 'v.duckdb', sign = 'my.key', allow_overlap = true"
        db.sql(f"CREATE ANONYMIZED VIEW v AS SELECT tid, item FROM t WITH ({options})")
        assert anondb.verify_file("v.duckdb", trusted=published.key).holds
        db.sql("INSERT INTO t VALUES (8, 'a'), (9, 'b'); REFRESH ANONYMIZED VIEW v")
        assert anondb.verify_file("v.duckdb", trusted=published.key).holds
        names = db.sql("SELECT table_name FROM duckdb_tables() WHERE schema_name = 'anondb'").fetchall()
        rows = "".join(str(db.sql(f'FROM anondb."{name}"').fetchall()) for (name,) in names)
        assert secret not in rows and str(tmp_path / "my.key") in rows
        os.unlink("my.key")
        db.sql("INSERT INTO t VALUES (10, 'a'), (11, 'b')")
        with pytest.raises(InputError) as refused:
            db.sql("REFRESH ANONYMIZED VIEW v")
        assert refused.value.code == "no_such_file"
    assert not any(secret in text for text in published.ledger.values())
    assert published.key.partition(":")[2] not in "".join(published.ledger.values())


@pytest.mark.slow
def test_policies_in_toml_sign(published: Published, tmp_path: Path) -> None:
    with anondb.connect(tmp_path / "shop.duckdb") as db:
        db.sql("CREATE TABLE t AS SELECT range AS tid, 'ab'[range % 2 + 1] AS item FROM range(8)")
    shutil.copy(published.place / "publisher.key", tmp_path / "my.key")
    (tmp_path / "policy.toml").write_text(
        'source = "shop.duckdb"\n[release.v]\ntransactions = "t"\nk = 2\nm = 1\npublish = "v.duckdb"\nsign = "my.key"\n',
        "utf-8",
    )
    assert said(["run", str(tmp_path / "policy.toml")]) == 0
    assert anondb.verify_file(tmp_path / "v.duckdb", trusted=published.key).holds


@pytest.mark.slow
def test_without_the_library(published: Published, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed releases are read, nothing is signed, and no key is trusted unchecked."""
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives", None)
    assert anondb.verify_file(published.file).holds
    found = inspect(published.file)
    assert found.clean and "not checked" in found.figures["signature"]
    for call in (
        lambda: anondb.verify_file(published.file, trusted=published.key),
        lambda: Signer.read(published.place / "publisher.key"),
    ):
        with pytest.raises(InputError) as refused:
            call()
        assert refused.value.code == "no_library" and "anondb[sign]" in str(refused.value)
