"""Settings of an application that protect its tokens and its requests (RFC 9449)."""

from app.contract.configuration_model import ConfigurationModel


class SecurityProfileSettings(ConfigurationModel):
    """How an application must prove that it may use its tokens."""

    dpop_bound_access_tokens: bool = False
    require_dpop_nonce: bool = False
