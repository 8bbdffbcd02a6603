"""A hub on the loopback device, as far as transformers asks it: files of models, and its ways of saying no."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class HubServer(ThreadingHTTPServer):
    """Models by name; a name without a directory is one that the hub will not show without permission."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.models: dict[str, Path | None] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: HubServer

    def do_GET(self) -> None:
        path = self.path.partition("?")[0].strip("/")
        if path.startswith("api/models/"):
            self._list("/".join(path.split("/")[2:4]))
            return
        owner, name, _, _, file = (path.split("/", 4) + [""] * 5)[:5]
        directory = self.server.models.get(f"{owner}/{name}", "missing")
        if directory == "missing":
            self._say(401, b"", {"X-Error-Code": "RepoNotFound"})
        elif directory is None:
            self._say(403, b"", {"X-Error-Code": "GatedRepo"})
        elif not (Path(directory) / file).is_file():
            self._say(404, b"", {"X-Error-Code": "EntryNotFound"})
        else:
            data = (Path(directory) / file).read_bytes()
            self._say(200, data, {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": COMMIT})

    do_HEAD = do_GET  # noqa: N815

    def _list(self, name: str) -> None:
        if name not in self.server.models:
            self._say(401, b"", {"X-Error-Code": "RepoNotFound"})
            return
        directory = self.server.models[name]
        files = ["model.safetensors"] if directory is None else sorted(file.name for file in directory.iterdir())
        record: Any = {"id": name, "sha": COMMIT, "siblings": [{"rfilename": file} for file in files], "tags": []}
        if "/tree/" in self.path:
            record = [{"type": "file", "path": file, "size": 1, "oid": COMMIT} for file in files]
        self._say(200, json.dumps(record).encode(), {"Content-Type": "application/json"})

    def _say(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving_hub() -> Iterator[HubServer]:
    with HubServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
