"""What sealing a release returns."""

from dataclasses import dataclass
from pathlib import Path

from anondb.models import AsTable


@dataclass(frozen=True)
class SealedFile(AsTable):
    """A sealed file.

    Attributes:
        path, size: the path (the URL of a schema in PostgreSQL), and the size in bytes.
        release_id, transactions, rows: the release, and its numbers of transactions and rows.
        sha256: the SHA-256 of the file; for PostgreSQL, of the file that holds the same rows.
        content_digest: the digest of its content (``release/digest``), the same for a copy made by DuckDB.
        remarks: what the owner should know of the place.
    """

    path: Path | str
    release_id: str
    transactions: int
    rows: int
    size: int
    sha256: str
    content_digest: str
    remarks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file without its directory; the URL of a schema without user and password."""
        return self.path.name if isinstance(self.path, Path) else str(self.path)
