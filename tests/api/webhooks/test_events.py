"""Events of webhooks by what causes them: each is raised once, silently where the caller suppresses webhooks.

The tables of answers of the operations' own tests name the events of each; here are those of the tenant's servers, and those
with more than one request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.webhooks.events import EVENTS, EventName, event_named
from tests.support.accounts import social_accounts
from tests.support.accounts.consents import chosen, form, option
from tests.support.accounts.customers import LOGIN, NEW, OLD
from tests.support.accounts.mailbox import sent_messages, token_in
from tests.support.accounts.pinned import OTHER, PIN, PINS, REQUIRED, WRONG, pin_auth_token, pinned, session
from tests.support.accounts.registering import primary, register
from tests.support.accounts.social_accounts import ADA, SOCIAL
from tests.support.documentation import webhook_examples
from tests.support.operation_cases import factor_login
from tests.support.operation_cases.cases import AccountHolder, account_holder, events
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered

Finish = Callable[..., TestResponse]
LOCKS = ("suspend", "captcha", "security_question", "block")
PHONE, NUMBER = "/identity/v2/auth/phone", "+442079460199"
SUPPRESSIONS: dict[str, dict[str, Any]] = {
    "loud": {}, "silent by query": {"prevent_webhook": "true"}, "silent by header": {"headers": {"X-PreventWebhook": "true"}},
}  # fmt: skip
CARS = {"custom_objects": [{"name": "cars"}]}
FORMS = {"consent_forms": [form("Survey", option("study"))]}


def lock(kind: str = "suspend", **more: Any) -> dict[str, Any]:
    return {"lockout": {"type": kind, "maximum_failed_attempts": 2}, **more}


Posted = dict[str, Any]


def posted(tenant: TenantServer) -> list[Posted]:
    """Return the bodies of all deliveries, the oldest first."""
    return [json.loads(message["body"]) for message in sent_messages(tenant.services, tenant.tenant_id, "webhook")]


@dataclass(frozen=True)
class Cause:
    """What raises events: the request, after what must come before it."""

    name: str
    events: tuple[EventName, ...]
    begin: Callable[[AccountHolder], Finish]
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_refused: bool = False

    def __str__(self) -> str:
        return self.name

    def raised(self, make: NewTenantServer, **suppression: Any) -> tuple[list[tuple[str, bool]], list[Posted]]:
        """Return the events of the request at a new tenant, by name, and the deliveries to the webhooks that receive them."""
        who = account_holder(make, **self.settings)
        finish = self.begin(who)
        for event in self.events:
            answered(
                who.tenant.send("POST", "/api/v2/webhook", {"targeturl": "https://hooks.example/in", "event": event})
            )
        before, stored = len(events(who.tenant)), len(posted(who.tenant))
        answer = finish(**suppression)
        assert (answer.status_code >= 400) == self.is_refused, answer.text
        deliveries = posted(who.tenant)[stored:]
        if deliveries and deliveries[-1]["HookName"] != "deleteaccount":
            shown = deliveries[-1]["Data"]
            current = who.tenant.read(shown["Uid"])
            assert {name: value for name, value in current.items() if name != "Password"} == shown
        return sorted(events(who.tenant)[before:]), deliveries


def by_server(method: str, at: str = "", body: Any = None, **query: Any) -> Callable[[AccountHolder], Finish]:
    """Let the tenant's server change the account."""
    return lambda who: partial(who.tenant.send, method, f"{MANAGE}/{who.uid}{at}", body, **query)


def own(row: str, body: Any = None, **query: Any) -> Callable[[AccountHolder], Finish]:
    """Let the account holder change the account."""
    return lambda who: partial(who.own, row, body, **query) if who.bearer else who.own


def guess(who: AccountHolder, **query: Any) -> TestResponse:
    return who.ask("POST", {"email": who.email, "password": "wrong"}, path=LOGIN, **query)


def after_one(wrong: Finish) -> Finish:
    """Return the second of two wrong requests, the one that locks."""
    assert wrong().status_code >= 400
    return wrong


def two_addresses(who: AccountHolder) -> AccountHolder:
    added = who.tenant.send("PUT", f"{MANAGE}/{who.uid}/email", {"Email": [{"Type": "Work", "Value": "ada@work.test"}]})
    assert answered(added)
    return who


def added_address(who: AccountHolder, **query: Any) -> Finish:
    answered(who.own("U23", {"email": "ada@work.test", "type": "Work"}, **query))
    return partial(who.call, "U05", verificationtoken=token_in(who.mailed("ada@work.test")))


def new_number(who: AccountHolder, **query: Any) -> Finish:
    answered(who.tenant.send("PUT", PHONE, {"phone": NUMBER}, bearer=who.bearer, **query))
    return partial(who.tenant.send, "PUT", f"{PHONE}/otp", bearer=who.bearer, otp=who.texted())


