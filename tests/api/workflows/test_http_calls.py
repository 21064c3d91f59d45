"""Calls of workflows to a tenant's server: what is sent, which answers count, and how long a bad server is waited for."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from time import monotonic, sleep
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from standardwebhooks import Webhook

from app.contract.workflows.http_calls import CallRequest
from app.contract.workflows.protected_claims import PROTECTED
from app.identity.authentication.workflows import answered_profiles
from app.identity.authentication.workflows.call_signatures import secret_of
from app.identity.directory.tenants.keys.signing_algorithms import WEBHOOKS
from app.identity.platform.outbound import bounded_transport, target_pauses, target_posts
from app.identity.platform.outbound.target_posts import CALLS, PostLimits
from app.kit.outbound.host_resolver import Resolver
from tests.support.fakes import https_receiver
from tests.support.fakes.https_receiver import HttpsReceiver, foreign_certificate, server_context
from tests.support.processes.installation import eventually
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.workflows.called_server import SIGN_IN, CalledServer, account_of

PATIENCE = 8
"""Seconds in which a call ends that waits one, on a busy machine; the servers hang for a minute."""


def drips(receiver: HttpsReceiver) -> None:
    """Answer one byte at a time, so that no single read takes long."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        https_receiver.begin(handler, 200, 10_000)
        while not receiver.ended.is_set():
            https_receiver.write_while_read(handler, b" ")
            sleep(0.1)

    receiver.answer = answer


def talks_for_10_mb(receiver: HttpsReceiver) -> None:
    receiver.answers(200, b" " * 10_000_000 + b'{"Action": "continue"}')


def redirects(receiver: HttpsReceiver) -> None:
    receiver.answers(307, b'{"Action": "continue"}', {"Location": receiver.url("/elsewhere")})


def speaks_no_http(receiver: HttpsReceiver) -> None:
    receiver.sends(b"no HTTP\r\n\r\n")


def packs_its_answer(receiver: HttpsReceiver) -> None:
    receiver.answers(200, b"\x1f\x8b", {"Content-Encoding": "gzip"})


def changes_its_certificate(receiver: HttpsReceiver) -> None:
    receiver.context = server_context(foreign_certificate())


def test_call_names_the_account_and_the_sign_in(called: CalledServer) -> None:
    called.answers()
    answer = called.call(send=["FirstName", "Email", "Industry"])

    assert (answer.decision, answer.failure) == ("continue", "")
    (request,) = called.receiver.received
    body = json.loads(request.body)
    assert CallRequest.model_validate(body).to_json() == request.body
    assert (body["Type"], body["Node"]) == ("workflow.call", "ask")
    assert body["Workflow"]["Version"] == 3
    assert body["Account"]["Uid"] == called.uid
    assert body["Account"]["FirstName"] == "Ada"
    assert "@example.test" in body["Account"]["Email"]
    assert body["Account"]["Industry"] is None
    assert body["SignIn"] == {
        "Methods": ["password"], "Provider": None, "IpAddress": "192.0.2.7", "UserAgent": "A browser", "ClientId": "shop",
        "IsRefresh": False, "ReturnUrl": None,
    }  # fmt: skip


def test_profile_stays_with_us_unless_a_node_sends_it(called: CalledServer) -> None:
    called.answers()
    called.call()

    assert json.loads(called.receiver.received[0].body)["Account"] == {"Uid": called.uid}


@pytest.mark.parametrize("name", ["", "partners"])
def test_call_is_signed_as_standard_webhooks_are(called: CalledServer, name: str) -> None:
    called.answers()
    called.call(secret_name=name)
    (request,) = called.receiver.received

    Webhook(secret_of(called.tenant.api_secret, name)).verify(request.body, dict(request.headers))
    assert request.headers["webhook-id"] == json.loads(request.body)["Id"]
    signature = next(text for text in request.headers["webhook-signature"].split() if text.startswith("v1a,"))
    with called.context() as context:
        key: Any = context.services.signing_keys.current(context.work, WEBHOOKS).signers[WEBHOOKS].key.raw_value
    signed = b".".join(
        [request.headers["webhook-id"].encode(), request.headers["webhook-timestamp"].encode(), request.body]
    )
    public: Ed25519PublicKey = key.public_key()
    public.verify(b64decode(signature.removeprefix("v1a,")), signed)


