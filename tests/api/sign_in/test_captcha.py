"""Unlocking an account that is locked by a captcha: our own challenge, or the response of the tenant's provider."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from werkzeug.test import TestResponse

from app.contract.captcha.models import CaptchaChallenge
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.settings import SettingsError, read
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.captchas import BELIEVED, DOUBTED, FakeCaptchaProvider, keep_secret, providing, worked

LOGIN = "/identity/v2/auth/login"
WRONG = "Not-the-one-17"
MAX_ATTEMPTS = 3
EMAIL = "ada@example.test"
NO_LIMITS = {"sign_in_per_minute_per_address": 0, "sign_in_per_minute": 0, "captcha_tries_per_hour_per_account": 0}
BITS = 8

Locked = Callable[..., TenantServer]


def logs_in(tenant: TenantServer, password: str = PASSWORD, query: Any = None, **members: Any) -> TestResponse:
    body = {"email": EMAIL, "password": password, **members}
    return tenant.send("POST", LOGIN, body, with_secret=False, **(query or {}))


@pytest.fixture
def locked(new_tenant_server: NewTenantServer) -> Locked:
    """Return a function that creates a tenant with one account locked by a captcha."""

    def make(provider: str = "own", **captcha: Any) -> TenantServer:
        stated = {
            "provider": provider,
            "site_key": "" if provider == "own" else "a site key",
            "work_bits": BITS,
            **captcha,
        }
        lockout = {"type": "captcha", "maximum_failed_attempts": MAX_ATTEMPTS}
        tenant = new_tenant_server(lockout=lockout, limits=NO_LIMITS, captcha=stated)
        uid = str(tenant.create(Email=[{"Type": "Primary", "Value": EMAIL}])["Uid"])
        tenant.update(uid, {"EmailVerified": True})
        for _ in range(MAX_ATTEMPTS):
            logs_in(tenant, WRONG)
        return tenant

    return make


def challenge_of(tenant: TenantServer) -> CaptchaChallenge:
    """Return the challenge in the refusal of a locked sign-in."""
    answer = logs_in(tenant)
    assert refused(answer) == (403, 1132)
    return CaptchaChallenge.model_validate(answer.get_json()["Data"]["Captcha"])


def solved(challenge: CaptchaChallenge) -> dict[str, Any]:
    return {"captcha_challenge": challenge.token, "captcha_work": worked(challenge.work_seed, challenge.work_bits)}


# Our own challenge.


def test_proof_of_work_unlocks_sign_in(locked: Locked) -> None:
    tenant = locked()
    challenge = challenge_of(tenant)
    assert challenge.work_bits == BITS
    answered(logs_in(tenant, **solved(challenge)))
    answered(logs_in(tenant))


def test_captcha_solution_is_accepted_in_query(locked: Locked) -> None:
    tenant = locked()
    answered(logs_in(tenant, query=solved(challenge_of(tenant))))


def test_solved_challenge_is_accepted_once(locked: Locked) -> None:
    tenant = locked()
    values: dict[str, Any] = solved(challenge_of(tenant))
    assert refused(logs_in(tenant, WRONG, **values)) == (401, 966)
    assert refused(logs_in(tenant, **values)) == (403, 982)


def test_wrong_solution_consumes_challenge(locked: Locked) -> None:
    tenant = locked(work_bits=17)
    challenge = challenge_of(tenant)
    assert refused(logs_in(tenant, captcha_challenge=challenge.token, captcha_work="no")) == (403, 982)
    assert refused(logs_in(tenant, **solved(challenge))) == (403, 982)


def test_proof_of_work_has_at_most_20_characters(locked: Locked) -> None:
    tenant = locked()
    for start, status in ((10**20, 403), (10**19, 200)):
        challenge = challenge_of(tenant)
        work = worked(challenge.work_seed, challenge.work_bits, start=start)
        assert logs_in(tenant, captcha_challenge=challenge.token, captcha_work=work).status_code == status


@pytest.mark.both_databases
def test_challenge_of_another_tenant_is_refused(locked: Locked) -> None:
    here, there = locked(), locked()
    values: dict[str, Any] = solved(challenge_of(there))
    assert refused(logs_in(here, **values)) == (403, 982)
    answered(logs_in(there, **values))


def test_expired_challenge_returns_new_one(locked: Locked) -> None:
    tenant = locked()
    values: dict[str, Any] = solved(challenge_of(tenant))
    clock: Any = tenant.services.clock
    clock.advance(minutes=31)
    expired = logs_in(tenant, **values)
    assert refused(expired) == (403, 982)
    answered(logs_in(tenant, **solved(CaptchaChallenge.model_validate(expired.get_json()["Data"]["Captcha"]))))


@pytest.mark.parametrize("place", ["challenge", "work"])
@pytest.mark.parametrize("text", ["", "x", "é", "1" * 10_000, "AAAA", "-1", "\u0000"])
def test_malformed_captcha_solution_is_refused(locked: Locked, place: str, text: str) -> None:
    tenant = locked(work_bits=22)  # with few bits a random solution is sometimes right
    values: dict[str, Any] = {
        "captcha_challenge": challenge_of(tenant).token,
        "captcha_work": "0",
        f"captcha_{place}": text,
    }
    assert refused(logs_in(tenant, **values)) in ((403, 982), (403, 1132), (400, 1214))


def test_altered_challenge_is_refused(locked: Locked) -> None:
    tenant = locked()
    challenge = challenge_of(tenant)
    for at in (0, 12, 30, 60, len(challenge.token) - 2):
        other = "B" if challenge.token[at] == "A" else "A"
        token = challenge.token[:at] + other + challenge.token[at + 1 :]
        values: dict[str, Any] = {**solved(challenge), "captcha_challenge": token}
        assert refused(logs_in(tenant, **values)) == (403, 982)


def at_once(times: int, item: Callable[[], TestResponse]) -> Counter[int]:
    """Call it that many times concurrently; return the count of each status."""
    together = threading.Barrier(times)

    def begin(_: int) -> int:
        together.wait()
        return item().status_code

    with ThreadPoolExecutor(times) as pool:
        return Counter(pool.map(begin, range(times)))


@pytest.mark.both_databases
def test_concurrent_uses_of_challenge_have_one_winner(locked: Locked) -> None:
    tenant = locked()
    values: dict[str, Any] = solved(challenge_of(tenant))
    statuses = at_once(30, lambda: logs_in(tenant, WRONG, **values))
    assert statuses == {401: 1, 403: 29}  # one request had its password checked


@pytest.mark.both_databases
def test_attempts_with_solved_captcha_are_limited(new_tenant_server: NewTenantServer, locked: Locked) -> None:
    tenant = locked()
    limits = {**NO_LIMITS, "captcha_tries_per_hour_per_account": 2}
    change(tenant, limits=limits)
    for _ in range(2):
        assert refused(logs_in(tenant, WRONG, **solved(challenge_of(tenant)))) == (401, 966)
    assert refused(logs_in(tenant, **solved(challenge_of(tenant)))) == (429, 429)


# An external provider.


@pytest.fixture
def provider(services: IdentityServices, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeCaptchaProvider]:
    with providing(services, monkeypatch) as made:
        yield made


def change(tenant: TenantServer, **settings: Any) -> None:
    """Change settings, as `gatehouse apply` would."""
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        stored = tenant_writes.by_name(work, tenant.name)
        assert stored
        values = {**stored.settings, **settings}
        work.run(update(tenants).where(tenants.c.tenant_id == tenant.tenant_id).values(settings=values))
    tenant.services.directory.clear_cache()


def with_provider(locked: Locked, kind: str, **captcha: Any) -> TenantServer:
    tenant = locked(kind, **captcha)
    keep_secret(tenant.services, tenant.tenant_id)
    return tenant


SPELT = [
    ("recaptcha_v2", {"g-recaptcha-response": "an answer"}),
    ("recaptcha_v2", {"g_recaptcha_response": "an answer"}),
    ("hcaptcha", {"h-captcha-response": "an answer"}),
    ("tencent", {"qq_captcha_ticket": "an answer", "qq_captcha_randstr": "random"}),
    ("tencent", {"qq_recaptcha_ticket": "an answer", "qq_recaptcha_randstr": "random"}),
]


@pytest.mark.parametrize("place", ["query", "body"])
@pytest.mark.parametrize(("kind", "parameters"), SPELT)
def test_every_parameter_name_is_sent_to_provider(
    locked: Locked, provider: FakeCaptchaProvider, kind: str, parameters: dict[str, Any], place: str
) -> None:
    provider.body = BELIEVED.get(kind, provider.body)
    tenant = with_provider(locked, kind)
    answered(logs_in(tenant, query=parameters) if place == "query" else logs_in(tenant, **parameters))
    [(method, facts)] = provider.received
    assert (method, "an answer" in facts.values(), "a secret key" in facts.values()) == (
        "GET" if kind == "tencent" else "POST",
        True,
        True,
    )
    assert ("random" in facts.values()) is (kind == "tencent")


def test_tenant_with_provider_gets_no_own_challenge(locked: Locked, provider: FakeCaptchaProvider) -> None:
    tenant = with_provider(locked, "hcaptcha")
    locked_out = logs_in(tenant)
    assert refused(locked_out) == (403, 1132)
    assert "Data" not in locked_out.get_json() or locked_out.get_json()["Data"] is None
    assert refused(logs_in(tenant, **{"g-recaptcha-response": "of another"})) == (403, 982)
    assert provider.received == []


@pytest.mark.parametrize(("kind", "code"), [("recaptcha_v2", 982), ("hcaptcha", 982), ("tencent", 1218)])
def test_captcha_rejected_by_provider_is_refused(
    locked: Locked, provider: FakeCaptchaProvider, kind: str, code: int
) -> None:
    provider.body = DOUBTED
    values: dict[str, Any] = {"g-recaptcha-response": "x", "h-captcha-response": "x", "qq_captcha_ticket": "x"}
    assert refused(logs_in(with_provider(locked, kind), **values)) == (403, code)


@pytest.mark.both_databases
def test_accepted_captcha_response_is_used_once(locked: Locked, provider: FakeCaptchaProvider) -> None:
    tenant = with_provider(locked, "hcaptcha")
    assert at_once(12, lambda: logs_in(tenant, WRONG, **{"h-captcha-response": "one"}))[401] == 1
    assert refused(logs_in(tenant, **{"h-captcha-response": "one"})) == (403, 982)
    answered(logs_in(tenant, **{"h-captcha-response": "another"}))


SCORES = [
    ("recaptcha_v3", 0.9, True),
    ("recaptcha_v3", 0.5, True),
    ("recaptcha_v3", 0.4, False),
    ("recaptcha_v3", None, False),
]
SCORES += [("recaptcha_v3", "1", False), ("recaptcha_v3", True, False)]  # type: ignore[list-item]  # forged types
SCORES += [("hcaptcha", 0.1, True), ("hcaptcha", 0.9, False), ("hcaptcha", None, True)]


@pytest.mark.parametrize(("kind", "score", "is_believed"), SCORES)
def test_captcha_score_decides(
    locked: Locked, provider: FakeCaptchaProvider, kind: str, score: Any, is_believed: bool
) -> None:
    provider.body = json.dumps({"success": True, "score": score}).encode()
    values: dict[str, Any] = {"g-recaptcha-response": "x", "h-captcha-response": "x"}
    assert logs_in(with_provider(locked, kind), **values).status_code == (200 if is_believed else 403)


NOT_TRUE = [b'{"success": "true"}', b'{"success": 1}', b'{"success": null}', b"{}"]


@pytest.mark.parametrize("body", NOT_TRUE)
def test_success_other_than_true_is_refused(locked: Locked, provider: FakeCaptchaProvider, body: bytes) -> None:
    provider.body = body
    assert refused(logs_in(with_provider(locked, "hcaptcha"), **{"h-captcha-response": "x"})) == (403, 982)


NONSENSE = [
    (200, b"<html>"),
    (200, b"[true]"),
    (200, b""),
    (200, b"{" * 100_000),
    (200, b'{"a": "' + b"x" * 70_000 + b'"}'),
]
NONSENSE += [(500, b'{"success": true}'), (302, b'{"success": true}'), (204, b"")]
NONSENSE += [(200, b'{"success": false, "error-codes": ["invalid-input-secret"]}')]


@pytest.mark.parametrize(("status", "body"), NONSENSE)
def test_broken_captcha_provider_answers_503_and_allows_retry(
    locked: Locked, provider: FakeCaptchaProvider, status: int, body: bytes
) -> None:
    provider.status, provider.body = status, body
    tenant = with_provider(locked, "recaptcha_v2")
    answer = logs_in(tenant, **{"g-recaptcha-response": "x"})
    assert refused(answer) == (503, 950)
    assert answer.headers["Retry-After"] == "5"
    assert "a secret key" not in answer.text
    provider.status, provider.body = 200, b'{"success": true}'
    answered(logs_in(tenant, **{"g-recaptcha-response": "x"}))  # the response was not consumed


def test_unreachable_captcha_provider_answers_503(
    locked: Locked, services: IdentityServices, provider: FakeCaptchaProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = with_provider(locked, "hcaptcha")
    provider.released = threading.Event()
    assert refused(logs_in(tenant, **{"h-captcha-response": "x"})) == (503, 950)
    provider.released.set()
    gone = replace(services.settings, captcha_urls=(("hcaptcha", "http://127.0.0.1:9/siteverify"),))
    monkeypatch.setattr(services, "settings", gone)
    assert refused(logs_in(tenant, **{"h-captcha-response": "x"})) == (503, 950)


def test_captcha_provider_without_secret_answers_503(locked: Locked, provider: FakeCaptchaProvider) -> None:
    assert refused(logs_in(locked("hcaptcha"), **{"h-captcha-response": "x"})) == (503, 950)
    assert provider.received == []


def test_appinfo_names_captcha_provider(new_tenant_server: NewTenantServer) -> None:
    def statuses(kind: str) -> tuple[Any, ...]:
        tenant = new_tenant_server(captcha={"provider": kind, "site_key": "public"})
        info = answered(tenant.send("GET", "/ciam/appinfo", with_secret=False))
        return info["IsV2Recaptcha"], info["V2RecaptchaSiteKey"], info["QQTencentCaptchaKey"]

    assert statuses("recaptcha_v2") == (True, "public", None)
    assert statuses("tencent") == (False, None, "public")
    assert statuses("own") == (False, None, None)


def test_captcha_urls_setting_is_parsed_and_checked(tmp_path: Path) -> None:
    statuses = "recaptcha_v2=https://www.recaptcha.net/recaptcha/api/siteverify hcaptcha=http://127.0.0.1:9/x"
    urls = read({"GATEHOUSE_CAPTCHA_URLS": statuses}, tmp_path).captcha_urls
    assert urls[1] == ("hcaptcha", "http://127.0.0.1:9/x")
    for wrong in ("hcaptcha", "other=https://a.example/", "hcaptcha=here"):
        with pytest.raises(SettingsError, match="GATEHOUSE_CAPTCHA_URLS must look like"):
            read({"GATEHOUSE_CAPTCHA_URLS": wrong}, tmp_path)
