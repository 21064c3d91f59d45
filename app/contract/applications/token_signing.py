"""Settings of an application's tokens: signing algorithms, and mapped claims besides the standard ones.

(OpenID Connect Registration section 2) (RFC 9701 section 6)
"""

from typing import Final, Literal, get_args

from app.contract.applications.claims_mapping import ClaimsMapping
from app.contract.configuration_model import ConfigurationModel

SigningAlgorithm = Literal["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]
"""RFC 7518 section 3.1; Ed25519 (RFC 9864 section 2.2), and EdDSA with that curve, its older name (RFC 8037 section 3.1). A symmetric
algorithm and `none` are not served."""
ALGORITHMS: Final[tuple[SigningAlgorithm, ...]] = get_args(SigningAlgorithm)
"""The table that settings, keys, checks and metadata derive from."""
DEFAULT_ALGORITHM: SigningAlgorithm = "RS256"


class SigningSettings(ConfigurationModel):
    """The algorithms and the mapped claims of an application's tokens (RFC 7591 names where there are some)."""

    id_token_signed_response_alg: SigningAlgorithm = DEFAULT_ALGORITHM
    signed_userinfo: bool = False
    userinfo_signed_response_alg: SigningAlgorithm | None = None
    access_token_format: Literal["opaque", "jwt"] = "opaque"
    access_token_signing_alg: SigningAlgorithm = DEFAULT_ALGORITHM
    introspection_signed_response_alg: SigningAlgorithm = DEFAULT_ALGORITHM
    claims_mapping: ClaimsMapping = ClaimsMapping()
    authorization_signed_response_alg: SigningAlgorithm = DEFAULT_ALGORITHM

    @property
    def userinfo_algorithm(self) -> SigningAlgorithm | None:
        """What signs userinfo responses; None: they are JSON. `signed_userinfo` alone takes the algorithm of id_tokens."""
        if self.userinfo_signed_response_alg is None and self.signed_userinfo:
            return self.id_token_signed_response_alg
        return self.userinfo_signed_response_alg

    @property
    def algorithms(self) -> frozenset[SigningAlgorithm]:
        """The algorithms that the tenant needs keys for."""
        needed = {
            self.id_token_signed_response_alg,
            self.introspection_signed_response_alg,
            self.authorization_signed_response_alg,
        }
        if self.access_token_format == "jwt":
            needed.add(self.access_token_signing_alg)
        userinfo = self.userinfo_algorithm
        if userinfo is not None:
            needed.add(userinfo)
        return frozenset(needed)
