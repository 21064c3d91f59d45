"""Remembers the IDs of accepted assertions and requests until they expire, so that each is used once."""

from __future__ import annotations

import json

from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, TokenExists
from app.identity.platform.saml.expectations import AcceptedAssertion
from app.identity.platform.saml.request_gate import AcceptedAuthnRequest, AcceptedLogoutRequest
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule


def spend(context: Context, message: AcceptedAssertion | AcceptedAuthnRequest | AcceptedLogoutRequest) -> None:
    """Spend a message in the transaction of the context: of several concurrent uses one commits.

    IDs are unique for one issuer (saml-core-2.0 section 1.3.4). The answer to our own request is spent with that request.

    Raises:
        SamlRefusal: REPLAY, if the message was used before.
    """
    message_id = message.assertion_id if isinstance(message, AcceptedAssertion) else message.request_id
    try:
        continuation_tokens.issue(
            context,
            ContinuationPurpose.SAML_MESSAGE,
            NO_ACCOUNT,
            lifetime=message.expires_at - context.now,
            text=json.dumps([message.issuer, message_id]),
        )
    except TokenExists:
        raise SamlRefusal(
            SamlRule.REPLAY, "The message was used before.", expected="an ID that is new", received=message_id
        ) from None
