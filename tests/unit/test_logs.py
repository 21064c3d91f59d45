"""Log lines are JSON, and never contain secrets."""

import json
import logging
from collections.abc import Iterator

import pytest

from app.kit import logs
from app.kit.logs import redacted


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
def test_exception_is_logged_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(is_json=True)
    try:
        int("access_token=S3CRET")
    except ValueError:
        logging.getLogger("gatehouse.test").exception("broken")
    line = json.loads(capsys.readouterr().err)
    assert "ValueError" in line["exception"]
    assert "S3CRET" not in line["exception"]
