"""Cookies of the hub: set and delete them with the attributes that all of them have."""

from __future__ import annotations

from flask import Response, request

from app.hub.interaction import COOKIE_LIFETIME_SECONDS, Interaction
from app.hub.services import services
from app.hub.visit import current_visit, requested_interaction_id


def set_cookie(response: Response, name: str, value: str, lifetime_seconds: int | None) -> None:
    """Set a cookie of this host; without a lifetime the browser drops it when it closes."""
    is_secure = services().settings.public_scheme == "https"
    response.set_cookie(
        name, value, max_age=lifetime_seconds, path="/", secure=is_secure, httponly=True, samesite="Lax"
    )


def delete_cookie(response: Response, name: str) -> None:
    """Delete a cookie of this host."""
    is_secure = services().settings.public_scheme == "https"
    response.delete_cookie(name, path="/", secure=is_secure, httponly=True, samesite="Lax")


def set_interaction_cookie(response: Response, interaction: Interaction) -> None:
    """Set the cookie of an interaction, and delete the oldest where the browser has too many.

    The relying parties of deleted interactions are remembered, so that their tabs still find the way back.
    """
    interactions, tenant = services().interactions, current_visit().tenant.name
    name, value = interactions.write(interaction, tenant)
    set_cookie(response, name, value, COOKIE_LIFETIME_SECONDS)
    evicted = interactions.to_evict(request.cookies, tenant, name)
    for old in evicted:
        delete_cookie(response, old)
    if evicted:
        remembered = interactions.remember(request.cookies, tenant, evicted)
        set_cookie(response, interactions.relying_parties_cookie, remembered, COOKIE_LIFETIME_SECONDS)


def remember_relying_party(response: Response, interaction_id: str, name: str, home: str) -> None:
    """Remember the relying party of an interaction that another browser started."""
    interactions, tenant = services().interactions, current_visit().tenant.name
    added: dict[str, Interaction | None] = {
        interactions.name_of(interaction_id): Interaction(interaction_id, "", name, home)
    }
    remembered = interactions.remember(request.cookies, tenant, added)
    set_cookie(response, interactions.relying_parties_cookie, remembered, COOKIE_LIFETIME_SECONDS)


def remembered_relying_party() -> tuple[str, str]:
    """Return name and home of the relying party of the requested interaction; both empty if unknown."""
    tenant = current_visit().tenant.name
    return services().interactions.remembered_relying_party(request.cookies, tenant, requested_interaction_id())
