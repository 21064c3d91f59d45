"""What people read where a workflow refuses their sign-in."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from babel.support import NullTranslations

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.identity.directory.tenants.themed_tenant import themed_tenant
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError
from app.kit.text.languages import LANGUAGES, lookup


def error(context: Context, texts: Mapping[str, str]) -> errors.WorkflowDenied:
    """Return the refusal with the text in the language of the page, else in the tenant's default language."""
    shown = offered(texts)
    return errors.WorkflowDenied(text_of(context, shown) or None, data={"Texts": shown} if shown else None)


def missing_factor(context: Context, accepted: Collection[FactorKind]) -> errors.WorkflowDenied:
    """Return the refusal of an account that has no second factor of the accepted kinds, which says what it lacks.

    It enrols none now: at a risk, the first factor alone would choose the second one.
    """
    texts = themed_tenant(context).texts
    return error(context, {tag: _lacking(texts.catalogue(tag), accepted) for tag in LANGUAGES})


def _lacking(chosen: NullTranslations, accepted: Collection[FactorKind]) -> str:
    gettext = chosen.gettext
    if set(accepted) == {FactorKind.TOTP}:
        return gettext("You need an authenticator app here, and your account has none. Get help to add one.")
    if set(accepted) == {FactorKind.PASSKEY}:
        return gettext("You need a passkey here, and your account has none. Get help to add one.")
    return gettext("You need two-step verification here, and your account has none that fits. Get help to turn it on.")


def offered(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the texts in languages that pages have; all where there is none."""
    return {tag: text for tag, text in texts.items() if tag in LANGUAGES} or dict(texts)


def texts_of(refusal: ApiError) -> dict[str, str]:
    """Return the texts of a refusal by language; none where the workflow has none."""
    texts: dict[str, str] = (refusal.data or {}).get("Texts") or {}
    return texts


def text_of(context: Context, texts: Mapping[str, str]) -> str:
    """Return the text for the reader; empty if there is none."""
    page_language = context.visit.language if context.visit else ""
    for wanted in (page_language, context.tenant.settings.default_locale):
        if wanted and (found := lookup(wanted, texts)):
            return texts[found]
    return next(iter(texts.values()), "")