def unsigned(who: AccountHolder, **query: Any) -> Finish:
    """Return the verification of an unverified number by its code alone, which signs in."""
    who.set_columns(phone_verified=False)
    answered(who.tenant.send("POST", f"{PHONE}/otp", {"phone": who.phone}, with_secret=False))
    body = {"phone": who.phone}
    return partial(who.tenant.send, "PUT", f"{PHONE}/otp", body, with_secret=False, otp=who.texted(), **query)


def unverified(who: AccountHolder) -> AccountHolder:
    return who.update_account(EmailVerified=False)


def mailed_link(who: AccountHolder) -> Finish:
    answered(unverified(who).call("U03", {"email": who.email}))
    return partial(who.call, "U05", verificationtoken=token_in(who.mailed()))


def reset_by_link(who: AccountHolder) -> Finish:
    return partial(who.call, "U34", {"resettoken": who.token(), "password": NEW})


def reset_by_code(who: AccountHolder) -> Finish:
    body = {"phone": who.phone, "otp": "000000", "password": NEW}
    answered(who.call("U35", {"phone": who.phone}))
    return partial(who.call, "U36", body)


def wrong_app_code(who: AccountHolder) -> Finish:
    holder = factor_login.totp(factor_login.of(who))
    return partial(holder.call, "M03", {"authenticatorcode": "000000"}, secondfactorauthenticationtoken=holder.token())


def first_factor(who: AccountHolder, **query: Any) -> Finish:
    """Sign in with the password; return the request with the second factor."""
    holder = factor_login.totp(factor_login.of(who))
    token = holder.challenged(**query)["SecondFactorAuthenticationToken"]
    return partial(holder.call, "M03", {"authenticatorcode": holder.next_code()}, secondfactorauthenticationtoken=token)


def social_only(who: AccountHolder) -> AccountHolder:
    who.uid = social_accounts.without_password(who.tenant, ADA, email="only@example.test")
    who.email = "only@example.test"
    return who


def with_role(who: AccountHolder) -> AccountHolder:
    answered(who.managed("A47", {"roles": [{"name": "editor"}]}))
    return who


def with_assigned_role(who: AccountHolder) -> AccountHolder:
    answered(of_role("A38", with_role)(who)())
    return who


def with_new_context(who: AccountHolder) -> Finish:
    return partial(with_role(who).managed, "A41", {"rolecontext": [{"Context": "shop", "Roles": ["editor"]}]})


def with_context(who: AccountHolder) -> AccountHolder:
    answered(with_new_context(who)())
    return who


def of_role(row: str, has: Callable[[AccountHolder], AccountHolder], **at: str) -> Callable[[AccountHolder], Finish]:
    return lambda who: partial(has(who).managed, row, None if at else {"roles": ["editor"]}, at=at)


def of_record(row: str, body: Any = None) -> Callable[[AccountHolder], Finish]:
    """Return the request for a record that exists."""

    def begin(who: AccountHolder) -> Finish:
        record = answered(who.own("U78", {"plate": "B-AD 1"}, objectname="cars"))
        return partial(who.own, row, body, at={"objectrecordid": record["Id"]}, objectname="cars")

    return begin


def with_consents(who: AccountHolder) -> AccountHolder:
    body = {"Events": [{"Event": "Survey", "IsCustom": True}], "Data": chosen(study=True)}
    answered(who.own("U84", body))
    return who


def linked(who: AccountHolder) -> AccountHolder:
    social_accounts.linked_to(who.tenant, who.uid, ADA)
    return who


def registers(who: AccountHolder) -> Finish:
    return lambda **suppression: register(who.tenant, "new@example.test", query=suppression)


