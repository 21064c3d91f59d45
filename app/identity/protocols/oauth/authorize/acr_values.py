"""acr: the authentication context class that the client requests.

`acr_values` is voluntary (OpenID Connect Core section 3.1.2.1): `2` requests two factors where the account has them; one class
reauthenticates and is echoed in `acr` (federation.md section 4). As an essential claim (section 5.5.1.1) it is mandatory: the
response has one of the values, or is an error.
"""

import re
from collections.abc import Collection, Sequence

from app.identity.authentication.sign_in.second_factor import MFA as MFA
from app.identity.protocols.oauth.authorize.request import Asked, Authorization, Redirected

ONE, TWO = "1", "2"
"""The `acr` of one factor and of several, as published in the metadata."""
_ANEW = re.compile(r"[A-Za-z0-9_-]{1,40}:nist:level:1:re-auth")


def check(asked: Asked) -> None:
    wanted = asked.values.get("acr_values", "").split(" ")
    asked.kept["acr"] = next((name for name in wanted if _ANEW.fullmatch(name)), None)
    asked.kept["wants_two"] = next((name for name in wanted if name in (ONE, TWO)), ONE) == TWO


def demand(asked: Asked, values: Sequence[str]) -> None:
    """Keep a demand for one of these values; raises Redirected where none can ever be met."""
    if not any(name in (ONE, TWO) or _ANEW.fullmatch(name) for name in values):
        raise unmet()
    asked.kept["demanded_acr"] = tuple(values)
    if asked.kept["acr"] not in values:  # a voluntary class must not appear in the answer
        is_met_as_it_is = ONE in values or TWO in values
        asked.kept["acr"] = None if is_met_as_it_is else next(name for name in values if _ANEW.fullmatch(name))
    if asked.kept["acr"] is None:
        asked.kept["wants_two"] = TWO in values and (ONE not in values or asked.kept["wants_two"])


def met(request: Authorization, methods: Collection[str]) -> str | None:
    """Return the `acr` of a demand that a session of these methods meets; None where it does not.

    A class that forces reauthentication is met once the request reaches the answer: only reauthenticated sessions do.
    """
    if request.acr in request.demanded_acr:
        return request.acr
    if TWO in request.demanded_acr and MFA in methods:
        return TWO
    return ONE if ONE in request.demanded_acr else None


def unmet() -> Redirected:
    """Return the refusal of OpenID Connect Core Error Code unmet_authentication_requirements 1.0."""
    return Redirected("unmet_authentication_requirements", "The required authentication is not available.")
