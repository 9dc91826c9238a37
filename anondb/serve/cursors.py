"""Cursors by statements: DECLARE, FETCH and CLOSE, by which drivers read large results in portions."""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from anondb.serve.asked import Answer, Asked, Failure, statements_of

_NAME = r'("(?:[^"]|"")+"|\w+)'
_KINDS = r"(?:(?:BINARY|ASENSITIVE|INSENSITIVE|(?:NO\s+)?SCROLL)\s+)*"
_DECLARED = re.compile(rf"DECLARE\s+{_NAME}\s+{_KINDS}CURSOR\s+(?:(WITH|WITHOUT)\s+HOLD\s+)?FOR\s+", re.I)
_FETCHED = re.compile(rf"FETCH\s+(?:FORWARD\s+)?(?:(ALL|NEXT|\d{{1,9}})\s+)?(?:(?:FROM|IN)\s+)?{_NAME}\s*;?\s*$", re.I)
_CLOSED = re.compile(rf"CLOSE\s+{_NAME}\s*;?\s*$", re.I)
_MOST = 20  # of a connection


@dataclass(frozen=True)
class Cursor:
    """The answer whose rows are left, and whether the cursor outlives its transaction."""

    answer: Answer
    held: bool


class Cursors:
    """The cursors of a connection, which go forward."""

    def __init__(self) -> None:
        self._open: dict[str, Cursor] = {}

    def answered(self, asked: Asked, answer: Callable[[Asked], Answer]) -> Answer:
        """Answer a statement about cursors; ``answer`` answers any other, and the query of a new cursor. Raises Failure: the
        cursor does not exist, exists already, or shall go backward."""
        if asked.word == "DECLARE" and (declared := _DECLARED.match(asked.text)) is not None:
            return self._declared(declared, asked.text[declared.end() :], answer)
        if asked.word == "CLOSE":
            closed = _CLOSED.match(asked.text)
            self._close(None if closed is None or closed[1].upper() == "ALL" else _named(closed[1]))
            return Answer("CLOSE CURSOR")
        if asked.word == "FETCH":
            if (fetched := _FETCHED.match(asked.text)) is None:
                raise Failure("0A000", "Cursors go forward: write FETCH FORWARD 100 FROM the cursor.")
            return self._fetched(self.of(_named(fetched[2])), (fetched[1] or "NEXT").upper())
        return answer(asked)

    def _close(self, name: str | None) -> None:
        """Close a cursor, or all of them."""
        if name is None:
            self._open.clear()
        else:
            self._open.pop(name, None)

    def of(self, name: str) -> Answer:
        """The answer of an open cursor."""
        if name not in self._open:
            raise Failure("34000", "There is no cursor of this name: a transaction that ends closes those without HOLD.")
        return self._open[name].answer

    def end_transaction(self) -> None:
        """Close the cursors that do not outlive it."""
        self._open = {name: cursor for name, cursor in self._open.items() if cursor.held}

    def _declared(self, declared: re.Match[str], query: str, answer: Callable[[Asked], Answer]) -> Answer:
        name, inner = _named(declared[1]), statements_of(query)
        if name in self._open:
            raise Failure("42P03", "There is a cursor of this name.")
        if len(self._open) >= _MOST:
            raise Failure("53400", "A connection keeps no more cursors: close some.")
        if len(inner) != 1 or not inner[0].is_query:
            raise Failure("42601", "A cursor needs one query.")
        opened = answer(inner[0])
        self._open[name] = Cursor(replace(opened, rows=iter(opened.rows), notes=()), (declared[2] or "").upper() == "WITH")
        return Answer("DECLARE CURSOR", notes=opened.notes)

    def _fetched(self, answer: Answer, most: str) -> Answer:
        number = None if most == "ALL" else 1 if most == "NEXT" else int(most)
        return replace(answer, tag="FETCH", rows=itertools.islice(answer.rows, number))


def _named(word: str) -> str:
    return word[1:-1].replace('""', '"') if word.startswith('"') else word.lower()
