"""What pages show of an application, in further languages (RFC 7591 section 2.2, OpenID Connect Registration section 2.1)."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field

from app.contract.configuration_model import ConfigurationModel, Picture, WebUrl
from app.kit.text.languages import lookup

MAX_LANGUAGES: Final = 20
_MAX_TAG_LENGTH: Final = 35  # RFC 5646 section 4.4.1
_TAG: Final = re.compile(
    r"(?P<language>[a-z]{2,3}(-[a-z]{3}){0,3}|[a-z]{4,8})(-(?P<script>[a-z]{4}))?(-(?P<region>[a-z]{2}|[0-9]{3}))?"
    r"(-([a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(-[0-9a-wy-z](-[a-z0-9]{2,8})+)*(-x(-[a-z0-9]{1,8})+)?",
    re.IGNORECASE,
)  # RFC 5646 section 2.1, without tags of private use alone and grandfathered ones


def language_tag(text: str) -> str:
    """Return a tag in canonical letter case; raises ValueError for a malformed one."""
    found = _TAG.fullmatch(text) if len(text) <= _MAX_TAG_LENGTH else None
    if found is None:
        raise ValueError("a language tag such as de or pt-BR (BCP 47)")
    script, region = found["script"] or "", found["region"] or ""
    head = "-".join(filter(None, (found["language"].lower(), script.title(), region.upper())))
    return head + text[len(head) :].lower()


def _without_duplicates(value: Any) -> Any:
    """Refuse a language that is there twice, in different letter case."""
    if isinstance(value, dict) and len({str(tag).lower() for tag in value}) < len(value):
        raise ValueError("each language once")
    return value


LanguageTag = Annotated[str, AfterValidator(language_tag)]
EachOnce = BeforeValidator(_without_duplicates)


class LocalizedTexts(ConfigurationModel):
    """What pages in one language show in place of the application's own value; an absent key leaves that one."""

    client_name: str | None = None
    client_uri: str | None = None
    logo_uri: str | None = None
    policy_uri: str | None = None
    tos_uri: str | None = None


LOCALIZED: Final = tuple(LocalizedTexts.model_fields)
"""Members of client metadata that may have a language tag."""


class LocalizedTextsFile(LocalizedTexts):
    """What pages in one language show in place of the application's own value; an absent key leaves that one."""

    client_name: Annotated[str, Field(min_length=1, max_length=100)] | None = None
    client_uri: WebUrl | None = None
    logo_uri: Picture | None = None
    policy_uri: WebUrl | None = None
    tos_uri: WebUrl | None = None


class LocalizedSettings(ConfigurationModel):
    """Texts of an application in further languages."""

    localized: Mapping[str, LocalizedTexts] = Field(default_factory=dict)

    def text(self, name: str, languages: Iterable[str]) -> str | None:
        """Return a member in the first of these languages that has one; else the value without a language."""
        known: dict[str, str] = {
            tag: value for tag, texts in self.localized.items() if (value := getattr(texts, name)) is not None
        }
        for language in languages if known else ():
            near = (tag for tag in sorted(known) if tag.lower().startswith(f"{language.lower()}-"))
            if found := lookup(language, known) or next(near, None):
                return known[found]
        plain: str | None = getattr(self, name)
        return plain