def test_secrets_of_calls_are_independent() -> None:
    secrets = {secret_of("the-api-secret", name) for name in ("", "partners", "shop")}

    assert len(secrets) == 3
    assert all("the-api-secret" not in secret for secret in secrets)


def test_denial_brings_the_servers_texts(called: CalledServer) -> None:
    called.answers("deny", Text={"de": "Ihr Konto ruht."})
    answer = called.call(on_failure="continue", deny_text={"en": "Not now.", "de": "Nicht jetzt."})

    assert (answer.decision, answer.failure) == ("deny", "")
    assert answer.texts == {"en": "Not now.", "de": "Ihr Konto ruht."}


def test_step_up_brings_claims_and_fields(called: CalledServer) -> None:
    claims = {"tier": "gold", "level": 3, "ratio": 0.5, "is_partner": True, "areas": ["north", "south"]}
    called.answers("step_up", Claims=claims, Profile={"Company": "Analytical"})
    answer = called.call(claims=list(claims), profile_fields=["Company"])

    assert answer.decision == "step_up"
    assert answer.claims == claims
    assert answer.profile == {"Company": "Analytical"}


@pytest.mark.parametrize(
    ("misbehave", "failure"),
    [
        (HttpsReceiver.hangs, "unavailable"), (HttpsReceiver.hangs_after_status, "unavailable"), (drips, "unavailable"),
        (talks_for_10_mb, "unavailable"), (redirects, "status"), (HttpsReceiver.closes_mid_answer, "unavailable"),
        (HttpsReceiver.closes_without_answer, "unavailable"), (speaks_no_http, "unavailable"), (packs_its_answer, "unavailable"),
        (changes_its_certificate, "unavailable"), (lambda server: server.answers(500, b'{"Action": "continue"}'), "status"),
        (lambda server: server.answers(204), "status"), (lambda server: server.answers(200), "malformed"),
    ],
)  # fmt: skip
def test_bad_server_fails_within_the_deadline(
    called: CalledServer, misbehave: Callable[[HttpsReceiver], None], failure: str
) -> None:
    misbehave(called.receiver)
    began = monotonic()
    answer = called.call()

    assert monotonic() - began < PATIENCE
    assert (answer.decision, answer.failure) == ("failed", failure)
    assert len(called.receiver.received) <= 1, "no redirect is followed, and nothing is sent twice"


def test_failed_call_names_what_failed(called: CalledServer) -> None:
    called.receiver.answers(503)
    answer = called.call(on_failure="continue", deny_text={"en": "Not now."})

    assert (answer.decision, answer.problem, dict(answer.texts)) == ("failed", "the status 503", {})


def test_address_that_became_private_is_not_called(called: CalledServer) -> None:
    services = called.tenant.services
    settings = services.settings
    services.settings = replace(settings, hub_domain="id.example.com", mail_from="door@id.example.com")
    try:
        answer = called.call()
    finally:
        services.settings = settings

    assert (answer.decision, answer.failure) == ("failed", "unavailable")
    assert "not public" in answer.problem
    assert called.receiver.received == []


def test_dead_server_is_left_alone_for_a_while(called: CalledServer) -> None:
    called.receiver.closes_without_answer()
    failed = [called.call().problem for _ in range(5)]
    assert len(called.receiver.received) == target_pauses.MAX_FAILURES
    assert "left alone" in failed[3]
    assert "left alone" in failed[4]
    pass_time(called.tenant.services, seconds=11)
    called.call()
    assert len(called.receiver.received) == target_pauses.MAX_FAILURES + 1, "one request finds out"
    assert "left alone" in called.call().problem
    pass_time(called.tenant.services, seconds=11)
    called.answers()

    assert [called.call().failure for _ in range(3)] == ["", "", ""]


def test_refusal_with_a_status_pauses_nothing(called: CalledServer) -> None:
    called.receiver.answers(500)

    assert [called.call().failure for _ in range(5)] == ["status"] * 5
    assert len(called.receiver.received) == 5


