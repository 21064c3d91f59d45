"""A tenant's settings of passkeys. The docstrings are published."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel, Different, web_origin

RelatedOrigin = Annotated[str, AfterValidator(web_origin), Field(max_length=300)]


class Passkeys(ConfigurationModel):
    """How passkeys are offered if `passkeys` is on."""

    selection: Literal["autofill", "button", "both"] = "both"  # autofill alone fails in browsers without it
    progressive_enrollment: bool = True  # offer a passkey after a sign-in with a password
    progressive_enrollment_days: int = Field(default=30, ge=1, le=365)  # until a declined offer is repeated
    local_enrollment: bool = True  # offer a passkey of this device after a sign-in with another device
    name: str | None = Field(default=None, min_length=1, max_length=64)  # shown by browsers; default: the display name
    # RP ID: a custom domain, or a domain above it, once that is verified; default: the tenant's own host
    rp_id: str | None = Field(default=None, max_length=253, pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")
    # other addresses of the tenant where its passkeys work (WebAuthn level 3 section 5.11)
    related_origins: Annotated[tuple[RelatedOrigin, ...], Different] = Field(default=(), max_length=20)
