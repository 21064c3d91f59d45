"""A security question is refused where people could not tell it from another one (code 7948)."""

from __future__ import annotations

import pytest

from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

PATH = "/v2/manage/security-questions"
FIRST = "What was your first pet?"
SIMILAR = (
    "what was your FIRST pet",
    "What was your first pet ?",
    "What was your first pet...",
    "What  was your first pet \uff1f\uff01",
    " Whatwas your first pet",
    "What was your first pet?\u200b",
)
OTHER = ("What was your first car?", "What was your first pet’s name?", "Was your first pet what?")


def test_similar_question_is_refused(new_tenant_server: NewTenantServer, subtests: pytest.Subtests) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "security:read", "security:create", "security:update")
    answered(ask(tenant, token, "POST", PATH, {"question": FIRST}))
    for text in SIMILAR:
        with subtests.test(text):
            assert refused(ask(tenant, token, "POST", PATH, {"question": text})) == (409, 7948)
    for text in OTHER:
        with subtests.test(text):
            answered(ask(tenant, token, "POST", PATH, {"question": text}))


def test_question_changed_to_a_similar_one_is_refused(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "security:read", "security:create", "security:update")
    answered(ask(tenant, token, "POST", PATH, {"question": FIRST}))
    other = answered(ask(tenant, token, "POST", PATH, {"question": OTHER[0]}))["QuestionId"]
    assert refused(ask(tenant, token, "PUT", f"{PATH}/{other}", {"question": SIMILAR[1]})) == (409, 7948)
    own = answered(ask(tenant, token, "PUT", f"{PATH}/{other}", {"question": "What was your first car ?"}))
    assert own["Question"] == "What was your first car ?"
