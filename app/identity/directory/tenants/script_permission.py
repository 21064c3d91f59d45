"""The scripts that themes of a tenant may have: those of origins that the operator allows (decision 0421)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.contract.errors import BadField
from app.contract.tenants.settings import TenantSettings
from app.identity.platform.context import Context
from app.kit.operations.wire import pascal


def refuse_new_scripts(context: Context, scripts: Mapping[str, str], former: Mapping[str, str]) -> None:
    """Refuse scripts that the operator does not allow, unless they were there before. Raises BadField."""
    for place, sentence in new_script_problems(scripts, former, context.tenant.settings):
        raise BadField(f"{_member(place)}: expected {sentence}.")


def new_script_problems(
    scripts: Mapping[str, str], former: Mapping[str, str], settings: TenantSettings
) -> Iterator[tuple[str, str]]:
    """Yield the place and the expected value of scripts that are not allowed and were not there before."""
    changed = {place: text for place, text in scripts.items() if text != former.get(place)}
    return ((place, sentence) for place, _, sentence in _script_problems(changed, settings))


def script_reports(context: Context, scripts: Mapping[str, str]) -> list[str]:
    """Return a sentence for each reason why pages leave out stored scripts."""
    settings = context.tenant.settings
    found = [
        f"{_member(place)}, line {line}: expected {sentence}."
        for place, line, sentence in _script_problems(scripts, settings)
    ]
    if any(scripts.values()) and not context.tenant.custom_hosts:
        found.append("Pages.Auth: expected a verified custom domain, because no other host has scripts.")
    return found


def _script_problems(scripts: Mapping[str, str], settings: TenantSettings) -> Iterator[tuple[str, int, str]]:
    if not any(scripts.values()):
        return
    from app.contract.themes import theme_scripts  # noqa: PLC0415 - few tenants have scripts

    yield from theme_scripts.problems(scripts, settings.theme_scripts.origins)


def _member(place: str) -> str:
    return f"Pages.Auth.{pascal(place)} (Brand.Scripts.{place})"
