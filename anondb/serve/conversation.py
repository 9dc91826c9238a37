"""One connection, from the login to its end; pygwire frames the messages and knows their order. The process serves this
connection alone. It answers within the limits of its session, and SIGINT ends the answer at hand."""

import contextlib
import itertools
import os
import signal
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pygwire import messages as pg
from pygwire.connection import BackendConnection
from pygwire.constants import TransactionStatus
from pygwire.exceptions import PygwireError
from sqlglot.tokenizer_core import TokenType

from anondb.errors import AnondbError
from anondb.serve.asked import PARAMETERS, SETTINGS, Answer, Asked, Failure, failure_of, statements_of
from anondb.serve.catalog import Translator
from anondb.serve.cursors import Cursors
from anondb.serve.login import MECHANISM, Verifier, proved
from anondb.serve.values import TEXTS, Encoder, Type, decoded
from anondb.session.opening import open_session
from anondb.session.session import Session

LOGIN_SECONDS, FAILED_SECONDS = 10.0, 1.0
_LOGIN_BYTES, _MESSAGE_BYTES, _SENT_BYTES = 10_000, 1 << 20, 1 << 16
_MOST_PREPARED, _MOST_PORTALS = 200, 20  # of a connection
_T = TypeVar("_T")


@dataclass(frozen=True)
class Door:
    """What each connection gets: the files, the options of its session, and what checks the password."""

    files: str
    options: dict[str, Any]
    bounds: str
    verifier: Verifier
    idle: float


@dataclass
class Prepared:
    """A statement with the types of its parameters, and the columns that the client was told, if it asked."""

    asked: Asked | None
    types: list[int]
    told: list[tuple[str, int]] | None = None


@dataclass
class Portal:
    """The rows of an answer that were not sent yet."""

    columns: list[pg.FieldDescription] | None
    rows: Iterator[list[bytes | None]]
    tag: str
    sent: int = 0

    @property
    def shape(self) -> list[tuple[str, int]] | None:
        """The names and types of the columns; None if it is no query."""
        return None if self.columns is None else [(column.name, column.type_oid) for column in self.columns]


