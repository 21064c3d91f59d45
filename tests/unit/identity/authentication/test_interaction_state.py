"""Interactions that an earlier release stored are read, and what is stored can be read by it."""

from __future__ import annotations

from typing import Any

from app.identity.authentication.sign_in.interaction_state import InteractionState, ShownQrCode

STORED: dict[str, Any] = {
    "client_id": "shop",
    "redirect_uri": "https://shop.example.test/back",
    "scope": ["openid"],
    "org_id": "",
    "second_factor": "hash",
    "account_chosen": "session",
    "another_account": True,
    "handover": {
        "purpose": "email",
        "uid": "u1",
        "number": "07",
        "account": "u1",
        "approved_at": "2026-11-29T07:00:00Z",
    },
    "checking": {"email": "ada@example.test", "uid": "u1", "sent_at": 17, "held": {"Phone": None}},
    "connected": {"claimed": {"provider": "globex", "subject": "7", "profile": {"City": "Bern"}}, "uid": "u1"},
    "handing": {"callback": "https://program.example.test"},
    "qr_code": {"ticket": "digest", "code": "sealed"},
    "device": "digest",
    "step_up": "session",
    "links": "session",
    "approves": "digest",
    "passwordless": {"name": "ada", "by": "device", "ticket": "digest"},
    "ended": {"problem": ["access_denied", "No."]},
}


def test_stored_members_return_unchanged() -> None:
    assert InteractionState.from_stored(STORED).to_stored() == STORED


def test_null_and_unknown_members_are_read() -> None:
    state = InteractionState.from_stored(
        {"step_up": None, "second_factor": None, "checking": {"email": "a", "uid": "u", "later": 1}}
    )
    assert state.second_factor_token_hash is None
    assert state.verification is not None
    assert InteractionState.from_stored({"later": 1}).to_stored() == {"later": 1}


def test_authorization_request_is_separated() -> None:
    state = InteractionState.from_stored(STORED)
    assert state.authorization.keys() == {"client_id", "redirect_uri", "scope", "org_id"}
    assert state.client_id == "shop"


def test_stored_names_are_read_as_todays_fields() -> None:
    state = InteractionState.from_stored(STORED)
    assert state.second_factor_token_hash == "hash"
    assert state.reauthenticated_session_id == state.linking_session_id == state.chosen_session_id == "session"
    assert state.waiting_page is not None
    assert state.verification is not None
    assert state.identity is not None
    assert state.handoff is not None
    assert state.qr_code == ShownQrCode(token_hash="digest", code="sealed")
    assert state.approved_code_hash == state.device_code_hash == "digest"
    assert state.passwordless is not None
    assert state.passwordless.device_token_hash == "digest"