def test_hanging_server_leaves_slots_to_others(called: CalledServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten people wait for a server that hangs; another tenant's server is asked at once."""
    monkeypatch.setattr(target_pauses, "MAX_FAILURES", 1_000)
    called.receiver.hangs()
    with ThreadPoolExecutor(10) as pool:
        waiting = [pool.submit(called.call, timeout_seconds=5) for _ in range(10)]
        eventually(lambda: len(called.receiver.received) == bounded_transport.CALL_SLOTS.per_owner)
        limits = PostLimits(seconds=5, max_bytes=1_000, slots=CALLS, owner="another tenant")
        with https_receiver.https_receiver() as other:
            answer = target_posts.post(Resolver(["127.0.0.0/8"]), other.url(), {}, b"{}", limits)
        asked = len(called.receiver.received)
        called.receiver.ended.set()
        outcomes = [outcome.result() for outcome in waiting]

    assert (answer.status, asked) == (200, bounded_transport.CALL_SLOTS.per_owner)
    assert {outcome.failure for outcome in outcomes} == {"unavailable"}


MALFORMED = [
    b"", b"null", b"[]", b'"continue"', b"{", b'{"Action": "continue"} {}', b'{"action": "continue"}', b'{"Action": "Continue"}',
    b'{"Action": "allow"}', b'{"Action": true}', b'{"Action": null}', b'{"Action": "continue", "Allow": true}', b"\xff\xfe", b"[" * 60_000,
    b'{"Action": "continue", "Text": {"en": "Hello"}}', b'{"Action": "deny", "Claims": {"tier": "gold"}}',
    b'{"Action": "deny", "Profile": {"Company": "x"}}', b'{"Action": "deny", "Text": "No"}', b'{"Action": "deny", "Text": {"en": ""}}',
    b'{"Action": "deny", "Text": {"xx": "No"}}', b'{"Action": "deny", "Text": {"en": "' + b"x" * 501 + b'"}}',
    b'{"Action": "deny", "Text": {"en": "a\\u0000b"}}', b'{"Action": "deny", "Text": {"en": "\\ud800"}}',
    b'{"Action": "continue", "Claims": []}', b'{"Action": "continue", "Claims": {"tier": null}}',
    b'{"Action": "continue", "Claims": {"tier": {}}}', b'{"Action": "continue", "Claims": {"tier": [["gold"]]}}',
    b'{"Action": "continue", "Claims": {"tier": NaN}}', b'{"Action": "continue", "Claims": {"tier": 1e999}}',
    b'{"Action": "continue", "Claims": {"tier": 99999999999999999999999999}}', b'{"Action": "continue", "Claims": {"tier": "a\\nb"}}',
    b'{"Action": "continue", "Claims": {"tier": "' + b"x" * 501 + b'"}}',
    b'{"Action": "continue", "Claims": {"tier": [' + b",".join([b'"' + b"x" * 100 + b'"'] * 40) + b"]}}",
    b'{"Action": "continue", "Profile": {"Company": 7}}', b'{"Action": "continue", "Profile": {"Company": ["x"]}}',
    b'{"Action": "continue", "Profile": {"BirthDate": "the day before yesterday"}}',
    b'{"Action": "continue", "Profile": {"CustomFields.unknown": "x"}}',
    b'{"Action": "continue", "Profile": {"Company": "<img src=x onerror=alert(1)>"}}', b'{"Action": "continue", "a\\u0000b": "x"}',
    b'{"Action": "redirect"}', b'{"Action": "redirect", "Url": null}',
    b'{"Action": "continue", "Url": "https://kyc.example"}', b'{"Action": "redirect", "Url": "http://kyc.example"}',
    b'{"Action": "redirect", "Url": "https://ada@kyc.example"}', b'{"Action": "redirect", "Url": "https://kyc.example/#case"}',
    b'{"Action": "redirect", "Url": "https://kyc.example/?state=1"}', b'{"Action": "redirect", "Url": "javascript:alert(1)"}',
    b'{"Action": "redirect", "Url": "https://kyc.example/' + b"x" * 2_000 + b'"}',
    b'{"Action": "redirect", "Url": "https://kyc.example", "Claims": {"tier": "gold"}}',
    b'{"Action": "redirect", "Url": "https://kyc.example", "Profile": {"Company": "x"}}',
    b'{"Action": "redirect", "Url": "https://kyc.example", "Text": {"en": "Go"}}',
]  # fmt: skip


def test_answer_with_anything_else_counts_as_none(called: CalledServer, subtests: pytest.Subtests) -> None:
    for content in MALFORMED:
        with subtests.test(repr(content[:60])):
            called.receiver.answers(200, content)
            fields = ["Company", "BirthDate", "CustomFields.unknown"]
            answer = called.call(claims=["tier"], profile_fields=fields, redirect_origins=["https://kyc.example"])

            assert (answer.decision, answer.failure) == ("failed", "malformed")
            assert (dict(answer.claims), dict(answer.profile)) == ({}, {})
            assert len(answer.problem) <= 200
            assert answer.problem.isprintable()


def test_protected_claim_fails_the_call(called: CalledServer, subtests: pytest.Subtests) -> None:
    for name in sorted(PROTECTED):
        with subtests.test(name):
            called.answers(Claims={name: "ours"})
            assert called.call().failure == "malformed"
            with pytest.raises(ValueError, match="claims"):
                called.step(claims=[name])


@pytest.mark.parametrize(
    "members",
    [{"Claims": {"level": 3}}, {"Profile": {"Company": "x"}}, {"Profile": {"Uid": "other"}}, {"Profile": {"EmailVerified": "true"}}],
)  # fmt: skip
def test_undeclared_member_fails_the_call(called: CalledServer, members: dict[str, Any]) -> None:
    called.answers(**members)
    answer = called.call(claims=["tier"], profile_fields=["Industry"])

    assert (answer.decision, answer.failure) == ("failed", "undeclared")
    assert next(iter(next(iter(members.values())))) in answer.problem


@pytest.mark.parametrize("origins", [[], ["https://kyc.example:8443"], ["https://other.example"]])
def test_redirect_to_undeclared_origin_fails(called: CalledServer, origins: list[str]) -> None:
    called.answers("redirect", Url="https://kyc.example/start?case=1")
    answer = called.call(redirect_origins=origins)

    assert (answer.decision, answer.failure, answer.url) == ("failed", "undeclared", "")
    assert "kyc" not in answer.problem


def test_redirect_is_never_cached(called: CalledServer) -> None:
    called.answers("redirect", Url="https://kyc.example/start?case=1")
    step = called.step(cache_seconds=60, redirect_origins=["https://kyc.example"])
    assert [called.call(step=step).url for _ in range(2)] == ["https://kyc.example/start?case=1"] * 2

    assert len(called.receiver.received) == 2


def test_answer_is_cached_for_its_account_and_time(called: CalledServer) -> None:
    called.answers(Claims={"tier": "gold"}, Profile={"Company": "Analytical"})
    step = called.step(cache_seconds=60, claims=["tier"], profile_fields=["Company"])
    first, second = called.call(step=step), called.call(step=step)

    assert len(called.receiver.received) == 1
    assert second == replace(first, profile={}, milliseconds=0, is_cached=True), "fields are written once"
    pass_time(called.tenant.services, seconds=61)
    called.call(step=step)
    assert len(called.receiver.received) == 2


def test_cached_answer_serves_no_other_account(called: CalledServer) -> None:
    called.answers()
    step = called.step(cache_seconds=60)
    called.call(step=step)
    other = replace(called, uid=str(called.tenant.create()["Uid"]))
    other.call(step=step)
    called.call(SIGN_IN.model_copy(update={"client_id": "bank"}), step=step)
    called.call(step=replace(step, workflow=step.workflow.model_copy(update={"version": 4})))
    called.call(step=replace(step, node_id="another"))

    assert len(called.receiver.received) == 5


def test_cached_answer_serves_no_node_with_other_settings(called: CalledServer) -> None:
    called.answers(Claims={"tier": "gold"})
    assert called.call(cache_seconds=60, claims=["tier"]).claims == {"tier": "gold"}
    assert called.call(cache_seconds=60).failure == "undeclared"


def test_failure_is_never_cached(called: CalledServer) -> None:
    step = called.step(cache_seconds=60)
    called.receiver.answers(503)
    assert called.call(step=step).failure == "status"
    called.answers()

    assert called.call(step=step).failure == ""


def test_cached_answers_are_bounded(called: CalledServer) -> None:
    answers = called.tenant.services.call_answers
    now = called.tenant.services.clock.now()
    for number in range(5_000):
        answers.keep(("bound", number), number, now, 60)

    assert answers.find(("bound", 0), now) is None
    assert answers.find(("bound", 4_999), now) == 4_999


@pytest.mark.both_databases
def test_fields_are_written_once_with_one_event(called: CalledServer) -> None:
    for _ in range(2):
        with called.context() as context:
            account = account_of(context, called.uid)
            changed = answered_profiles.write(context, account, {"Company": "Analytical", "Industry": None})
            assert changed.profile["Company"] == "Analytical"

    assert called.tenant.read(called.uid)["Company"] == "Analytical"
    events = [uid for uid, _ in entries_of(called.tenant, "event.UpdateProfile") if uid == called.uid]
    assert len(events) == 1
