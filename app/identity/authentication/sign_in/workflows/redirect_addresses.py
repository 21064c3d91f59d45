"""The addresses with which people leave for a page of the tenant in the middle of a sign-in, and come back."""

from __future__ import annotations

import hmac
from urllib.parse import urlencode

from app.contract.workflows.http_calls import STATE
from app.contract.workflows.result_pages import RETURN_PATH
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.workflows.workflow_run import WaitingRedirect
from app.identity.platform.context import Context
from app.kit import randomness


def return_url(context: Context) -> str:
    """Return the address at which people come back."""
    return f"{context.pages_url}{RETURN_PATH}"


def address(context: Context, redirect: WaitingRedirect) -> str:
    """Return the address of the page with its `state`; empty for a request that has read no interaction."""
    interaction = interactions.current(context)
    if interaction is None:
        return ""
    separator = "&" if "?" in redirect.url else "?"
    return f"{redirect.url}{separator}{urlencode({STATE: state_of(interaction.interaction_id, redirect)})}"


def state_of(interaction_id: str, redirect: WaitingRedirect) -> str:
    """Return the `state` of a redirect in an interaction: its id, by which the browser's cookie is found, and an HMAC by that id.

    The tables have neither: they hold a digest of the id.
    """
    tag = hmac.digest(interaction_id.encode(), redirect.nonce.encode(), "sha256")
    return f"{interaction_id}.{randomness.base64url(tag)}"
