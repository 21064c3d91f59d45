"""Log lines are JSON, and never contain secrets."""

import io
import json
import logging
import re
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from app.kit.clock import thread_cpu_seconds
from app.kit.observability import logs
from app.kit.observability.logs import redacted


@pytest.fixture
def configured() -> Iterator[None]:
    before, level = logging.root.handlers[:], logging.root.level
    logs.configure(is_json=True)
    yield
    logging.root.handlers[:] = before
    logging.root.setLevel(level)


@pytest.mark.parametrize(
    "text",
    [
        "GET /x?apikey=S3CRET&b=1",
        "GET /x?ApiSecret=S3CRET",
        "access_token=S3CRET",
        '{"clientSecret": "S3CRET"}',
        "{'refresh_token': 'S3CRET'}",
        '{"Password": "S3CRET"}',
        "Authorization: Bearer S3CRET",
        "X-Acme-ApiSecret: S3CRET",
        "smtp://door:S3CRET@mail.example.com",
        "GET /r/S3CRET-token_of43letters?lang=de",
        "https://acme.example.com/R/S3CRET-token_of43letters failed",
        "postgresql+psycopg://runtime:S3CRET@db/gatehouse failed",
    ],
)
def test_secret_in_a_text_is_masked(text: str) -> None:
    assert "S3CRET" not in redacted(text)


HOSTILE = (
    "a" * 30_000,
    "a." * 15_000,
    "x://" * 8_000,
    "x://" + ":" * 30_000,
    "token" * 6_000,
    "token " * 5_000,
    "Basic " * 5_000,
)


def test_hostile_text_is_masked_in_linear_time(subtests: pytest.Subtests) -> None:
    """Every request logs its path, which has up to 32 KiB."""
    for text in HOSTILE:
        begun = thread_cpu_seconds()
        redacted(f"{text}@ {text}")
        with subtests.test(text[:8]):
            assert thread_cpu_seconds() - begun < 0.3


def test_every_sensitive_name_holds_a_searched_stem() -> None:
    names = [name.replace("?", "") for name in logs._NAMES.split("|")]
    assert [name for name in names if not any(stem in name for stem in logs._STEMS)] == []


@pytest.mark.parametrize(
    "text", ["PASSWORD=S3CRET", "pa\u017f\u017fword=S3CRET", "se\u017fsion=S3CRET", "p\u0131n=S3CRET"]
)
def test_secret_under_a_name_in_any_letter_case_is_masked(text: str) -> None:
    assert "S3CRET" not in redacted(text)


@pytest.mark.parametrize(
    "key", ["password", "apikey", "ApiSecret", "X-Acme-ApiKey", "access_token", "clientSecret", "cookie", "code"]
)
def test_value_under_a_sensitive_name_is_masked(key: str) -> None:
    assert redacted({key: "S3CRET"}) == {key: "***"}


def test_ordinary_value_is_not_masked() -> None:
    assert redacted({"path": "/identity/v2/auth/password", "status": 200}) == {
        "path": "/identity/v2/auth/password",
        "status": 200,
    }


@pytest.mark.usefixtures("configured")
def test_log_line_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(is_json=True)
    logging.getLogger("gatehouse.test").info("something.happened", extra={"uid": "u1", "access_token": "S3CRET"})
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["uid"], line["access_token"], line["level"]) == (
        "something.happened",
        "u1",
        "***",
        "info",
    )


@pytest.mark.usefixtures("configured")
def test_terminal_gets_plain_lines_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(is_json=False)
    logger = logging.getLogger("gatehouse.test")
    logger.info("something.happened\nforged", extra={"uid": "u1\r\nforged", "token": "S3CRET", "count": 2})
    try:
        int("access_token=S3CRET")
    except ValueError:
        logger.exception("broken")
    first, second, *traceback = capsys.readouterr().err.splitlines()
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT[\d:.]+Z \[info\] gatehouse\.test: 'something\.happened\\nforged' uid='u1\\r\\nforged' token=\*\*\* count=2",
        first,
    )
    assert second.endswith("[error] gatehouse.test: broken")
    assert "ValueError" in traceback[-1]
    assert "S3CRET" not in first + "".join(traceback)


@pytest.mark.usefixtures("configured")
def test_exception_is_logged_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(is_json=True)
    try:
        int("access_token=S3CRET")
    except ValueError:
        logging.getLogger("gatehouse.test").exception("broken")
    line = json.loads(capsys.readouterr().err)
    assert "ValueError" in line["exception"]
    assert "S3CRET" not in line["exception"]


REQUESTS = [
    ("acme.localhost:8000", "/login", "127.0.0.1"),
    ("se\u017fsion=S3CRET", "/r/S3CRET-token_of43letters", ""),
    ('bad"host\\\n', "/\u00fc\U0001f600/access_token=S3CRET", "2001:db8::1"),
    ("smtp://door:S3CRET@mail", "/Bearer S3CRET", "unix"),
]


BOUND: list[dict[str, str]] = [
    {},
    {"request_id": "BCDF-GHJK-LMNP", "client_id": 'a"\u00e9 Bearer S3CRET', "code": "S3CRET"},
]


@pytest.mark.usefixtures("configured")
@pytest.mark.parametrize("bound", BOUND, ids=["nothing bound", "facts bound"])
@pytest.mark.parametrize(("host", "path", "address"), REQUESTS, ids=["plain", "secrets", "escapes", "more"])
def test_request_line_is_what_a_record_becomes(
    host: str,
    path: str,
    address: str,
    bound: dict[str, str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logs, "_bound", ContextVar("bound", default=bound))
    logger, lines = logging.getLogger("gatehouse.access"), []
    facts: dict[str, Any] = {"method": "GET", "status": 404, "milliseconds": 1.5, "host": host, "path": path}
    for kind in (logs._Lines, logging.StreamHandler):  # the second one gets a record
        logs.configure(is_json=True)
        logging.root.handlers[0].__class__ = kind
        logs.log_request(logger, address=address, **facts)
        lines.append(re.sub(r'"timestamp": "[-0-9T:.]{19,26}Z"', "", capsys.readouterr().err))
    assert lines[0] == lines[1]
    assert "timestamp" not in lines[0]
    assert lines[0].count("\n") == 1
    assert "S3CRET" not in lines[0]


@pytest.mark.usefixtures("configured")
def test_broken_stream_is_reported_and_the_request_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(is_json=True)
    handler = logging.root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    broken = io.StringIO()
    broken.close()
    handler.setStream(broken)
    facts: dict[str, Any] = {
        "method": "GET",
        "status": 200,
        "milliseconds": 1.5,
        "host": "a",
        "path": "/",
        "address": "",
    }
    logs.log_request(logging.getLogger("gatehouse.access"), **facts)
    assert "I/O operation on closed file" in capsys.readouterr().err


@pytest.mark.usefixtures("configured")
def test_request_is_logged_with_its_facts(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(is_json=True)
    facts = {"method": "GET", "host": "acme.localhost", "path": "/x", "address": "127.0.0.1"}
    logs.log_request(logging.getLogger("gatehouse.access"), status=200, milliseconds=2.0, **facts)
    line = json.loads(capsys.readouterr().err)
    assert {name: line[name] for name in facts} == facts
    assert (line["event"], line["status"], line["milliseconds"], line["level"]) == ("request", 200, 2.0, "info")
