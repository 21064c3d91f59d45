"""A security answer that is blank after normalization is no answer: it would be right for everybody who types a space."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from argon2 import PasswordHasher
from werkzeug.test import TestResponse

from tests.support.accounts import customers
from tests.support.accounts.customers import NEW, PATH, Customer
from tests.support.accounts.registering import register
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

BLANKS = ("", " ", "\u3000\t", "\u00a0")
QUESTIONS = {"pet": "Your first pet?"}


@pytest.fixture
def customer(new_tenant_server: NewTenantServer) -> Customer:
    return customers.a_customer(new_tenant_server, security_questions=QUESTIONS)


@pytest.mark.parametrize("blank", BLANKS)
def test_blank_answer_is_refused_at_every_operation(customer: Customer, blank: str, subtests: pytest.Subtests) -> None:
    tenant, answers = customer.tenant, {"SecurityQuestionAnswer": {"pet": blank}}
    bearer = tenant.tokens(customer.uid)["access_token"]
    own = {**answers, "oldpassword": customers.OLD}
    answered(
        tenant.send(
            "PUT", "/identity/v2/auth/account", {**own, "SecurityQuestionAnswer": {"pet": "Rex"}}, bearer=bearer
        )
    )
    requested: dict[str, Callable[[], TestResponse]] = {
        "created": lambda: tenant.send("POST", MANAGE, {"UserName": "made", "Password": NEW, **answers}),
        "updated": lambda: tenant.send("PUT", f"{MANAGE}/{customer.uid}", answers),
        "edited": lambda: tenant.send("PUT", "/identity/v2/auth/account", own, bearer=bearer),
        "registered": lambda: register(tenant, "new@example.test", **answers),
    }
    for name, ask in requested.items():
        with subtests.test(name):
            assert refused(ask()) == (400, 908)


def test_stored_blank_answer_resets_no_password(customer: Customer) -> None:
    answered(customer.tenant.send("PUT", f"{MANAGE}/{customer.uid}", {"SecurityQuestionAnswer": {"pet": "Rex"}}))
    customer.set_columns(private={"security_answers": {"pet": PasswordHasher().hash("")}})
    body = {"email": customer.email, "password": NEW, "securityanswer": {"pet": " "}}
    assert refused(customer.ask("PUT", body, path=f"{PATH}/securityanswer"))[0] in (401, 403)
    answered(customer.logs_in())
