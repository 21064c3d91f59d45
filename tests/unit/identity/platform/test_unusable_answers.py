"""What happened to an outside call, in plain words, and the texts of each cause."""

from __future__ import annotations

import ssl

import httpx
import pytest

from app.contract.federation.connection_checks import (
    DIAGNOSES,
    MAX_STORED,
    CallFailure,
    ConnectionCheck,
    read_name,
    stored_name,
)
from app.identity.authentication.federation.connection_causes import CAUSES, diagnosis_of
from app.identity.platform.outbound import outbound_http, unusable_answers
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.outbound.host_resolver import Resolver


def caused(problem: Exception, cause: Exception) -> Exception:
    problem.__cause__ = cause
    return problem


EXCEPTIONS: dict[str, tuple[Exception, CallFailure]] = {
    "no route": (caused(httpx.ConnectError("x"), OSError(113, "No route to host")), CallFailure.UNREACHABLE),
    "refused": (caused(httpx.ConnectError("x"), ConnectionRefusedError()), CallFailure.CONNECTION_REFUSED),
    "proxy": (httpx.ProxyError("403 Forbidden for https://user:secret@id.example"), CallFailure.UNREACHABLE),
    "no connection in time": (httpx.ConnectTimeout("x"), CallFailure.SLOW),
    "nothing sent in time": (httpx.WriteTimeout("x"), CallFailure.SLOW),
    "reset": (caused(httpx.ReadError("x"), ConnectionResetError()), CallFailure.CLOSED),
    "reset while sending": (httpx.WriteError("x"), CallFailure.CLOSED),
    "closed in the handshake": (caused(httpx.ConnectError("x"), ssl.SSLEOFError()), CallFailure.CLOSED),
    "no common version": (caused(httpx.ConnectError("x"), ssl.SSLError(1, "alert")), CallFailure.TLS),
    "unknown scheme": (httpx.UnsupportedProtocol("secret"), CallFailure.INVALID_ADDRESS),
    "no URL": (httpx.InvalidURL("secret"), CallFailure.INVALID_ADDRESS),
    "anything": (ValueError("secret"), CallFailure.INVALID_ADDRESS),
}


@pytest.mark.parametrize(("problem", "failure"), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_exception_is_named_without_its_text(problem: Exception, failure: CallFailure) -> None:
    found = unusable_answers.of_exception(problem, seconds=5, connect_seconds=2.5)
    assert found.failure is failure
    assert "secret" not in found.expected + found.received
    assert type(problem).__name__ not in found.expected + found.received


@pytest.mark.parametrize("url", ["gopher://provider.localhost/", "https://a:b:c/"])
def test_address_that_is_none_is_named(url: str) -> None:
    with pytest.raises(ProviderUnavailable) as raised:
        outbound_http.get_json_object(Resolver(["127.0.0.0/8"]), url)
    assert raised.value.finding.cause == CallFailure.INVALID_ADDRESS


LOCATIONS = {
    "https://id.example/a?code=secret": "https://id.example/a?…",
    "https://user:secret@id.example:8443/a#secret": "https://id.example:8443/a",
    "/relative?code=secret": "/relative?…",
    "https://id.example:port/": "an address that can’t be read",
    "https://[": "an address that can’t be read",
    "javascript:alert(1)": "alert(1)",
    "https://id.example/\x1b[31m\u202e": "https://id.example/ [31m",
    "?code=secret": "?…",
}


@pytest.mark.parametrize(("location", "words"), LOCATIONS.items())
def test_redirect_is_shown_without_its_secrets(location: str, words: str) -> None:
    assert unusable_answers.status_in_words(302, location) == f"302, a redirect to {words}"


def test_long_redirect_is_cut() -> None:
    assert len(unusable_answers.status_in_words(302, f"https://id.example/{'a' * 9_000}")) < 160


@pytest.mark.parametrize("location", [None, ""])
def test_redirect_to_nowhere_is_its_status(location: str | None) -> None:
    assert unusable_answers.status_in_words(302, location) == "302"


def test_encoding_that_repeats_a_secret_is_counted() -> None:
    assert unusable_answers.packed("gzip").received == "an answer compressed by gzip"
    assert "secret" not in unusable_answers.packed("the secret of 1 client: 100%").received


@pytest.mark.parametrize("check", CAUSES)
def test_every_cause_has_texts_and_fits_into_its_column(check: ConnectionCheck) -> None:
    assert set(CAUSES[check]) == set(CallFailure)
    for cause, diagnosis in CAUSES[check].items():
        assert diagnosis.problem.endswith(".")
        assert diagnosis.advice
        assert "{" not in diagnosis.problem + diagnosis.advice
        stored = stored_name(check, cause)
        assert len(stored) <= MAX_STORED
        assert read_name(stored) == (check, cause)


def test_texts_of_a_newer_release_are_general_ones() -> None:
    assert diagnosis_of("keys", "cause_of_tomorrow") == DIAGNOSES[ConnectionCheck.KEYS]
    assert diagnosis_of("check_of_tomorrow", "slow") == DIAGNOSES[ConnectionCheck.ANSWER]
    assert diagnosis_of("aud", "slow") == DIAGNOSES[ConnectionCheck.AUD]