class Conversation:
    """The server's side of a connection. A request to cancel its answers must know its ``key``; ``cancel`` ends those of
    another connection, of this process number and key. On a ``full`` server it may only cancel."""

    def __init__(self, client: socket.socket, door: Door, key: int, cancel: Any, full: bool) -> None:
        self._socket, self._door, self._key, self._cancel, self._full = client, door, key, cancel, full
        self._wire, self._out, self._most = BackendConnection(), bytearray(), _LOGIN_BYTES
        self._until: float | None = time.monotonic() + LOGIN_SECONDS
        self._status, self._failed = TransactionStatus.IDLE, False
        self._prepared: dict[str, Prepared] = {}
        self._portals: dict[str, Portal] = {}
        self._cursors = Cursors()
        self._session: Session
        self._translator: Translator
        self._client: dict[str, str] = {}

    def run(self) -> None:
        """Serve the client until it leaves, is idle for too long, or breaks the protocol."""
        received = self._received()
        with contextlib.suppress(OSError, PygwireError, ValueError, IndexError, StopIteration):
            if not self._logged_in(received):
                return
            self._most, self._until = _MESSAGE_BYTES, None
            try:
                self._session = open_session(self._door.files, **self._door.options)
            except AnondbError as error:
                return self._refuse(failure_of(error))
            with self._session:
                user = self._client.get("user", "")
                database = self._client.get("database") or user
                self._translator = Translator(self._session, database, user, SETTINGS)
                self._ready()
                for message in received:
                    self._answer(message)
                    if self._session.is_closed:
                        return

    def _received(self) -> Iterator[pg.PGMessage]:
        """The client's messages, each read in the phase that the answer to the one before it led to."""
        waiting = 0
        while True:
            left = self._door.idle if self._until is None else self._until - time.monotonic()
            self._socket.settimeout(max(0.001, left))  # also for what the client does not read
            if not (data := self._socket.recv(_SENT_BYTES)):
                return
            waiting += len(data)
            for message in self._wire.receive(data):
                waiting = 0
                if isinstance(message, pg.Terminate):
                    return
                yield message
            if waiting > self._most:
                return

    def _send(self, *sent: pg.PGMessage, flush: bool = False) -> None:
        for message in sent:
            self._out += self._wire.send(message)
        if flush or len(self._out) > _SENT_BYTES:
            self._socket.sendall(self._out)
            self._out.clear()

    def _logged_in(self, received: Iterator[pg.PGMessage]) -> bool:
        first = next(received)
        while isinstance(first, pg.SSLRequest | pg.GSSEncRequest):  # there is no TLS: the server is on this computer
            no = pg.SSLResponse if isinstance(first, pg.SSLRequest) else pg.GSSResponse
            self._send(no(accepted=False), flush=True)
            first = next(received)
        if isinstance(first, pg.CancelRequest):
            self._cancel(first.process_id, int.from_bytes(first.secret_key, "big"))
            return False
        assert isinstance(first, pg.StartupMessage)
        if self._full:
            self._refuse(Failure("53300", "The server has as many connections as it takes."))
            return False
        self._client = first.params
        if unknown := [name for name in first.params if name.startswith("_pq_.")]:
            self._send(pg.NegotiateProtocolVersion(newest_minor=first.protocol_version & 0xFFFF, unrecognized=unknown))
        self._send(pg.AuthenticationSASL(mechanisms=[MECHANISM]), flush=True)
        begun = next(received)

        def ask(said: bytes) -> bytes:
            self._send(pg.AuthenticationSASLContinue(data=said), flush=True)
            answer = next(received)
            return answer.data if isinstance(answer, pg.SASLResponse) else b""

        last = None
        if isinstance(begun, pg.SASLInitialResponse) and begun.mechanism == MECHANISM:
            last = proved(self._door.verifier, begun.data, ask)
        if last is None:
            time.sleep(FAILED_SECONDS)
            self._refuse(Failure("28P01", "The password is wrong."))
            return False
        self._send(pg.AuthenticationSASLFinal(data=last), pg.AuthenticationOk(), flush=True)
        return True

    def _ready(self) -> None:
        self._send(*(pg.ParameterStatus(name=name, value=value) for name, value in PARAMETERS.items()))
        self._send(pg.BackendKeyData(process_id=os.getpid(), secret_key=self._key.to_bytes(4, "big")))
        self._send(pg.ReadyForQuery(status=self._status), flush=True)

    def _refuse(self, failure: Failure) -> None:
        self._send(pg.ErrorResponse(fields=failure.fields("FATAL")), flush=True)

    def _answer(self, message: pg.PGMessage) -> None:
        """Answer one message; after an error, nothing until the client begins again."""
        ends = isinstance(message, pg.Query | pg.Sync | pg.FunctionCall)
        if not self._failed or ends:
            try:
                self._handle(message)
            except OSError:  # the client does not read
                raise
            except Exception as error:
                self._send(pg.ErrorResponse(fields=failure_of(error).fields("ERROR")))
                self._failed = not ends
        if ends:
            self._failed = False
            if self._status is TransactionStatus.IDLE:
                self._portals.clear()
                self._cursors.end_transaction()
            self._send(pg.ReadyForQuery(status=self._status), flush=True)

    def _handle(self, message: pg.PGMessage) -> None:
        match message:
            case pg.Query(query_string=sql):
                self._simple(sql)
            case pg.Parse(statement=name, query=sql, param_types=oids):
                asked = statements_of(sql)
                if len(asked) > 1:
                    raise Failure("42601", "Several statements cannot be prepared at once.")
                prepared = Prepared(asked[0], asked[0].types(oids)) if asked else Prepared(None, [])
                _store(self._prepared, name, prepared, _MOST_PREPARED)
                self._send(pg.ParseComplete())
            case pg.Bind():
                self._bind(message)
            case pg.Describe(kind="S", name=name):
                statement = _looked_up(self._prepared, name)
                self._send(pg.ParameterDescription(type_oids=statement.types))
                query = statement.asked if statement.asked is not None and statement.asked.is_query else None
                empty: list[Any] = [[] if oid == TEXTS else None for oid in statement.types]
                portal = self._portal(query, empty, [])
                statement.told = portal.shape
                self._describe(portal)
            case pg.Describe(name=name):
                cursor = None if name in self._portals or not name else self._cursors.of(name)
                self._describe(_looked_up(self._portals, name) if cursor is None else _portal_of(cursor, []))
            case pg.Execute(portal=name, max_rows=most):
                self._rows(_looked_up(self._portals, name), most)
            case pg.Close(kind=kind, name=name):
                (self._prepared if kind == "S" else self._portals).pop(name, None)
                self._send(pg.CloseComplete())
            case pg.Flush():
                self._send(flush=True)
            case pg.Sync():
                pass
            case _:
                raise Failure("0A000", "The server takes queries alone.")

    def _simple(self, sql: str) -> None:
        asked = statements_of(sql)
        for statement in asked:
            portal = self._portal(statement, [], [])
            if portal.columns is not None:
                self._describe(portal)
            self._rows(portal, 0)
        if not asked:
            self._send(pg.EmptyQueryResponse())

    def _bind(self, bind: pg.Bind) -> None:
        statement = _looked_up(self._prepared, bind.statement)
        try:
            values = decoded(bind.param_values, statement.types, bind.param_formats)
        except Exception:  # whatever psycopg says of bytes that are no value
            raise Failure("22P03", "A parameter cannot be read.") from None
        portal = self._portal(statement.asked, values, bind.result_formats)
        if statement.told is not None and portal.shape != statement.told:
            raise Failure("0A000", "With these parameters the answer has other columns than the statement said.")
        _store(self._portals, bind.portal, portal, _MOST_PORTALS)
        self._send(pg.BindComplete())

    def _portal(self, asked: Asked | None, values: Sequence[Any], formats: Sequence[int]) -> Portal:
        """The answer to a statement."""
        if asked is None or self._forgotten(asked):
            return Portal(None, iter([]), "" if asked is None else asked.word)
        old = signal.getsignal(signal.SIGINT)
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                how = (self._session, self._translator, values, self._door.bounds)
                answer = self._cursors.answered(asked, lambda statement: statement.answered(*how))
            finally:
                signal.signal(signal.SIGINT, old)
        except KeyboardInterrupt:
            raise Failure("57014", "The client cancelled the query.") from None
        if asked.status is not None:
            self._status = asked.status
        for note in answer.notes:
            self._send(pg.NoticeResponse(fields=Failure("01000", note).fields("NOTICE")))
        return _portal_of(answer, formats)

    def _forgotten(self, asked: Asked) -> bool:
        """Whether a DEALLOCATE named a statement that was prepared by a message; it is forgotten, with ALL all of them."""
        if asked.word != "DEALLOCATE":
            return False
        last = asked.tokens[-1]
        if last.token_type is TokenType.ALL:  # those that PREPARE made, too
            self._prepared.clear()
        return self._prepared.pop(last.text, None) is not None

    def _describe(self, portal: Portal) -> None:
        self._send(pg.NoData() if portal.columns is None else pg.RowDescription(fields=portal.columns))

    def _rows(self, portal: Portal, most: int) -> None:
        """Send rows of an answer, at most some; 0 for all."""
        sent = 0
        for row in itertools.islice(portal.rows, most or None):
            self._send(pg.DataRow(columns=row))
            sent += 1
        portal.sent += sent
        if most and sent == most:
            self._send(pg.PortalSuspended())
        elif portal.tag:
            tag = f"{portal.tag} {portal.sent}" if portal.columns is not None else portal.tag
            self._send(pg.CommandComplete(tag=tag))
        else:
            self._send(pg.EmptyQueryResponse())