BY_SERVERS = [
    Cause("A01", ("Register",), lambda who: partial(who.tenant.send, "POST", MANAGE, {"Email": primary("a@b.test"), "Password": NEW})),
    Cause("A05", ("UpdateProfile",), by_server("PUT", body={"FirstName": "Ada"})),
    Cause("A05, blocking", ("BlockAccount", "UpdateProfile"), by_server("PUT", body={"IsActive": False})),
    Cause("A06", ("DeleteAccount",), by_server("DELETE")),
    Cause("A07", ("DeleteAccount",), lambda who: partial(who.tenant.send, "DELETE", MANAGE, email=who.email)),
    Cause("A08", ("UpdateProfile",), by_server("PUT", "/email", {"Email": [{"Type": "Work", "Value": "a@b.test"}]})),
    Cause(
        "A09", ("UpdateProfile",), lambda who: by_server("DELETE", "/email", {"email": who.email})(two_addresses(who))
    ),
    Cause("A10", ("UpdatePhoneId",), by_server("PUT", "/phoneid", {"phone": NUMBER})),
    Cause("A11", ("InvalidateEmailVerification",), by_server("PUT", "/invalidateemail")),
    Cause("A12", ("InvalidatePhoneVerification",), by_server("PUT", "/invalidatephone"), {"phone_login": True}),
    Cause(
        "A13", ("UpdateUid",),
        lambda who: partial(who.tenant.send, "PUT", f"{MANAGE}/uid", {"NewUid": "countess"}, uid=who.uid),
        {"custom_uid": True},
    ),
]  # fmt: skip
LOCKOUTS = [
    *(
        Cause(f"lockout by {kind}", ("BlockAccount",), lambda who: after_one(partial(guess, who)), lock(kind), is_refused=True)
        for kind in LOCKS
    ),
    Cause("guess after the lockout", (), lambda who: after_one(after_one(partial(guess, who))), lock(), is_refused=True),
    Cause(
        "lockout by a second factor", ("BlockAccount",), lambda who: after_one(wrong_app_code(who)),
        factor_login.on(**lock()), is_refused=True,
    ),
    Cause(
        "lockout by a PIN", ("BlockAccount",),
        lambda who: after_one(partial(who.call, "U67", {"pin": WRONG}, session_token=session(pinned(who)))),
        {**PINS, **lock()}, is_refused=True,
    ),
    Cause(
        "lockout by a reset code", ("BlockAccount",), lambda who: after_one(reset_by_code(who)), lock(phone_login=True),
        is_refused=True,
    ),
    Cause(
        "lockout by the current password", ("BlockAccount",),
        lambda who: after_one(own("U32", {"oldpassword": "wrong", "newpassword": NEW})(who)), lock(), is_refused=True,
    ),
    Cause(
        "lockout by a step-up", ("BlockAccount",), lambda who: after_one(own("M71", {"password": "wrong"})(who)), lock(),
        is_refused=True,
    ),
]  # fmt: skip
SIGN_INS = [
    Cause("password", ("Login",), lambda who: partial(who.call, "U12", {"email": who.email, "password": OLD})),
    Cause("second factor", ("Login",), first_factor, factor_login.on()),
    Cause(
        "link that verifies and signs in", ("EmailVerification", "Login"), mailed_link, {"login_on_email_verification": True}
    ),
    Cause("number that verifies and signs in", ("Login", "VerifyPhoneNumber"), unsigned, {"phone_login": True}),
    Cause("reset that signs in", ("Login", "ResetPassword"), reset_by_link, {"login_on_password_reset": True}),
    Cause("registration that signs in", ("Login", "Register"), registers, {"email_verification": "optional"}),
    Cause("registration that waits for its mail", ("Register",), registers),
    Cause(
        "registration that needs a second factor", ("Register",), registers,
        factor_login.on(email_verification="optional"), is_refused=True,
    ),
    Cause(
        "sign-in that needs a PIN", ("SetPIN",),
        lambda who: partial(who.call, "U68", {"pin": PIN}, pinauthtoken=pin_auth_token(who)), REQUIRED,
    ),
]  # fmt: skip
CHANGES = [
    Cause("link of an added address", ("AddEmail", "EmailVerification"), added_address),
    Cause("code of a new number", ("UpdatePhoneId", "VerifyPhoneNumber"), new_number, {"phone_login": True}),
    Cause("removed address", ("RemoveEmail",), lambda who: own("U24", {"email": "ada@work.test"})(two_addresses(who))),
    Cause(
        "removed number", ("RemovePhoneId",), lambda who: partial(who.tenant.send, "DELETE", PHONE, bearer=who.bearer),
        {"phone_login": True},
    ),
    Cause("username", ("SetUsername",), own("U22", {"username": "countess"})),
    Cause("reset by a link", ("ResetPassword",), reset_by_link),
    Cause(
        "reset that verifies the address", ("EmailVerification", "ResetPassword"),
        lambda who: reset_by_link(unverified(who)),
    ),
    Cause("changed password", ("ChangePassword",), own("U32", {"oldpassword": OLD, "newpassword": NEW})),
    Cause("password by a server", ("SetPassword",), by_server("PUT", "/password", {"password": NEW})),
    Cause(
        "first password by a server", ("CreateTraditionalAccount", "UpdateProfile"),
        lambda who: by_server("PUT", body={"Password": NEW})(social_only(who)), SOCIAL,
    ),
    Cause(
        "first password by the owner", ("CreateTraditionalAccount", "UpdateProfile"),
        lambda who: own("U16", {"password": NEW})(social_only(who)), SOCIAL,
    ),
    Cause(
        "first password by a reset", ("CreateTraditionalAccount", "ResetPassword"),
        lambda who: reset_by_link(social_only(who)), SOCIAL,
    ),
    Cause("changed PIN", ("ChangePIN",), lambda who: own("U69", {"oldpin": PIN, "newpin": OTHER})(pinned(who)), PINS),
    Cause(
        "PIN reset by answers", ("ResetPIN",),
        lambda who: partial(
            pinned(who).call, "U75", {"email": who.email, "pin": OTHER, "securityanswer": {"pet": "grey owl"}}
        ),
        PINS,
    ),
]  # fmt: skip

