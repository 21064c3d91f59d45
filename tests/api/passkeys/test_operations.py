"""Every refusal and response of passkeys: operations M15-M18, M29, M30, M37, M38 and M48-M62."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.credentials.factors import LOGIN_2FA, OWN_2FA
from tests.support.credentials.passkey_rows import (
    BUTTON,
    CONSENT,
    DEMANDED,
    EMPTY,
    MISSING,
    NO_FACTOR,
    OFF,
    ON,
    POLICY,
    TWO,
    begin,
    by_link,
    challenged,
    finish,
    forgets,
    keyed_first,
    link,
    misconfigured,
    nameless,
    nameless_begin,
    of_challenge,
    plain_challenge,
    sign_in_after,
    without_any,
    without_email,
)
from tests.support.credentials.passkeys import LOGIN, OWN, A, PasskeyHolder, passkey_holder_of
from tests.support.operation_cases.cases import PAGE, STRANGE_PAGE, AccountHolder, Answer, Ask, Refusal, once, refusals
from tests.support.operation_cases.expected_operations import NOT_RAISED, ROWS
from tests.support.operation_cases.shapes import DELETED, POSTED, ExactObject, ListOf
from tests.support.operation_cases.shapes import LOGIN as SESSION
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer

REGISTERED = {"PasskeyCredential": EMPTY}
SHOWN = {"PasskeyCredential": EMPTY}
REFUSALS: list[Refusal] = [
    *refusals(
        "M15",
        *of_challenge("M15"),
        (1322, plain_challenge("M15"), DEMANDED),
        (1327, challenged("M15"), {**DEMANDED, "second_factors": {"passkey": False}}),
    ),
    *refusals(
        "M16",
        *of_challenge("M16", SHOWN),
        (1321, challenged("M16", SHOWN), DEMANDED),
        (1322, plain_challenge("M16", SHOWN), DEMANDED),
        (1327, challenged("M16", SHOWN), {**DEMANDED, "second_factors": {"passkey": False}}),
    ),
    *refusals(
        "M17",
        *of_challenge("M17"),
        (1327, challenged("M17"), {**DEMANDED, "second_factors": {"passkey": False}}),
        (1328, challenged("M17"), DEMANDED),
    ),
    *refusals(
        "M18",
        *of_challenge("M18", SHOWN),
        (1321, challenged("M18", SHOWN, enrolled=True), DEMANDED),
        (1328, challenged("M18", SHOWN), DEMANDED),
    ),
    *refusals(
        "M29",
        (1322, misconfigured(lambda who: who.own("M29")), TWO),
        (1327, lambda who: who.own("M29"), NO_FACTOR),
    ),
    *refusals(
        "M30",
        (1321, lambda who: who.own("M30", SHOWN), TWO),
        (1322, misconfigured(lambda who: who.own("M30", SHOWN)), TWO),
        (1327, lambda who: who.own("M30", SHOWN), NO_FACTOR),
    ),
    *refusals(
        "M37", (1327, lambda who: who.own("M37"), NO_FACTOR), (1328, lambda who: who.own("M37"), TWO)
    ),
    *refusals("M38", (984, lambda who: who.managed("M38", uid=MISSING), TWO)),
    *refusals(
        "M48",
        (936, begin("M48"), ON),
        (1038, begin("M48", identifier="no address"), ON),
        (1320, begin("M48"), OFF),
        (1322, misconfigured(begin("M48", identifier="new@example.test")), ON),
        (1324, begin("M48", identifier="new@example.test"), {**ON, "email_login": None, "username_login": True}),
        (1190, begin("M48"), {**ON, "registration": False}),
    ),
    *refusals(
        "M49",
        (1320, lambda who: who.call("M49", REGISTERED), OFF),
        (1321, lambda who: who.call("M49", REGISTERED), ON),
        (1322, misconfigured(lambda who: who.call("M49", REGISTERED)), ON),
        (1190, lambda who: who.call("M49", REGISTERED), {**ON, "registration": False}),
    ),
    *refusals(
        "M50",
        (938, begin("M50", identifier="absent@example.test"), ON),
        (970, lambda who: begin("M50")(who.update_account(EmailVerified=False)), ON),
        (1320, begin("M50"), OFF),
        (1322, misconfigured(lambda who: begin("M50")(passkey_holder_of(who))), ON),
        (1323, begin("M50"), ON),
        (1324, lambda who: nameless_begin(who), ON),
    ),
    *refusals(
        "M51",
        (1320, finish("M51"), OFF),
        (1321, finish("M51"), ON),
        (1322, misconfigured(finish("M51")), ON),
        (1323, without_any(f"{LOGIN}/begin"), ON),
        (1324, nameless, ON),
        (991, sign_in_after({"IsActive": False}), ON),
        (1130, sign_in_after({"DisableLogin": True}), ON),
        (1194, sign_in_after(privacy_policy=POLICY), ON),
        (1226, sign_in_after(consent_forms=[CONSENT]), ON),
        (1243, sign_in_after(pin={"is_on": True, "required": True}), ON),
    ),
    *refusals("M52", (1320, begin("M52"), OFF), (1326, begin("M52"), BUTTON)),
    *refusals(
        "M53",
        (1321, finish("M53"), ON),
        (1323, without_any(f"{LOGIN}/autofill/begin"), ON),
        (1326, finish("M53"), BUTTON),
    ),
    *refusals(
        "M54",
        (938, forgets(email="absent@example.test"), ON),
        (1038, forgets(email="no address"), ON),
        (1122, lambda who: [forgets()(who) for _ in range(2)][-1], {**ON, "sending": {"mails": {"amount": 1, "minutes": 60}}}),
        (1320, lambda who: who.call("M54", {"email": who.email}), OFF),
        (1323, lambda who: who.call("M54", {"email": who.email}), ON),
        (1329, forgets(resetpasskeyurl=STRANGE_PAGE), ON),
    ),
    *refusals(
        "M55",
        (1063, lambda who: who.call("M55", vtoken=MISSING), ON),
        (974, by_link("M55", used=True), ON),
        (975, by_link("M55", late=True), ON),
        (1320, lambda who: who.call("M55", vtoken=MISSING), OFF),
        (1322, by_link("M55", plain=True), ON),
    ),
    *refusals(
        "M56",
        (1063, lambda who: who.call("M56", SHOWN, vtoken=MISSING), ON),
        (975, by_link("M56", late=True), ON),
        (1321, by_link("M56"), ON),
    ),
    *refusals(
        "M57",
        (1320, lambda who: who.own("M57"), OFF),
        (1322, misconfigured(lambda who: who.own("M57")), ON),
        (1324, lambda who: without_email(who).own("M57"), ON),
    ),
    *refusals(
        "M58",
        (1321, lambda who: who.own("M58", SHOWN), ON),
        (1322, misconfigured(lambda who: who.own("M58", SHOWN)), ON),
    ),
    *refusals("M59", (1320, lambda who: who.own("M59"), OFF), (1323, lambda who: who.own("M59"), ON)),
    *refusals("M60", (1325, lambda who: who.own("M60", at={"passkeyid": MISSING}), ON)),
    *refusals(
        "M61", (984, lambda who: who.managed("M61", uid=MISSING), ON), (1323, lambda who: who.managed("M61", uid=who.uid), ON)
    ),
    *refusals(
        "M62",
        (984, lambda who: who.managed("M62", at={"passkeyid": MISSING}, uid=MISSING), ON),
        (1325, lambda who: who.managed("M62", at={"passkeyid": MISSING}, uid=who.uid), ON),
    ),
]  # fmt: skip


_OF_U01 = "the model is that of U01, whose rows raise it"
_RAISED = {refusal.code for refusal in REFUSALS if refusal.row == "M49"}
NOT_HERE: dict[tuple[str, int], str] = {
    **{("M49", code): _OF_U01 for code in ROWS["M49"].codes - _RAISED - set(NOT_RAISED)},
    ("M49", 1324): "M48 answers a caller without an address",
    ("M37", 1121): "the address names the factor",
}

CREATION = ExactObject(
    frozenset(
        str.split(
            "rp user challenge pubKeyCredParams timeout excludeCredentials authenticatorSelection attestation hints extensions"
        )
    )
)
REQUEST = frozenset(["challenge", "rpId", "timeout", "userVerification", "extensions"])
MADE = {"RegisterBeginCredential": {"publicKey": CREATION}}
NAMED = {"LoginBeginCredential": {"publicKey": ExactObject(REQUEST | {"allowCredentials"})}}
LISTED = {"Id": str, "Authenticator": str, "Identifier": str, "CreatedAt": str}
ALL = {"Credentials": ListOf(LISTED)}
FACTORED = {**SESSION, "SecondFactorAuthentication": None}


def token_of(who: AccountHolder, *, enrolled: bool = False) -> dict[str, Any]:
    ada = passkey_holder_of(who)
    return {"secondfactorauthenticationtoken": (ada.enrols_passkey() if enrolled else ada).token()}


def makes(path: str, *, own: bool = False, **query: Any) -> Any:
    def prepare(who: AccountHolder) -> Ask:
        ada = passkey_holder_of(who)
        made = ada.device.makes(ada.begins(path, own=own, **query))
        return Ask({"PasskeyCredential": made}, query)

    return prepare


def enrols(who: AccountHolder) -> Ask:
    return makes(f"{LOGIN_2FA}/register/passkey/begin", **token_of(who))(who)  # type: ignore[no-any-return]  # as it is made there


def proves(who: AccountHolder) -> Ask:
    ada = passkey_holder_of(who)
    query: dict[str, Any] = token_of(ada, enrolled=True)
    shown = ada.device.shows(ada.begins(f"{LOGIN_2FA}/passkey/begin", **query))
    return Ask({"PasskeyCredential": shown}, query)


def shows(path: str, *, bare: bool = False) -> Any:
    def prepare(who: AccountHolder) -> Ask:
        ada = keyed_first(who)
        query: dict[str, Any] = {"identifier": ada.email} if path == f"{LOGIN}/begin" else {}
        shown = ada.device.shows(ada.begins(path, **query))
        return Ask(shown if bare else {"PasskeyCredential": shown})

    return prepare


def listed_id(who: AccountHolder) -> dict[str, str]:
    return {"passkeyid": keyed_first(who).listed()[0]["Id"]}


def registers(who: AccountHolder) -> Ask:
    ada = passkey_holder_of(who)
    ada.email = "grace@example.test"
    made = ada.device.makes(ada.begins(f"{A}/register/passkey/begin", identifier=ada.email))
    return Ask({"PasskeyCredential": made, "FirstName": "Grace"})


def resets(who: AccountHolder) -> Ask:
    ada, token = passkey_holder_of(who), link(who)
    made = ada.device.makes(ada.begins(f"{A}/passkey/reset/begin", vtoken=token))
    return Ask({"PasskeyCredential": made}, {"vtoken": token})


def enrolled(who: AccountHolder) -> PasskeyHolder:
    return passkey_holder_of(who).enrols_passkey()


ANSWERS = [
    Answer("M15", lambda who: Ask(None, token_of(who)), MADE, DEMANDED),
    Answer("M16", enrols, FACTORED, DEMANDED, is_flat=False, events=("Login",)),
    Answer("M17", lambda who: Ask(None, token_of(who, enrolled=True)), NAMED, TWO),
    Answer("M18", proves, FACTORED, TWO, is_flat=False, events=("Login",)),
    Answer("M29", lambda _: Ask(), MADE, TWO),
    Answer("M30", makes(f"{OWN_2FA}/register/passkey/begin", own=True), LISTED, TWO, is_flat=False),
    Answer("M37", lambda who: once(enrolled(who), Ask()), DELETED, TWO),
    Answer("M38", lambda who: once(enrolled(who), Ask(None, {"uid": who.uid})), DELETED, TWO),
    Answer("M48", lambda _: Ask(None, {"identifier": "grace@example.test"}), MADE, ON),
    Answer("M49", registers, {"IsPosted": True, "Data": SESSION}, {**ON, "email_verification": "optional"}, is_flat=False,
           events=("Register", "Login")),
    Answer("M50", lambda who: Ask(None, {"identifier": keyed_first(who).email}), NAMED, ON),
    Answer("M51", shows(f"{LOGIN}/begin"), FACTORED, ON, is_flat=False, events=("Login",)),
    Answer("M52", lambda _: Ask(), {"LoginBeginCredential": {"publicKey": ExactObject(REQUEST)}}, ON),
    Answer("M53", shows(f"{LOGIN}/autofill/begin", bare=True), FACTORED, ON, is_flat=False, events=("Login",)),
    Answer("M54", lambda who: Ask({"email": keyed_first(who).email}, {"resetpasskeyurl": PAGE}), POSTED, ON),
    Answer("M55", lambda who: Ask(None, {"vtoken": link(who)}), MADE, ON),
    Answer("M56", resets, POSTED, ON, is_flat=False),
    Answer("M57", lambda _: Ask(), {**MADE, "publicKey": CREATION}, ON),
    Answer("M58", makes(f"{OWN}/register/passkey/begin", own=True), ALL, ON, is_flat=False),
    Answer("M59", lambda who: once(keyed_first(who), Ask()), ALL, ON),
    Answer("M60", lambda who: Ask(at=listed_id(who)), DELETED, ON),
    Answer("M61", lambda who: Ask(None, {"uid": keyed_first(who).uid}), ALL, ON),
    Answer("M62", lambda who: Ask(None, {"uid": who.uid}, listed_id(who)), DELETED, ON),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS, stored={"M49", "M56", "M62"})
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)
