"""Authentication by keys. A key is 256 random bits. The file holds only its SHA-256, so a reader of the file cannot use the key.

    [shop]
    role = "decide"              # decide and reward, and look; "admin" also makes, changes and deletes loops
    sha256 = "9f86d0…"
    loops = ["shop", "mail"]     # may be left out: all loops

A key has too much entropy to be guessed, so a fast hash is enough; slow hashes are for passwords. The file is read again when it has
changed. To rotate a key, add the new one, move the clients, and delete the old one; no restart is needed.
"""

import base64
import binascii
import hashlib
import hmac
import ipaddress
import json
import logging
import pathlib
import secrets
import tomllib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from ..errors import CannotRead, InvalidValue, said
from ..io.files import locked, write_atomically
from .catalogue import NAME

Role = Literal["decide", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
LOG = logging.getLogger("driftbandits.service")
PREFIX = "db_"
LONGEST = 64


class Caller(NamedTuple):
    """The owner of a key, and the owner's role."""

    name: str
    role: Role
    loops: frozenset[str] | None = None  # None: all

    def may_use(self, loop: str) -> bool:
        """Whether the key is for this loop."""
        return self.loops is None or loop in self.loops


ANYBODY = Caller("loopback", "admin")  # without keys only this machine can call


class Keys:
    """The keys of a file, as it is now.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "keys.toml"
    ...     key = new_key(path, "shop", "decide")
    ...     keys = Keys(path)
    ...     keys.caller(key), keys.caller("db_guessed"), key in path.read_text()
    (Caller(name='shop', role='decide', loops=None), None, False)
    """

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._known: list[tuple[bytes, Caller]] = []
        self._warned = False
        self._look(strict=True)

    def caller(self, key: str) -> Caller | None:
        """Whose key it is. Every hash is compared, each in constant time, so that the time of the answer says nothing."""
        self._look()
        given, found = _hash(key), None
        for known, caller in self._known:
            if hmac.compare_digest(given, known):
                found = caller
        return found

    def _look(self, *, strict: bool = False) -> None:
        """Read the file if it has changed. While it cannot be read, the keys of the last successful reading stay valid."""
        try:
            status = self.path.stat()
            seen = (status.st_mtime_ns, status.st_ino, status.st_size)
            if seen == self._seen:
                return
            self._known = [(bytes.fromhex(row["sha256"]), _caller(name, row)) for name, row in read(self.path)]
            self._seen, self._warned = seen, False
        except (OSError, CannotRead) as problem:
            if not strict and not self._warned:
                LOG.warning("the file of keys cannot be read: the keys known before stay valid until it can")
            self._warned = True
            if strict:
                raise (
                    problem
                    if isinstance(problem, CannotRead)
                    else CannotRead(f"{self.path} cannot be read: {getattr(problem, 'strerror', problem)}")
                ) from None


def read(path: pathlib.Path) -> list[tuple[str, dict[str, Any]]]:
    """The rows of the file, checked."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise CannotRead(f"{path} is no file of keys: {problem}") from None
    for name, row in found.items():
        known = isinstance(row, dict) and row.get("role") in ROLES and isinstance(row.get("sha256"), str)
        if not known or len(row["sha256"]) != 64 or set(row["sha256"]) - set("0123456789abcdef"):
            raise CannotRead(f"{path}: key {said(name)} needs role = 'decide' or 'admin', and sha256 = 64 hex digits")
        if unknown := [
            key for key in row if key not in ("role", "sha256", "loops")
        ]:  # a limit with a typing error is no limit
            raise CannotRead(f"{path}: key {said(name)} has {said(unknown[0])}; it may have role, sha256 and loops")
        loops = row.get("loops", ["any"])
        if not isinstance(loops, list) or not loops or not all(isinstance(n, str) and NAME.fullmatch(n) for n in loops):
            raise CannotRead(f"{path}: key {said(name)} has loops = {said(loops)}; it must be a list of names of loops")
    return [*found.items()]


def _caller(name: str, row: dict[str, Any]) -> Caller:
    return Caller(name, row["role"], frozenset(row["loops"]) if "loops" in row else None)


def new_key(path: pathlib.Path, name: str, role: str, loops: Sequence[str] = ()) -> str:
    """Add a key to the file, which is created if necessary.

    Returns the key, which is stored nowhere. Without `loops` it is valid for all loops.
    """
    strange = next((loop for loop in loops if not NAME.fullmatch(loop)), None)
    if strange is not None:
        raise InvalidValue(f"{said(strange)} is no name of a loop; it has 1 to 100 letters, digits, '.', '_' and '-'")
    if role not in ROLES:
        raise InvalidValue(f"role = {said(role)} is not allowed; it must be 'decide' or 'admin'")
    if not 0 < len(name) <= LONGEST or not all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
        raise InvalidValue(f"a key is named by 1 to {LONGEST} letters, digits, - and _, not by {said(name)}")
    with locked(path.with_name(f".{path.name}.lock")):
        rows = dict(read(path)) if path.exists() else {}
        if name in rows:
            raise InvalidValue(f"{path} has a key named {said(name)}; delete its lines first, or take another name")
        key = PREFIX + secrets.token_urlsafe(32)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        gap = "\n" if text else ""
        row = f'{text}{gap}[{name}]\nrole = "{role}"\nsha256 = "{_hash(key).hex()}"\n'
        if loops:
            row += f"loops = {json.dumps(list(loops))}\n"
        write_atomically(path, row, mode=0o600)
    return key


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def given_key(headers: dict[bytes, bytes]) -> str | None:
    """The key of a request: `Authorization: Bearer`, or Basic for browsers (the password), `X-API-Key`, or the retired service's header."""
    for name in (b"x-api-key", b"ocp-apim-subscription-key"):
        if name in headers:
            return headers[name].decode("latin-1")
    kind, _, value = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode("utf-8", "replace").partition(":")[2]
        except (binascii.Error, ValueError):
            return None
    return None


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("::1")
    (True, True, False, True)
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
