"""The state of an interaction that a request usually ends is written once, and never over what another tab did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from sqlalchemy import select, update

from app.identity.authentication.sign_in import interactions, tables
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from tests.support.oauth.world import World
from tests.support.tenants.callers import call_of

A = tables.interactions.c


def stored(call: Context) -> tuple[str | None, bool]:
    row = call.work.run(select(A.request, A.is_done).where(A.tenant_id == call.tenant.tenant_id)).one()
    return row.request.get("return_url"), row.is_done


FOLLOWING: dict[str, tuple[Callable[[Context, Interaction], object], int, bool]] = {
    "nothing": (lambda call, _: interactions.save_held(call), 1, False),
    "change": (lambda call, held: interactions.save(call, held, held.state), 1, False),
    "end": (interactions.finish, 1, True),
    "lock": (interactions.lock, 2, False),
}
"""What follows a held state, its statements, and whether it ends the interaction."""


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("following", FOLLOWING)
def test_held_state_is_written_once_by_what_follows(services: IdentityServices, world: World, following: str) -> None:
    act, statements, ends = FOLLOWING[following]
    with call_of(services, world.name) as call:
        begun, _ = interactions.start(call, InteractionKind.RETURN)
        held = interactions.hold(call, begun, replace(begun.state, return_url="/held"))
        assert stored(call) == (None, False)
        before = call.work.cost.statements
        act(call, held)
        interactions.save_held(call)
        assert call.work.cost.statements - before == statements
        assert stored(call) == ("/held", ends)


def test_held_state_does_not_change_what_another_tab_ended(services: IdentityServices, world: World) -> None:
    with call_of(services, world.name) as call:
        begun, _ = interactions.start(call, InteractionKind.RETURN)
        held = interactions.hold(call, begun, replace(begun.state, return_url="/held"))
        end = update(tables.interactions).where(A.tenant_id == call.tenant.tenant_id).values(is_done=True)
        call.work.run(end)
        assert not interactions.finish(call, held)
        interactions.save_held(call)
        assert stored(call) == (None, True)
