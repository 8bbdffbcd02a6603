"""The studio: the files of its page, which come from the package and from nowhere else."""

import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from .problems import Refusal

FOLDER = Path(__file__).parent.parent / "studio"
_TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
# Nothing from elsewhere, nothing written into the page as code; what users type is only ever text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
router = APIRouter(include_in_schema=False)


@router.get("/")
async def page(request: Request) -> Response:
    """The page itself."""
    return file_answer(request, "index.html")


@router.get("/studio/{name}")
async def file(request: Request, name: str) -> Response:
    """What the page loads."""
    return file_answer(request, name)


def file_answer(request: Request, name: str) -> Response:
    """A file of the studio; that it has not changed, where the browser knows it."""
    if name not in files():
        raise Refusal(404, "not-found", "there is nothing at this path; / is the studio")
    content, tag = files()[name]
    headers = {**_HEADERS, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=f"{_TYPES[Path(name).suffix]}; charset=utf-8")


@cache
def files() -> dict[str, tuple[bytes, str]]:
    """The files by their names: their content and a tag of it."""
    found = sorted(path for path in FOLDER.iterdir() if path.suffix in _TYPES)
    contents = {path.name: path.read_bytes() for path in found}
    return {name: (content, f'"{hashlib.sha256(content).hexdigest()[:20]}"') for name, content in contents.items()}
