"""The documentation page of the API, generated from its OpenAPI document.

It is plain HTML: the usual viewers load scripts from other sites, which a self-hosted site should not.
"""

import html
from collections import defaultdict
from functools import lru_cache
from typing import Any

from litestar import Litestar, Request, Response, get

STYLE_PATH = "/api/docs.css"
CACHING = {"Cache-Control": "no-cache"}
"""The same for everybody: caches may keep it and must ask whether it has changed."""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem;
       color: #1d1f21; background: #fbfaf8 }
h1 { font-size: 1.8rem }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d9d4cc }
details { border: 1px solid #e2ddd5; border-radius: .5rem; margin: .5rem 0; padding: .5rem .8rem; background: #fff }
summary { cursor: pointer }
code { font-family: ui-monospace, monospace; font-size: .92em }
.m { display: inline-block; min-width: 4.2rem; font-weight: 700 }
table { border-collapse: collapse; width: 100% }
td, th { text-align: left; padding: .2rem .6rem .2rem 0; vertical-align: top }
@media (prefers-color-scheme: dark) {
  body { color: #e8e4dd; background: #171615 } details { background: #1f1e1c; border-color: #3a3733 }
  h2 { border-color: #3a3733 } a { color: #9cc4e4 }
}
"""


@get(["/api/docs", STYLE_PATH], include_in_schema=False, sync_to_thread=False)
def docs_page(request: Request[Any, Any, Any]) -> Response[str]:
    """The documentation page, or its style sheet."""
    if request.url.path == STYLE_PATH:
        return Response(STYLE, media_type="text/css", headers=CACHING)
    return Response(page_of(request.app), media_type="text/html", headers=CACHING)


@lru_cache(maxsize=8)
def page_of(app: Litestar) -> str:
    """The page of an application, made once: its document takes a quarter of a second to put together."""
    return _page(app.openapi_schema.to_schema())


def _page(schema: dict[str, Any]) -> str:
    by_tag: dict[str, list[str]] = defaultdict(list)
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            if "responses" in operation:
                by_tag[(operation.get("tags") or ["Other"])[0]].append(_operation(path, method, operation))
    sections = "".join(
        f"<h2>{html.escape(tag)}</h2>{''.join(items)}" for tag, items in sorted(by_tag.items())
    )
    info = schema["info"]
    title, version = html.escape(info["title"]), html.escape(info["version"])
    about, standard = html.escape(info.get("description") or ""), html.escape(schema["openapi"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{title} API</title><link rel="stylesheet" href="{STYLE_PATH}">'
        f"<h1>{title} API {version}</h1><p>{about}"
        f'<p>For programs: <a href="/api/openapi.json">openapi.json</a> (OpenAPI {standard}).{sections}</html>'
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    parameters: list[dict[str, Any]] = operation.get("parameters") or []
    request: dict[str, Any] = operation.get("requestBody") or {}
    rows = "".join(
        f"<tr><td><code>{html.escape(each['name'])}</code><td>{html.escape(each['in'])}"
        f"<td>{html.escape(each.get('description') or '')}"
        for each in parameters
    )
    body = ", ".join(request.get("content", ()))
    answers = ", ".join(
        f"{status} {html.escape(answer.get('description') or '')}"
        for status, answer in operation["responses"].items()
    )
    return (
        f'<details><summary><span class="m">{method.upper()}</span> <code>{html.escape(path)}</code> '
        f"{html.escape(operation.get('summary') or '')}</summary><p>{html.escape(operation.get('description') or '')}"
        + (f"<p>Body: <code>{html.escape(body)}</code>" if body else "")
        + (f"<table><tr><th>parameter<th>in<th>meaning{rows}</table>" if rows else "")
        + f"<p>Answers: {answers}</details>"
    )
