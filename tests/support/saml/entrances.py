"""The hostile messages of every entrance: the cases of responses, done to requests, logout messages and metadata too."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from app.identity.platform.saml.bindings import posted, redirected
from app.identity.platform.saml.metadata_reader import read_metadata
from app.identity.platform.saml.request_gate import accept_authn_request, accept_logout_request, accept_logout_response
from app.identity.platform.saml.response_gate import read_response
from app.identity.platform.saml.saml_names import PERSISTENT_FORMAT
from app.identity.platform.saml.saml_rules import SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.saml import signers
from tests.support.saml.all_cases import RESPONSE_CASES
from tests.support.saml.cases import Case, PartMissing
from tests.support.saml.condition_cases import CONDITION_CASES
from tests.support.saml.document_cases import DOCUMENT_CASES
from tests.support.saml.metadata import ENTITY, metadata
from tests.support.saml.requests import ADDRESS, MESSAGES, PEER, deflated, message, parameter_of, peer, query
from tests.support.saml.signers import NOW
from tests.support.saml.wrapping_cases import ASSERTION_WRAPS, RESPONSE_WRAPS

RESPONSE, METADATA = "Response", "metadata"


@dataclass(frozen=True)
class HostileMessage:
    """A message of one entrance; reading it raises SamlRefusal with the rule."""

    entrance: str
    rule: SamlRule
    name: str
    read: Callable[[], object]

    def __str__(self) -> str:
        return f"{self.entrance}, {self.rule}: {self.name}"


@dataclass(frozen=True)
class Entrance:
    """A way in for signed messages other than responses.

    Attributes:
        make: makes a signed message by the arguments of `response_tree`.
        unsigned: the argument by which it makes an unsigned one.
        reader: returns what reads a message, and refuses hostile ones.
        names: what its messages have where the good response has other bytes.
        others: the cases that another rule refuses here, or, with None, that are no attack here.
        has_signature: whether the message has its signature inside; if not, only changes of its bytes are attacks here.
    """

    name: str
    make: Callable[..., bytes]
    unsigned: dict[str, Any]
    reader: Callable[[bytes], Callable[[], object]]
    names: dict[bytes, bytes]
    others: dict[str, SamlRule | None]
    has_signature: bool = True

    def translate(self, text: bytes) -> bytes:
        for old, new in self.names.items():
            text = text.replace(old, new)
        return text

    def messages(self) -> Iterator[HostileMessage]:
        """Yield the cases of responses that change a part which the messages of this entrance have too."""
        for case in RESPONSE_CASES:
            rule = self.others.get(case.name, case.rule)
            if rule is not None and case not in ASSERTION_WRAPS:
                with contextlib.suppress(StopIteration, PartMissing):
                    if (content := self._content(case)) is not None:
                        yield HostileMessage(self.name, rule, case.name, self.reader(content))

    def _content(self, case: Case) -> bytes | None:
        if case.edit is not None:
            return case.edit(self.make(), self.translate)
        if case.arguments is None or "encryption" in case.arguments or not self.has_signature:
            return None
        form = {name: value for name, value in case.arguments.items() if name != "signed"}
        return self.make(**form, **(self.unsigned if case.arguments.get("signed", "") is None else {}))


def _message_reader(name: str, content: bytes, *, by_redirect: bool = False) -> Callable[[], object]:
    """Return what reads a posted message, or one in a query that is signed with the right key."""
    text = query(name, deflated(content)) if by_redirect else base64.b64encode(content).decode()

    def read() -> object:
        parameter = parameter_of(name)
        envelope = redirected(parameter, text) if by_redirect else posted(parameter, [text], ["state"])
        if name == "LogoutResponse":
            return accept_logout_response(envelope, peer(), request_id="_request1", address=ADDRESS, now=NOW)
        accept = accept_authn_request if name == "AuthnRequest" else accept_logout_request
        return accept(envelope, {PEER: peer()}.get, address=ADDRESS, now=NOW)

    return read


def _metadata_reader(content: bytes) -> Callable[[], object]:
    pinned = TrustedKeys((signers.rsa_signer().certificate,))
    return partial(read_metadata, content, NOW, entity_id=ENTITY, pinned=pinned)


def _signed_metadata(**arguments: Any) -> bytes:
    return metadata(**{"signer": signers.rsa_signer(), **arguments})


def _names(root: bytes, text: bytes, place: bytes) -> dict[bytes, bytes]:
    return {b"samlp:Response": root, b"ada@example.test": text, b"<samlp:Status>": place}


_OTHERS: Final[dict[str, SamlRule | None]] = {
    # The wrapped element is no second response, but its signature stands where none may.
    **{case.name: SamlRule.SIGNATURE_FORM for case in RESPONSE_WRAPS if case.rule is SamlRule.STRUCTURE},
    "Id=_assertion1 at Signature": None,  # no other element has this ID
}
_REQUESTS: Final = {
    **_OTHERS,
    **dict.fromkeys(("issuer of the response", "issuer of a signed response"), SamlRule.REQUEST),
}
_ANSWERS: Final = {
    **_OTHERS,
    "ID=_assertion1 at Status": SamlRule.VERIFIED,  # no other element has this ID
    **{case.name: None for case in CONDITION_CASES if case.name.startswith("StatusCode")},  # read as no success
    "failed at the provider": None,
}
_METADATA: Final = {
    **_OTHERS,
    **{case.name: None for case in DOCUMENT_CASES if case.name.startswith("comment")},  # dropped from metadata
    "CDATA section in NameID": None,  # read as the text that it is, which is what was signed
    "version 1.1": None,  # metadata has no version
    "another root": SamlRule.METADATA,
}
ENTRANCES: Final = [
    *(
        Entrance(
            name, partial(message, name), {"is_signed": False}, partial(_message_reader, name),
            _names(f"samlp:{name}".encode(), PEER.encode(), b"<saml:Issuer>"),
            _ANSWERS if name == "LogoutResponse" else _REQUESTS,
        )
        for name in MESSAGES
    ),
    *(
        Entrance(
            f"{name} by redirect", partial(message, name, is_signed=False), {},
            partial(_message_reader, name, by_redirect=True),
            _names(f"samlp:{name}".encode(), PEER.encode(), b"<saml:Issuer>"), {}, has_signature=False,
        )
        for name in MESSAGES
    ),
    Entrance(
        METADATA, _signed_metadata, {"signer": None}, _metadata_reader,
        {**_names(b"md:EntityDescriptor", PERSISTENT_FORMAT.encode(), b"<md:NameIDFormat>"), b"samlp:": b"md:"}, _METADATA,
    ),
]  # fmt: skip


def hostile_messages() -> Iterator[HostileMessage]:
    """Yield the hostile messages of all entrances."""
    for case in RESPONSE_CASES:
        read = partial(read_response, case.content(), case.expected(), NOW)
        yield HostileMessage(RESPONSE, case.rule, case.name, read)
    for entrance in ENTRANCES:
        yield from entrance.messages()
