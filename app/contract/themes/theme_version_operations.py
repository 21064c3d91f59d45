"""Management programs save drafts of themes, publish them, and return to earlier versions. The docstrings are published."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from app.contract.auth import MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.configuration_model import Moment
from app.contract.error_profiles import MANAGE
from app.contract.errors import BadField, NoEarlierVersion, ThemeChanged, UnknownTheme, UnknownThemeVersion
from app.contract.themes.theme_operations import ThemeBrand, VersionNumber
from app.kit.operations.wire import From, Wire

KEPT_VERSIONS: Final = 50
"""The newest versions of a theme. The published, the scheduled, and the one to return to are kept beside them."""
MAX_SCHEDULED: Final = 10
"""Versions of a theme that wait for their time."""
MAX_SCHEDULE_DAYS: Final = 400
OWN_LOOK: Final = "brand"
"""In place of a theme's id: the tenant's `brand`, as configuration files set it."""


class ThemeOf(Wire):
    theme_id: Annotated[
        str,
        From.PATH,
        Field(alias="themeId", description="The theme’s ID, or “brand” for the look that a configuration file set."),
    ]


class ThemeVersionOf(ThemeOf):
    version: Annotated[VersionNumber, From.PATH, Field(alias="version", description="The number of the version.")]


class ThemeDraft(ThemeOf):
    brand: ThemeBrand
    note: Annotated[str, Field(max_length=300, description="What changed, for the list of versions.")] = ""
    base_version: Annotated[
        VersionNumber | None,
        Field(description="The newest version when you began. If there’s a newer one, the draft is refused with 8202."),
    ] = None


_REPLACED = (
    "The version that’s published now. If it’s another one, the request is refused with 8202, and nothing changes."
)


class ThemePublication(ThemeVersionOf):
    publish_at: Annotated[
        Moment | None,
        Field(
            description="When to publish it, up to 400 days from now. Without it, at once.",
            examples=["2027-01-31T06:00:00Z"],
        ),
    ] = None
    base_version: Annotated[VersionNumber | None, Field(description=_REPLACED)] = None


class ThemeRollBack(ThemeOf):
    base_version: Annotated[VersionNumber | None, Field(description=_REPLACED)] = None


class ThemeVersionEntry(Wire):
    """A version of a theme, without its look."""

    version: Annotated[int, Field(description="The number of the version.")]
    created_date: Annotated[str, Field(description="When it was saved.")]
    created_by: Annotated[
        str,
        Field(
            description="Who saved it: the client ID of a program, “command” for an operator, or “file” for a configuration file. "
            "Empty for a look from before themes had versions."
        ),
    ]
    note: Annotated[str, Field(description="What changed.")]
    is_published: Annotated[bool, Field(description="Whether it’s the one that the theme shows.")]
    published_date: Annotated[str | None, Field(description="When it was last published. Null for a draft.")] = None
    publish_at: Annotated[str | None, Field(description="When it will be published.")] = None
    problem: Annotated[
        str | None,
        Field(
            description="Why this release refuses the look; pages show the rest of it. Null for a look that it accepts, and in lists "
            "also for versions that aren’t published."
        ),
    ] = None


class ThemeVersions(Wire):
    """The versions of a theme, the newest first."""

    data: Annotated[list[ThemeVersionEntry], Field(description="The versions.")]


class ThemeVersion(ThemeVersionEntry):
    """A version of a theme."""

    brand: ThemeBrand


class ThemePreview(Wire):
    """An address that shows every page and message with the look of a version."""

    url: Annotated[str, Field(description="The address. Anyone who has it sees the look, and nothing else.")]
    expires_date: Annotated[str, Field(description="When the address stops working.")]


class ThemeEditorAddress(Wire):
    """An address of the theme editor."""

    url: Annotated[
        str, Field(description="The address. Anyone who has it can save drafts of the theme, and publish none.")
    ]
    expires_date: Annotated[str, Field(description="When the address stops working.")]


_THEME = "/v2/manage/hosted-pages/themes/{themeId}"
_VERSIONS = f"{_THEME}/versions"
_UNKNOWN = (UnknownTheme, UnknownThemeVersion)
list_versions = operation(
    "themes.list_versions", f"GET {_VERSIONS}", ThemeOf, ThemeVersions, auth=MACHINE_TOKEN, scope="template:read",
    error_profile=MANAGE, errors=(UnknownTheme,), summary="List versions of a theme",
    description=f"Returns the newest {KEPT_VERSIONS} versions, drafts included, and beside them the published one, those with a time "
    "to be published, and the one that a roll-back returns to. Each change of a theme’s look adds one, and none ever changes.",
)  # fmt: skip
read_version = operation(
    "themes.read_version", f"GET {_VERSIONS}/{{version}}", ThemeVersionOf, ThemeVersion, auth=MACHINE_TOKEN, scope="template:read",
    error_profile=MANAGE, errors=_UNKNOWN, summary="Get a version of a theme",
    description="Returns a version with its look, without what this release refuses.",
)  # fmt: skip
save_draft = operation(
    "themes.save_draft", f"PUT {_THEME}/draft", ThemeDraft, ThemeVersionEntry, auth=MACHINE_TOKEN, scope="template:update",
    error_profile=MANAGE, takes_markup=True, errors=(UnknownTheme, ThemeChanged, BadField), summary="Save a draft of a theme",
    description="Saves the look as a new version that no page shows yet. A look that equals the newest version adds none.",
)  # fmt: skip
publish_version = operation(
    "themes.publish_version", f"PUT {_VERSIONS}/{{version}}/publish", ThemePublication, ThemeVersionEntry, auth=MACHINE_TOKEN,
    scope="template:update", error_profile=MANAGE, errors=(*_UNKNOWN, ThemeChanged, BadField), summary="Publish a version of a theme",
    description="Makes a version the theme’s look, now or at `PublishAt`. The pages show it where they show the theme. Its look is "
    "checked again: one that this release refuses isn’t published.",
)  # fmt: skip
cancel_publication = operation(
    "themes.cancel_publication", f"DELETE {_VERSIONS}/{{version}}/schedule", ThemeVersionOf, ThemeVersionEntry, auth=MACHINE_TOKEN,
    scope="template:update", error_profile=MANAGE, errors=_UNKNOWN, summary="Cancel a scheduled publication",
    description="The version stays, without a time to be published.",
)  # fmt: skip
roll_back = operation(
    "themes.roll_back", f"PUT {_THEME}/roll-back", ThemeRollBack, ThemeVersionEntry, auth=MACHINE_TOKEN, scope="template:update",
    error_profile=MANAGE, errors=(*_UNKNOWN, NoEarlierVersion, ThemeChanged, BadField), summary="Roll back a theme",
    description="Publishes the version that was published before the present one.",
)  # fmt: skip
preview_version = operation(
    "themes.preview_version", f"POST {_VERSIONS}/{{version}}/preview", ThemeVersionOf, ThemePreview, auth=MACHINE_TOKEN,
    scope="template:read", error_profile=MANAGE, errors=_UNKNOWN, summary="Create a preview address of a version",
    description="Returns an address on the tenant’s host, valid for 24 hours, that shows every page, email and text message in every state "
    "and language with the version’s look. It shows made-up accounts, and its forms send nothing.",
)  # fmt: skip
open_editor = operation(
    "themes.open_editor", f"POST {_THEME}/editor", ThemeOf, ThemeEditorAddress, auth=MACHINE_TOKEN, scope="template:update",
    error_profile=MANAGE, errors=(UnknownTheme,), summary="Create an address of the theme editor",
    description="Returns an address on the tenant’s host, valid for 8 hours, where people change the theme’s colors, logo and texts "
    "without writing templates. Each save is a draft; the editor publishes none.",
)  # fmt: skip
