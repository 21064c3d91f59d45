"""Provider × case: every kind of provider with every case of bad input, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tests.support.fakes.custom_upstreams import CUSTOM_OPENID
from tests.support.fakes.openid_upstreams import OPENID_UPSTREAMS
from tests.support.refused_answers.jwt_misdeeds import CUSTOM_JWT, JWT
from tests.support.refused_answers.misdeeds import COMMON, MEMBERS, OAUTH, OPENID, UNVERIFIED, Refusal
from tests.support.refused_answers.providers import ALL, CUSTOM
from tests.support.refused_answers.visits import ORGANIZATION

REDIRECTING = (*ALL, *CUSTOM, ORGANIZATION)
"""The kinds to which a browser is redirected, and from which it comes back."""
KINDS = (*REDIRECTING, CUSTOM_JWT)
LINKABLE = (*ALL, *CUSTOM)
"""The kinds whose identity a person links by hand."""
TABS, NEW_EMAIL, OF_ANOTHER = "two tabs", "changed email", "person of another account"
"""Cases that have tests of their own, since something is accepted in them."""
NOT_POSSIBLE = {("linkedin", "nonce"), ("linkedin", "nonce missing")}
"""LinkedIn returns no nonce."""


def is_openid(kind: str) -> bool:
    return kind in (*OPENID_UPSTREAMS, CUSTOM_OPENID.name, ORGANIZATION)


def refusals(kind: str) -> list[Refusal]:
    """Return what can go wrong at a kind to which browsers are redirected."""
    own = MEMBERS if kind == ORGANIZATION else (UNVERIFIED,)
    every = (*COMMON, *(OPENID if is_openid(kind) else OAUTH), *own)
    return [refusal for refusal in every if (kind, refusal.case) not in NOT_POSSIBLE]


def cases_of(kind: str) -> list[str]:
    """Return the names of every case of a kind."""
    if kind == CUSTOM_JWT:
        return [refusal.case for refusal in JWT]
    with_tests = [TABS, NEW_EMAIL, *([OF_ANOTHER] if kind in LINKABLE else [])]
    return [*(refusal.case for refusal in refusals(kind)), *with_tests]


BAD_INPUT: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "wrong iss": frozenset({"iss"}),
        "wrong aud": frozenset({"aud"}),
        "wrong azp": frozenset({"azp of another app"}),
        "wrong nonce": frozenset({"nonce"}),
        "wrong alg": frozenset({"alg HS256"}),
        "wrong kid": frozenset({"kid unknown"}),
        "expired": frozenset({"expired", "used code"}),
        "replayed": frozenset({"used state", "used token"}),
        "duplicated parameters": frozenset({"state twice", "token twice"}),
        "JSON with the wrong types": frozenset({"token: wrong types", "keys: wrong types"}),
        "numbers as ids": frozenset({"sub is a number", "sub is a fraction", "id is a fraction"}),
        "HTML instead of JSON": frozenset({"token: HTML", "keys: HTML"}),
        "10 MB": frozenset({"token: 10 MB", "keys: 10 MB"}),
        "no answer in time": frozenset({"slow"}),
        "redirects": frozenset({"token: redirect", "keys: redirect"}),
        "unverified email": frozenset({"email unverified"}),
        "email of a foreign domain": frozenset({"email of a foreign domain"}),
        "state from another browser": frozenset({"another browser"}),
        "two tabs": frozenset({TABS}),
        "changed email": frozenset({NEW_EMAIL}),
        "person of another account": frozenset({OF_ANOTHER}),
    }
)
"""What every kind must refuse or withstand, with the cases that show it, of which each kind has one."""
_ID_TOKEN = "OAuth 2.0 has no ID token"
_BROUGHT = "the browser brings the token, with no request before it"
_OAUTH = dict.fromkeys(("wrong iss", "wrong aud", "wrong azp", "wrong nonce", "wrong alg", "wrong kid"), _ID_TOKEN)
_FREE_DOMAIN = {"email of a foreign domain": "a domain leads to it, and says nothing of its addresses"}
_JWT = {
    "wrong azp": "a JWT provider has no rule for it", "wrong nonce": _BROUGHT, "state from another browser": _BROUGHT, "two tabs": _BROUGHT,
    "changed email": "UpdateEmailProfile decides (test_changed_email_changes_the_account)", "person of another account": _BROUGHT,
}  # fmt: skip


def not_applicable(kind: str) -> Mapping[str, str]:
    """Return the kinds of bad input that a kind of provider cannot have, and why."""
    if kind == CUSTOM_JWT:
        return _JWT
    if kind == ORGANIZATION:
        return {"person of another account": "its identities are not linked by hand"}
    nonce = {"wrong nonce": "LinkedIn returns no nonce"} if kind == "linkedin" else {}
    return {**_FREE_DOMAIN, **nonce, **({} if is_openid(kind) else _OAUTH)}


def missing() -> list[tuple[str, str]]:
    """Return each kind of provider and of bad input that have neither a case nor a reason."""
    return [
        (kind, name)
        for kind in KINDS
        for name, shown_by in BAD_INPUT.items()
        if shown_by.isdisjoint(cases_of(kind)) is (name not in not_applicable(kind))
    ]


def printed(kinds: Sequence[str] = KINDS) -> str:
    """Return the table as text: a line for each kind with its number of cases, and where bad input cannot be, why."""
    lines = [f"{kind:16}{len(cases_of(kind)):4} cases  {_reasons(kind)}" for kind in kinds]
    return "\n".join([*lines, f"{'all':16}{sum(len(cases_of(kind)) for kind in kinds):4} cases"])


def _reasons(kind: str) -> str:
    return "; ".join(f"no {name}: {why}" for name, why in not_applicable(kind).items())
