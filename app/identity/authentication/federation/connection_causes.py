"""What each cause of a failed check means, and what to change. Operators and programs read the texts.

A check that calls the provider fails by what happened to the call (`CallFailure`). A protocol with rules of its own adds a check, with a
table of its rules here.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from app.contract.federation.connection_checks import DIAGNOSES, CallFailure, ConnectionCheck, Diagnosis

if TYPE_CHECKING:
    from collections.abc import Mapping

_C: Final = ConnectionCheck
_F: Final = CallFailure


class CallTexts(NamedTuple):
    """What happened, as the end of a sentence about the place, and what to change.

    `{setting}` is where the address comes from; an empty advice: that of the check.
    """

    happened: str
    advice: str


CALL_TEXTS: Final[Mapping[CallFailure, CallTexts]] = MappingProxyType({
    _F.INVALID_ADDRESS: CallTexts("can’t be called: its address isn’t one.", "Correct {setting}: it must be a complete `https` address."),
    _F.UNKNOWN_HOST: CallTexts(
        "can’t be called: its host name has no address.",
        "Check the spelling of the host name in {setting}. If it’s right, the DNS server that this server uses must know it.",
    ),
    _F.INWARD_ADDRESS: CallTexts(
        "isn’t called: its host name leads into a private network.",
        "Use a public address in {setting}. If the provider is in your own network, add that to `GATEHOUSE_PROVIDER_NETWORKS`.",
    ),
    _F.BUSY: CallTexts(
        "wasn’t called: too many calls waited for the provider.",
        "If this lasts, find out why the provider answers slowly: each host gets few calls at a time, so slow ones fill the queue.",
    ),
    _F.CONNECTION_REFUSED: CallTexts(
        "refused the connection.",
        "Check that the provider’s server runs, and the host and port in {setting}. A firewall can refuse connections, too.",
    ),
    _F.UNREACHABLE: CallTexts(
        "can’t be reached.", "Let the network, its firewalls and its proxy pass connections of this server to the host in {setting}.",
    ),
    _F.CERTIFICATE: CallTexts(
        "has a certificate that isn’t trusted.",
        "Install at the provider a certificate of a public authority for the host name in {setting}, with its intermediate "
        "certificates, and renew it before it expires.",
    ),
    _F.TLS: CallTexts(
        "didn’t agree on an encrypted connection.",
        "Let the provider’s server speak TLS 1.2 or 1.3 at the port in {setting}. A port that speaks HTTP alone can’t be used.",
    ),
    _F.SLOW: CallTexts(
        "didn’t answer in time.",
        "Find out why the provider answers slowly, and whether a firewall drops connections of this server to the host in {setting}.",
    ),
    _F.CLOSED: CallTexts(
        "closed the connection before its answer was complete.",
        "Look in the logs of the provider’s server, and of the proxy in front of it, for the call that broke off.",
    ),
    _F.NOT_HTTP: CallTexts(
        "answered something that isn’t HTTP.", "Correct the port in {setting}: something else than a web server listens there.",
    ),
    _F.REDIRECTED: CallTexts(
        "answered with a redirect, which isn’t followed.",
        "Set {setting} to the final address, to which the redirect leads. If it leads to a sign-in page, let programs call the address "
        "without one.",
    ),
    _F.NOT_FOUND: CallTexts("doesn’t exist at its address.", "Correct the path in {setting}: the host answers, but it has nothing there."),
    _F.TOO_MANY: CallTexts("refused the call: there were too many.", "Ask the provider for a higher limit, or wait until it allows more."),
    _F.SERVER_ERROR: CallTexts(
        "had an error of its own.", "Look at the provider’s status page, and in its log at the time of this trace.",
    ),
    _F.REFUSED_STATUS: CallTexts("refused the call.", ""),
    _F.TOO_LONG: CallTexts(
        "answered too much.", "Check that {setting} isn’t the address of a page or a download. The provider must send only what’s needed.",
    ),
    _F.PACKED: CallTexts(
        "answered in compressed form, which wasn’t accepted.",
        "Turn compression off at the provider, or at the proxy in front of it, for calls with `Accept-Encoding: identity`.",
    ),
    _F.EMPTY: CallTexts("answered nothing.", "Check {setting}, and that the provider answers with JSON there."),
    _F.HTML: CallTexts(
        "answered with an HTML page.",
        "Check {setting}. Sign-in pages, maintenance pages and error pages of a firewall or proxy are HTML, too: let this server’s calls "
        "pass them.",
    ),
    _F.NOT_JSON: CallTexts("answered something that isn’t JSON.", "Check {setting}. It must answer `Accept: application/json` with JSON."),
    _F.WRONG_TYPE: CallTexts(
        "answered JSON of another form.", "Check {setting}: compare what was received with the provider’s documentation of this address.",
    ),
})  # fmt: skip
"""What each failure tells an operator."""
_PLACES: Final[Mapping[ConnectionCheck, tuple[str, str]]] = MappingProxyType({
    _C.DISCOVERY: ("discovery document", "the connection’s `issuer`"),
    _C.TOKEN_ENDPOINT: ("token endpoint", "`token_endpoint`"),
    _C.REFRESH_TOKEN: ("token endpoint", "`token_endpoint`"),
    _C.INTROSPECTION: ("introspection endpoint", "`introspection_endpoint`"),
    _C.KEYS: ("key set", "the provider’s `jwks_uri`, or the `JWKSUrl` of a JWT provider"),
    _C.USERINFO: ("userinfo endpoint", "`userinfo_endpoint`"),
    _C.EMAILS: ("list of email addresses", "`emails_endpoint`"),
    _C.ANSWER: ("address", "the connection"),
})  # fmt: skip
"""What is called at each check that calls the provider, and where its address is set."""


def _of_calls(check: ConnectionCheck) -> Mapping[str, Diagnosis]:
    place, setting = _PLACES[check]
    return MappingProxyType({
        failure.value: Diagnosis(
            f"The provider’s {place} {texts.happened}",
            (texts.advice or DIAGNOSES[check].advice).replace("{setting}", setting),
        )
        for failure, texts in CALL_TEXTS.items()
    })  # fmt: skip


CAUSES: Final[Mapping[ConnectionCheck, Mapping[str, Diagnosis]]] = MappingProxyType(
    {check: _of_calls(check) for check in _PLACES}
)
"""What each cause tells an operator, for checks that fail in ways with different remedies."""


def diagnosis_of(check: str, cause: str) -> Diagnosis:
    """Return what a failure means and what to change; a check or cause of a newer release has the general texts."""
    try:
        known = ConnectionCheck(check)
    except ValueError:
        return DIAGNOSES[ConnectionCheck.ANSWER]
    return CAUSES.get(known, {}).get(cause, DIAGNOSES[known])