def _portal_of(answer: Answer, formats: Sequence[int]) -> Portal:
    """The rows of an answer in the formats that a client asks for."""
    if answer.columns is None:
        return Portal(None, iter([]), answer.tag)
    kinds = [Type.of(kind) for _, kind in answer.columns]
    forms = list(formats) if len(formats) == len(kinds) else list(formats or [0])[:1] * len(kinds)
    encoders = [kind.encoder(form == 1) for kind, form in zip(kinds, forms, strict=True)]
    fields = [
        pg.FieldDescription(name, 0, 0, kind.oid, kind.size, kind.modifier, form)
        for (name, _), kind, form in zip(answer.columns, kinds, forms, strict=True)
    ]
    return Portal(fields, (_encoded(row, encoders) for row in answer.rows), answer.tag)


def _encoded(row: tuple[Any, ...], encoders: Sequence[Encoder]) -> list[bytes | None]:
    try:
        return [None if value is None else make(value) for value, make in zip(row, encoders, strict=True)]
    except Exception:  # whatever psycopg says of a value
        raise Failure("22000", "A value of the answer has no form in PostgreSQL's protocol.") from None


def _store(by_name: dict[str, _T], name: str, value: _T, most: int) -> None:
    if len(by_name) >= most and name not in by_name:
        raise Failure("53400", "A connection keeps no more prepared statements or portals: close some.")
    by_name[name] = value


def _looked_up(by_name: dict[str, _T], name: str) -> _T:
    if name not in by_name:
        raise Failure("26000", "There is no prepared statement or portal of this name.")
    return by_name[name]
