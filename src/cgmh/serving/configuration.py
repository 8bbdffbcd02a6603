"""What a server is told when it starts: where it listens, whom it answers, and how much one request may ask."""

import ipaddress
import re
from dataclasses import dataclass

from ..errors import BadInput

DEFAULT_PORT = 8765
CAPACITY = 256  # inputs that an engine takes, waiting and running
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class ServerSettings:
    """Where a server listens, whom it answers, and how much one request may ask of it."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT  # 0: any that is free
    api_key: str | None = None  # what a client has to show; None: nothing
    insecure: bool = False  # another address than loopback without a key
    allow_origins: tuple[str, ...] = ()  # of web pages that may ask: https://example.org, moz-extension://*, or *
    allow_hosts: tuple[str, ...] = ()  # further names in the Host header, where a proxy stands before the server
    max_bytes: int = 1 << 20  # of a body
    max_characters: int = 40_000  # of a text to correct or to check
    max_words: int = 200  # of a sentence to paraphrase, or keywords of a set
    max_inputs: int = 64  # of a request
    max_chains: int = 256
    max_steps: int = 2_000
    max_readings: int = 2_000
    max_seconds: float = 60.0  # of a request
    max_streams: int = 32  # event streams that are read at the same time
    max_runs: int = 64  # runs that are kept, going on or ended
    max_connections: int = 1_000
    read_seconds: float = 20.0  # until a body has arrived
    write_seconds: float = 20.0  # until a slow reader has taken what is sent
    linger_seconds: float = 15.0  # that a run goes on while nobody reads it
    keep_seconds: float = 60.0  # that a run is kept after its end
    buffer_bytes: int = 4 << 20  # of the events of a run

    def __post_init__(self) -> None:
        if self.api_key is not None and not re.fullmatch(r"[!-~]{8,}", self.api_key):
            raise BadInput("`api_key` must have at least 8 characters: letters, digits and marks of ASCII, no blanks")
        if not is_loopback(self.host) and self.api_key is None and not self.insecure:
            raise BadInput(
                f"`host` {self.host} can be reached by others: give an `api_key` (or set CGMH_API_KEY), or say "
                "`insecure` to let everybody in"
            )
        for origin in self.allow_origins:
            if not re.fullmatch(r"\*|null|[a-z][a-z0-9+.-]*://(?:\*|[^\s/*?#]+)", origin):
                raise BadInput(f"`allow_origin` {origin}: give scheme://host or scheme://host:port, scheme://*, or *")

    @property
    def origins(self) -> str:
        """A regular expression of the origins that may ask; it matches nothing by default."""
        patterns = [re.escape(origin).replace(r"\*", ".*") for origin in self.allow_origins]
        return "|".join(patterns) or r"(?!)"

    def knows_host(self, header: str) -> bool:
        """Whether the Host header names this server.

        A page of another site may let its own name point to 127.0.0.1 (DNS rebinding): its requests are then of the
        same origin, but their Host is that name. A server that others can reach is protected by its key instead.
        """
        name = _host_name(header)
        return not is_loopback(self.host) or is_loopback(name) or name in map(str.lower, self.allow_hosts)


def is_loopback(host: str) -> bool:
    """Whether only this machine is reached by this name or address."""
    if host.lower() in _LOOPBACK or host.lower().endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host_name(header: str) -> str:
    """The name or address in a Host header, without the port."""
    if header.startswith("["):
        return header[1:].partition("]")[0].lower()
    return header.rpartition(":")[0].lower() if re.search(r":\d*$", header) else header.lower()
