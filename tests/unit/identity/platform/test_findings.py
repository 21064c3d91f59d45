"""The findings of refused answers are short, printable and without secrets."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.outbound.findings import (
    MASKED,
    MAX_LENGTH,
    Finding,
    UpstreamRefusal,
    checking,
    claim_names,
    error_name,
    kind_of_value,
)

SECRET = "hunter2-and-more"


def finding(**texts: Any) -> Finding:
    return UpstreamRefusal("refused", **texts).finding


def test_refusal_without_details_shows_its_text() -> None:
    assert finding() == Finding(ConnectionCheck.ANSWER, "", "refused")


def test_inner_check_wins() -> None:
    with pytest.raises(UpstreamRefusal) as outer, checking(ConnectionCheck.USERINFO), checking(ConnectionCheck.KEYS):
        raise UpstreamRefusal("no answer")
    assert outer.value.finding.check is ConnectionCheck.KEYS


def test_secret_is_masked_in_log_and_finding() -> None:
    with pytest.raises(UpstreamRefusal) as raised, checking(ConnectionCheck.USERINFO, SECRET):
        raise UpstreamRefusal(f"it answered {SECRET}", expected=SECRET, received=[SECRET, f"x{SECRET}y"])
    assert str(raised.value) == f"it answered {MASKED}"
    assert raised.value.finding == Finding(ConnectionCheck.USERINFO, MASKED, f"{MASKED}, x{MASKED}y")


def test_secret_across_the_end_of_a_long_text_is_masked() -> None:
    refusal = UpstreamRefusal("refused", received="a" * (MAX_LENGTH - 5) + SECRET)
    refusal.hide((SECRET,))
    assert "hunt" not in refusal.finding.received


def test_signed_token_is_masked_wherever_it_comes_from() -> None:
    assert finding(received="iss eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.c2ln end").received == f"iss {MASKED} end"


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J\x1b]0;title\x07", "a\r\nb", "\u202eevil\u2066", "\x9b31m", "\ud800", "\u2028", "a\x00b"],
    ids=ascii,
)
def test_control_characters_are_removed(text: str) -> None:
    received = finding(received=text).received
    assert received.isprintable()
    received.encode()


def test_texts_have_an_end() -> None:
    assert len(finding(received="a" * 10_000_000).received) == MAX_LENGTH
    assert len(finding(received=["a" * 1_000] * 1_000).received) == MAX_LENGTH


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "nothing"), (True, "true"), (7, "7"), (10**5_000, "a number without end"), (float("nan"), "a number without end"),
        (["a", "b"], "a, b"), ([], "an empty list"), ([7], "a value of another type"), ({"a": "b"}, "an object"),
    ],
    ids=lambda value: str(value)[:20] if not isinstance(value, int) else "number",
)  # fmt: skip
def test_values_of_every_type_have_words(value: Any, words: str) -> None:
    assert finding(received=value).received == words


@pytest.mark.parametrize("code", ["invalid_client", "bad_verification_code", "40029", "-1"])
def test_error_codes_are_shown(code: str) -> None:
    assert error_name(code) == code


@pytest.mark.parametrize("text", [SECRET, "", "a" * 41, "<script>", "invalid\x1b[31m", ["invalid_grant"]], ids=ascii)
def test_errors_that_are_no_code_are_counted(text: Any) -> None:
    assert error_name(text) == f"[{len(str(text))} characters that are no error code]"


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ({"message": SECRET, "type": "OAuthException", "code": 190}, "190"),
        ({"type": "OAuthException"}, "OAuthException"),
        ({"code": SECRET, "type": [SECRET]}, "an object without an error code"),
        ({}, "an object without an error code"),
    ],
    ids=str,
)
def test_errors_in_objects_are_named_by_their_code(error: dict[str, Any], name: str) -> None:
    assert error_name(error) == name


def test_claims_are_named_without_values() -> None:
    assert claim_names({"sub": "ada", "email": "ada@example.test", "x" * 41: 1}) == "sub, email, a long name"
    assert claim_names({f"c{number}": 1 for number in range(20)}).endswith("c11 and 8 more")
    values: list[Any] = [None, True, 7, 0.5, [], {}]
    assert kind_of_value("ada") == "text of 3 characters"
    assert kind_of_value("a\x00") == "text with control characters"
    assert [kind_of_value(value) for value in values] == [
        "missing", "true or false", "a whole number", "a fraction", "a list", "an object",
    ]  # fmt: skip
