"""What each type of node accepts in its `data`."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from app.contract.workflows.nodes import NODE_TYPES, needs_every_scope

CALL = {"url": "https://hooks.acme.example/check", "on_failure": "continue"}
ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("Start", {}),
    ("Start", {"on_refresh": True, "label": "Begin here"}),
    ("Login", {"methods": ["password", "connection"]}),
    ("Register", {}),
    ("PasskeyLogin", {}),
    ("MFA", {"factors": ["totp", "passkey"]}),
    ("Consent", {}),
    ("ProfileForm", {"fields": ["first_name", "cf_plan"]}),
    ("Terms", {"version": "2026-05"}),
    ("Condition", {"expression": "request.hour_utc < 6"}),
    ("Risk", {"medium": ["device"], "high": ["country", "ip"]}),
    ("HttpCall", CALL),
    ("HttpCall", {**CALL, "send": ["Company", "CustomFields.plan"], "claims": ["tier"], "profile_fields": ["Company"]}),
    ("HttpCall", {**CALL, "deny_text": {"en": "Not today."}, "timeout_seconds": 5, "cache_seconds": 3600}),
    ("HttpCall", {**CALL, "redirect_origins": ["https://kyc.acme.example", "https://kyc.acme.example:8443"]}),
    ("Deny", {"text": {"en": "Not today.", "de": "Heute nicht."}}),
    ("SuccessFinalNode", {"claims": {"tier": "gold", "score": 3, "is_partner": True}}),
    ("FailureFinalNode", {"text": {"en": "That’s all."}}),
]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("Start", {"color": "red"}, "color"),
    ("Login", {"methods": ["fax"]}, "methods"),
    ("Login", {"methods": ["password", "password"]}, "methods"),
    ("MFA", {"factors": ["horoscope"]}, "factors"),
    ("ProfileForm", {}, "fields"),
    ("ProfileForm", {"fields": []}, "fields"),
    ("ProfileForm", {"fields": ["password"]}, "fields"),
    ("ProfileForm", {"fields": ["email"]}, "fields"),
    ("ProfileForm", {"fields": ["roles"]}, "fields"),
    ("ProfileForm", {"fields": ["first_name"] * 2}, "fields"),
    ("Condition", {}, "expression"),
    ("Condition", {"expression": "account.email < 3"}, "expression"),
    ("Risk", {"medium": ["ip"], "high": ["ip"]}, "high"),
    ("Risk", {"medium": [], "high": []}, "high"),
    ("Risk", {"high": ["weather"]}, "high"),
    ("HttpCall", {"url": "https://a.example"}, "on_failure"),
    ("HttpCall", {**CALL, "on_failure": "allow"}, "on_failure"),
    ("HttpCall", {**CALL, "url": "http://a.example"}, "url"),
    ("HttpCall", {**CALL, "url": "https://user:pw@a.example"}, "url"),
    ("HttpCall", {**CALL, "url": "https://a.example/#x"}, "url"),
    ("HttpCall", {**CALL, "url": "file:///etc/passwd"}, "url"),
    ("HttpCall", {**CALL, "url": "https://a.example/" + "x" * 2_000}, "url"),
    ("HttpCall", {**CALL, "timeout_seconds": 0}, "timeout_seconds"),
    ("HttpCall", {**CALL, "timeout_seconds": 6}, "timeout_seconds"),
    ("HttpCall", {**CALL, "cache_seconds": 3_601}, "cache_seconds"),
    ("HttpCall", {**CALL, "redirect_origins": ["http://a.example"]}, "redirect_origins"),
    ("HttpCall", {**CALL, "redirect_origins": ["https://A.example"]}, "redirect_origins"),
    ("HttpCall", {**CALL, "redirect_origins": ["https://a.example/"]}, "redirect_origins"),
    ("HttpCall", {**CALL, "redirect_origins": ["https://a.example"] * 2}, "redirect_origins"),
    ("HttpCall", {**CALL, "redirect_origins": [f"https://a{n}.example" for n in range(11)]}, "redirect_origins"),
    ("HttpCall", {**CALL, "claims": ["sub"]}, "claims"),
    ("HttpCall", {**CALL, "claims": ["roles"]}, "claims"),
    ("HttpCall", {**CALL, "send": ["Password"]}, "send"),
    ("HttpCall", {**CALL, "profile_fields": ["Uid"]}, "profile_fields"),
    ("HttpCall", {**CALL, "profile_fields": ["EmailVerified"]}, "profile_fields"),
    ("HttpCall", {**CALL, "profile_fields": ["Email"]}, "profile_fields"),
    ("HttpCall", {**CALL, "deny_text": {"xx": "Nein"}}, "deny_text"),
    ("Deny", {}, "text"),
    ("Deny", {"text": {}}, "text"),
    ("Deny", {"text": {"en": " "}}, "text"),
    ("Deny", {"text": {"en": "x" * 501}}, "text"),
    ("SuccessFinalNode", {"claims": {"aud": "me"}}, "claims"),
    ("SuccessFinalNode", {"claims": {"tier": ["gold"]}}, "claims"),
    ("SuccessFinalNode", {"claims": {"tier": "x" * 501}}, "claims"),
]


@pytest.mark.parametrize(("kind", "data"), ACCEPTED)
def test_documented_members_are_accepted(kind: str, data: dict[str, Any]) -> None:
    NODE_TYPES[kind].model_validate(data)


@pytest.mark.parametrize(("kind", "data", "member"), REFUSED)
def test_refusal_names_the_member(kind: str, data: dict[str, Any], member: str) -> None:
    with pytest.raises(ValidationError) as refused:
        NODE_TYPES[kind].model_validate(data)
    (first, *_) = refused.value.errors()
    assert member in (str(first["loc"][0]) if first["loc"] else str(first["msg"]))


def test_every_type_refuses_an_unknown_member() -> None:
    accepted = dict(ACCEPTED)
    assert accepted.keys() == NODE_TYPES.keys()
    for kind, data in accepted.items():
        with pytest.raises(ValidationError, match="surprise"):
            NODE_TYPES[kind].model_validate({**data, "surprise": 1})


@pytest.mark.parametrize(
    ("kind", "data", "needs_all"),
    [
        ("HttpCall", CALL, True),
        ("Deny", {"text": {"en": "No."}}, True),
        ("FailureFinalNode", {}, True),
        ("SuccessFinalNode", {"claims": {"tier": "gold"}}, True),
        ("SuccessFinalNode", {}, False),
        ("MFA", {}, False),
    ],
)
def test_calls_claims_and_refusals_need_every_scope(kind: str, data: dict[str, Any], *, needs_all: bool) -> None:
    assert needs_every_scope(NODE_TYPES[kind].model_validate(data)) is needs_all
