"""Code samples of one call: curl, Python (requests) and JavaScript (fetch). Secrets come from environment variables."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

FORM = "application/x-www-form-urlencoded"
_MARKED = re.compile(r"@@(\w+)@@")


class Variable(str):
    """The environment variable that holds a value of a body."""


@dataclass(frozen=True)
class Call:
    """A call; credentials name the environment variables that hold them."""

    method: str
    url: str
    query: dict[str, str] = field(default_factory=dict)
    secret_query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    secret_headers: dict[str, str] = field(default_factory=dict)
    basic: tuple[str, str] | None = None
    bearer: str = ""
    body: Any = None
    media_type: str = ""
    is_redirect: bool = False
    answers_json: bool = True


def samples(call: Call) -> list[dict[str, str]]:
    """Return the samples as `x-codeSamples`."""
    return [
        {"lang": "Shell", "label": "curl", "source": curl(call)},
        {"lang": "Python", "label": "Python", "source": python(call)},
        {"lang": "JavaScript", "label": "JavaScript", "source": javascript(call)},
    ]


def curl(call: Call) -> str:
    """Return the call for a shell."""
    shown = {name: f"${variable}" for name, variable in call.secret_query.items()}
    query = "&".join([*(f"{name}={value}" for name, value in shown.items()), *filter(None, [urlencode(call.query)])])
    url = f"{call.url}?{query}" if query else call.url
    start = ["curl"] + (["-i"] if call.is_redirect else [])
    start += [] if call.method == "GET" else ["-X", call.method]
    lines = [" ".join([*start, f'"{url}"'])]
    headers = {**call.headers, **{name: f"${variable}" for name, variable in call.secret_headers.items()}}
    if call.bearer:
        headers["Authorization"] = f"Bearer ${call.bearer}"
    lines += [f'-H "{name}: {value}"' for name, value in headers.items()]
    if call.basic:
        lines.append('-u "${}:${}"'.format(*call.basic))
    if call.media_type == FORM:
        lines += [f"--data-urlencode {_form_field(name, value)}" for name, value in call.body.items()]
    elif call.media_type:
        lines.append(f'-H "Content-Type: {call.media_type}"')
        lines.append(f"-d {_json_body(call.body)}")
    return " \\\n  ".join(lines)


def _form_field(name: str, value: Any) -> str:
    return f'"{name}=${value}"' if isinstance(value, Variable) else shlex.quote(f"{name}={value}")


def _json_body(body: Any) -> str:
    """Return the body in single quotes, which are closed around a variable."""
    marked = {name: f"@@{item}@@" if isinstance(item, Variable) else item for name, item in body.items()}
    return _MARKED.sub(r"""'"$\1"'""", shlex.quote(json.dumps(marked, indent=2, ensure_ascii=False)))


def python(call: Call) -> str:
    """Return the call for Python with requests."""
    secrets = {name: _Code(f'os.environ["{variable}"]') for name, variable in call.secret_query.items()}
    headers: dict[str, Any] = dict(call.headers)
    headers |= {name: _Code(f'os.environ["{variable}"]') for name, variable in call.secret_headers.items()}
    if call.bearer:
        headers["Authorization"] = _Code(f"f\"Bearer {{os.environ['{call.bearer}']}}\"")
    arguments: dict[str, Any] = {"params": {**secrets, **call.query}, "headers": headers}
    if call.basic:
        arguments["auth"] = _Code('(os.environ["{}"], os.environ["{}"])'.format(*call.basic))
    if call.media_type:
        arguments["data" if call.media_type == FORM else "json"] = call.body
    if call.is_redirect:
        arguments["allow_redirects"] = False
    lines = [f"{name}={_literal(value, 1, _PYTHON)}," for name, value in arguments.items() if value not in ({}, None)]
    shown = (
        'response.headers["Location"]'
        if call.is_redirect
        else "response.json()"
        if call.answers_json
        else "response.text"
    )
    needs_os = any("os.environ" in line for line in lines)
    return "\n".join(
        [
            *(["import os"] if needs_os else []),
            "import requests",
            "",
            f"response = requests.{call.method.lower()}(",
            *(f"    {line}" for line in [f'"{call.url}",', *lines]),
            ")",
            "response.raise_for_status()",
            f"print({shown})",
        ]
    )


def javascript(call: Call) -> str:
    """Return the call for JavaScript with fetch, as a module."""
    lines = []
    secrets = {name: _Code(f"process.env.{variable}") for name, variable in call.secret_query.items()}
    query = {**secrets, **call.query}
    if query:
        lines.append(f"const query = new URLSearchParams({_literal(query, 0, _JAVASCRIPT)});")
    url = f"`{call.url}?${{query}}`" if query else f'"{call.url}"'
    headers: dict[str, Any] = dict(call.headers)
    headers |= {name: _Code(f"process.env.{variable}") for name, variable in call.secret_headers.items()}
    if call.bearer:
        headers["Authorization"] = _Code(f"`Bearer ${{process.env.{call.bearer}}}`")
    if call.basic:
        headers["Authorization"] = _Code(
            "`Basic ${{btoa(`${{process.env.{}}}:${{process.env.{}}}`)}}`".format(*call.basic)
        )
    options: dict[str, Any] = {} if call.method == "GET" else {"method": call.method}
    if call.media_type and call.media_type != FORM:
        headers["Content-Type"] = call.media_type
    if headers:
        options["headers"] = headers
    if call.media_type:
        kind = "new URLSearchParams" if call.media_type == FORM else "JSON.stringify"
        options["body"] = _Code(f"{kind}({_literal(call.body, 1, _JAVASCRIPT)})")
    if call.is_redirect:
        options["redirect"] = "manual"
    provided = f", {_literal(options, 0, _JAVASCRIPT)}" if options else ""
    lines.append(f"const response = await fetch({url}{provided});")
    is_failure = "response.status >= 400" if call.is_redirect else "!response.ok"
    lines.append(f"if ({is_failure}) throw new Error(`${{response.status}} ${{await response.text()}}`);")
    shown = (
        'response.headers.get("location")'
        if call.is_redirect
        else "JSON.stringify(await response.json(), null, 2)"
        if call.answers_json
        else "await response.text()"
    )
    return "\n".join([*lines, f"console.log({shown});"])


def filled(path: str, values: dict[str, Any]) -> str:
    """Return a path with its parameters replaced."""
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    return path


class _Code(str):
    """Source text, not a value."""


@dataclass(frozen=True)
class _Language:
    indent: int
    words: dict[Any, str]
    quotes_names: bool
    variable: str


_PYTHON = _Language(4, {True: "True", False: "False", None: "None"}, quotes_names=True, variable='os.environ["{}"]')
_JAVASCRIPT = _Language(2, {True: "true", False: "false", None: "null"}, quotes_names=False, variable="process.env.{}")


def _literal(value: Any, depth: int, language: _Language) -> str:
    if isinstance(value, _Code):
        return str(value)
    if isinstance(value, Variable):
        return language.variable.format(value)
    if value is None or isinstance(value, bool):
        return language.words[value]
    if isinstance(value, dict):
        parts = [f"{_name(name, language)}: {_literal(item, depth + 1, language)}" for name, item in value.items()]
        return _bracketed("{}", parts, depth, language)
    if isinstance(value, list):
        return _bracketed("[]", [_literal(item, depth + 1, language) for item in value], depth, language)
    return json.dumps(value, ensure_ascii=False)


def _bracketed(brackets: str, parts: list[str], depth: int, language: _Language) -> str:
    opening, closing = brackets[0], brackets[1]
    line = f"{opening}{', '.join(parts)}{closing}"
    if len(line) <= 60 and "\n" not in line:
        return f"{opening} {line[1:-1]} {closing}" if parts and brackets == "{}" and not language.quotes_names else line
    inner, outer = " " * language.indent * (depth + 1), " " * language.indent * depth
    return opening + "".join(f"\n{inner}{part}," for part in parts) + f"\n{outer}{closing}"


def _name(name: str, language: _Language) -> str:
    is_plain = name.isidentifier() and name.isascii()
    return name if is_plain and not language.quotes_names else json.dumps(name, ensure_ascii=False)
