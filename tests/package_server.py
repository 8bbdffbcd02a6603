"""A package index on a loopback address, with the faults that networks have."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class PackageServer(ThreadingHTTPServer):
    """Serves `files` by path, and their index; what it was asked for is in `asked` as (path, Range)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.kinds: dict[str, str] = {}  # content types, text/html otherwise
        self.ranges = True  # whether it knows Range
        self.skew = 0  # how far off its answers to Range are
        self.lengths = True  # whether it says how long a file is
        self.claimed: int | None = None  # how long it says that files are, where this is not true
        self.cuts: list[int] = []  # after so many bytes of the next files the connection is cut, one each
        self.password = ""  # the Authorization that it demands
        self.asked: list[tuple[str, str | None]] = []
        self.before: Callable[[str], None] = lambda _: None  # what happens before an answer

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def index(self) -> str:
        return f"{self.url}/simple"

    def offer(self, project: str, file: str, data: bytes) -> None:
        """Put a file where its project's page links to."""
        self.files[f"/files/{file}"] = data
        self.files[f"/simple/{project}/"] = (
            f"<html><a href='../../files/other-1.0.tar.gz'>other</a>"
            f"<a href='http://[/broken'>?</a><a href='../../files/{file}#sha256=00'>{file}</a></html>"
        ).encode()

    def fetches(self) -> list[str | None]:
        """The ranges that were asked for of files, in order."""
        return [part for path, part in self.asked if path.startswith("/files/")]


class _Handler(BaseHTTPRequestHandler):
    server: PackageServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path, part = urlsplit(self.path).path, self.headers.get("Range")
        self.server.asked.append((path, part))
        self.server.before(path)
        if self.server.password and self.headers.get("Authorization") != self.server.password:
            return self._answer(401, b"")
        data = self.server.files.get(path)
        if data is None:
            return self._answer(404, b"not here")
        if not part or not self.server.ranges:
            return self._answer(200, data)
        match = re.fullmatch(r"bytes=(\d+)-", part)
        assert match
        start = int(match[1]) + self.server.skew
        if start >= len(data):
            return self._answer(416, b"")
        return self._answer(206, data[start:], f"bytes {start}-{len(data) - 1}/{len(data)}")

    def _answer(self, code: int, data: bytes, part: str = "") -> None:
        self.send_response(code)
        if self.server.lengths:
            self.send_header("Content-Length", str(self.server.claimed or len(data)))
        else:
            self.send_header("Connection", "close")
        self.send_header("Content-Type", self.server.kinds.get(self.path, "text/html"))
        if part:
            self.send_header("Content-Range", part)
        self.end_headers()
        if self.server.cuts and self.path.startswith("/files/") and code < 300:
            data = data[: self.server.cuts.pop(0)]
            self.close_connection = True
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def serving() -> Iterator[PackageServer]:
    with PackageServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
