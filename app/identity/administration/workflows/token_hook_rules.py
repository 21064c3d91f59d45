"""The rules of the token hook as a resource: it sends profiles to a server and says what applications believe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from app.contract.errors import BadField
from app.contract.workflows.token_hook import TokenHookMembers
from app.contract.workflows.workflow_operations import TOKEN_HOOK
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.rules import Rules
from app.kit.operations.wire import Wire
from app.kit.resources.resource_values import ItemInput

_KEY: Final = "token_hook"


def read(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    """Take a request's token hook as a whole; null removes the stored one. Raises BadField."""
    hook = item_input.computed.get(_KEY)
    if hook is not None:
        item_input.values[_KEY,] = _whole(hook).model_dump()
    elif (_KEY,) in item_input.stated:
        item_input.cleared.add((_KEY,))


def _whole(hook: Wire) -> TokenHookMembers:
    """Return the hook of a request, which may be a partial one. Raises BadField for members that it lacks."""
    try:
        return TokenHookMembers.model_validate(hook.model_dump(exclude_none=True))
    except ValidationError as problem:
        member = problem.errors(include_url=False, include_input=False)[0]["loc"][0]
        raise BadField.names(f"TokenHook.{member}") from None


def show(context: Context, content: Any, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    hook = content.token_hook
    values[_KEY] = hook.model_dump(mode="json") if hook is not None else None


def powers_of(context: Context, item: Item) -> Iterator[Power]:  # noqa: ARG001 - the hook's signature
    """Yield the power of a stored token hook."""
    if item.content.get(_KEY) is not None:
        yield Power(ALL, "a token hook")


RULES: Final = {TOKEN_HOOK: Rules(on_input=read, on_output=show, powers=powers_of)}