BELONGINGS = [
    Cause(
        "linked identity", ("LinkAccount",),
        lambda who: own("U29", {"candidatetoken": social_accounts.candidate(who.tenant, ADA)})(who), SOCIAL,
    ),
    Cause(
        "unlinked identity", ("UnlinkAccount",),
        lambda who: own("U31", {"provider": "google", "providerid": ADA.subject})(linked(who)), SOCIAL,
    ),
    Cause("role", ("AssignRoles",), of_role("A38", with_role)),
    Cause("role in a context", ("AssignRoles",), with_new_context),
    Cause("removed role", ("UnassignRoles",), of_role("A39", with_assigned_role)),
    Cause("role that the account lacks", (), of_role("A39", with_role)),
    Cause("removed context", ("RemoveRoleContext",), of_role("A42", with_context, context="shop")),
    Cause("record", ("CreateCustomObject",), own("U78", {"plate": "B-AD 1"}, objectname="cars"), CARS),
    Cause("changed record", ("UpdateCustomObject",), of_record("U81", {"plate": "B-AD 2"}), CARS),
    Cause("deleted record", ("DeleteCustomObject",), of_record("U82"), CARS),
    Cause(
        "consents", ("ConsentProfileUpdate",),
        lambda who: own("U85", {"Consents": chosen(study=False)})(with_consents(who)), FORMS,
    ),
]  # fmt: skip


CAUSES = [*BY_SERVERS, *LOCKOUTS, *SIGN_INS, *CHANGES, *BELONGINGS]
EXAMPLES = {name: cause for cause in reversed(CAUSES) for name in cause.events}
"""The first cause of each event, whose delivery is the example of the documentation."""


def test_every_event_has_a_cause() -> None:
    assert set(EXAMPLES) == set(EVENTS)


def check(cause: Cause, make: NewTenantServer, subtests: pytest.Subtests, folder: str | None) -> None:
    """Raise the events, loud and silent; a refused request raises them too."""
    for how, suppression in SUPPRESSIONS.items():
        with subtests.test(how):
            is_silent = bool(suppression)
            raised, deliveries = cause.raised(make, **suppression)
            assert raised == [(name, is_silent) for name in sorted(cause.events)]
            names = sorted(body["HookName"] for body in deliveries)
            assert names == ([] if is_silent else sorted(map(str.lower, cause.events)))
            for body in deliveries:
                event = event_named(body["HookName"])
                if event is not None and EXAMPLES[event] is cause:
                    webhook_examples.check(event, body, folder)


@pytest.mark.parametrize("cause", [*BY_SERVERS, *SIGN_INS, *CHANGES, *BELONGINGS], ids=str)
def test_request_raises_its_events_once(
    new_tenant_server: NewTenantServer, cause: Cause, subtests: pytest.Subtests, pytestconfig: pytest.Config
) -> None:
    check(cause, new_tenant_server, subtests, pytestconfig.getoption("--record-examples"))


@pytest.mark.both_databases
@pytest.mark.parametrize("cause", LOCKOUTS, ids=str)
def test_lockout_raises_block_account_once(
    new_tenant_server: NewTenantServer, cause: Cause, subtests: pytest.Subtests, pytestconfig: pytest.Config
) -> None:
    check(cause, new_tenant_server, subtests, pytestconfig.getoption("--record-examples"))


@pytest.mark.parametrize(
    ("began", "settings", "expected"),
    [
        (added_address, {}, [("AddEmail", True), ("EmailVerification", False)]),
        (new_number, {"phone_login": True}, [("UpdatePhoneId", True), ("VerifyPhoneNumber", False)]),
        (first_factor, factor_login.on(), [("Login", True)]),
    ],
    ids=["added address", "new number", "second factor"],
)
def test_suppression_holds_for_what_a_request_began(
    new_tenant_server: NewTenantServer,
    began: Callable[..., Finish],
    settings: dict[str, Any],
    expected: list[tuple[str, bool]],
) -> None:
    who = account_holder(new_tenant_server, **settings)
    finish = began(who, prevent_webhook="true")
    before = len(events(who.tenant))
    answered(finish())
    assert sorted(events(who.tenant)[before:]) == expected
