"""acr: the authentication context class that the client requests.

`acr_values`, or `acr` as a voluntary claim, is voluntary (OpenID Connect Core sections 3.1.2.1 and 5.5.1.1): `2` requests two
factors where the account has them; one class reauthenticates and is echoed in `acr`. As an
essential claim it is mandatory: the response has one of the values, or is an error.
"""

import re
from collections.abc import Collection, Sequence

from app.identity.authentication.sign_in.authentication import MFA as MFA
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest

ONE, TWO = "1", "2"
"""The `acr` of one factor and of several, as published in the metadata."""
_REAUTHENTICATE = re.compile(r"[A-Za-z0-9_-]{1,40}:nist:level:1:re-auth")


def check(request: UncheckedRequest) -> None:
    """Accept the requested values, else the client's `default_acr_values` (OpenID Connect Registration section 2)."""
    text = request.values.get("acr_values")
    prefer(request, text.split(" ") if text is not None else request.client.settings.default_acr_values)


def prefer(request: UncheckedRequest, requested: Sequence[str]) -> None:
    """Accept a voluntary request for one of these values, the first supported one."""
    request.accepted["acr"] = next((name for name in requested if _REAUTHENTICATE.fullmatch(name)), None)
    request.accepted["wants_two"] = next((name for name in requested if name in (ONE, TWO)), ONE) == TWO


def demand(request: UncheckedRequest, values: Sequence[str]) -> None:
    """Accept a demand for one of these values.

    Raises:
        RefusedByRedirect: no value can ever be met.
    """
    if not any(name in (ONE, TWO) or _REAUTHENTICATE.fullmatch(name) for name in values):
        raise unmet()
    request.accepted["demanded_acr"] = tuple(values)
    if request.accepted["acr"] not in values:  # a voluntary class must not appear in the response
        needs_no_class = ONE in values or TWO in values
        request.accepted["acr"] = (
            None if needs_no_class else next(name for name in values if _REAUTHENTICATE.fullmatch(name))
        )
    if request.accepted["acr"] is None:
        request.accepted["wants_two"] = TWO in values and (ONE not in values or request.accepted["wants_two"])


def met(request: CheckedRequest, methods: Collection[str]) -> str | None:
    """Return the demanded `acr` that a session with these methods meets; None where it meets none.

    A class that forces reauthentication is met once the request gets a code: only reauthenticated sessions get that far.
    """
    if request.acr in request.demanded_acr:
        return request.acr
    if TWO in request.demanded_acr and MFA in methods:
        return TWO
    return ONE if ONE in request.demanded_acr else None


def unmet() -> RefusedByRedirect:
    """Return the refusal of OpenID Connect Core Error Code unmet_authentication_requirements 1.0."""
    return RefusedByRedirect("unmet_authentication_requirements", "The required authentication is not available.")
