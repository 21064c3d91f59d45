"""Reopen an interaction whose cookie is gone or which expired, from what the identity service keeps of it (decisions/0333).

So a browser may have any number of tabs, and a page may stay open over night: its form goes on with what was typed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from app.contract import hub as contract
from app.hub.interaction import interaction_from_step
from app.hub.services import api, services
from app.hub.visit import Visit

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def needs_reopening(visit: Visit) -> bool:
    """Return whether the interaction that a request names has no cookie, or expired."""
    return visit.interaction is None or visit.interaction.expires_at <= services().now()


def reopen(visit: Visit, interaction_id: str) -> None:
    """Take the interaction from the identity service, if this browser began it; it decides as it would have before."""
    held = visit.interaction
    if (held is None and not visit.binding) or not _ID.fullmatch(interaction_id):
        return
    visit.choose_language()
    step = api()(contract.reopen, contract.InteractionRequest(attempt=interaction_id))
    if step.attempt != interaction_id:
        return
    lifetime_seconds = visit.tenant.sign_in_page_seconds
    opened = interaction_from_step(step, held.binding if held else visit.binding, services().now(), lifetime_seconds)
    visit.interaction = replace(held, expires_at=opened.expires_at) if held else opened
    visit.is_reopened = True
