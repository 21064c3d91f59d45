"""The rules of the SAML gate, and the refusal that names the broken one."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from app.identity.platform.outbound import findings


class SamlRule(StrEnum):
    """A rule that each SAML message must keep, in the order of the checks."""

    SIZE = "size"  # each parameter once, its length before decoding and while inflating
    PARSER = "parser"  # one parser without document types, entities and external documents
    NODES = "nodes"  # elements and text alone: no comment, processing instruction or CDATA section
    STRUCTURE = "structure"  # the root, one assertion below it, IDs that are unique
    SIGNATURE_FORM = "signature_form"  # where a signature is, what it refers to, how that is canonicalized
    ALGORITHM = "algorithm"  # algorithms and lengths of keys
    KEY = "key"  # the keys of the connection, never of the message
    VERIFIED = "verified"  # only what was signed is read
    TEXT = "text"  # a value is the whole text of its element
    CONDITIONS = "conditions"  # issuer, audience, recipient, destination, request, times, status, confirmation
    REPLAY = "replay"  # each assertion and each request is used once
    REQUEST = "request"  # requests and logout messages
    ENCRYPTION = "encryption"  # encrypted assertions
    METADATA = "metadata"  # the metadata of a provider or a service provider


class SamlRefusal(Exception):
    """A SAML message is refused. The texts are one line each, bounded, without secrets.

    Args:
        rule: the broken rule.
        text: what is wrong, as one sentence for an operator.
        expected: what the server expects.
        received: what the message has instead: names and harmless values, never the subject or an attribute's value.
    """

    def __init__(self, rule: SamlRule, text: str, *, expected: Any = "", received: Any = "") -> None:
        super().__init__(text)
        self.rule = rule
        self.expected = findings.shown(findings.shown_claim(expected))
        self.received = findings.shown(findings.shown_claim(received))
