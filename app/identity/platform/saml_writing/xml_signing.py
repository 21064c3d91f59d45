"""Signs elements and queries with the key of one connection: RSA or ECDSA with SHA-256, enveloped, exclusive canonicalization."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from signxml.algorithms import CanonicalizationMethod, DigestAlgorithm, SignatureMethod
from signxml.signer import XMLSigner

from app.identity.platform import private_keys
from app.identity.platform.saml.saml_names import saml

if TYPE_CHECKING:
    from lxml.etree import _Element

_METHODS: Final = {True: SignatureMethod.RSA_SHA256, False: SignatureMethod.ECDSA_SHA256}


@dataclass(frozen=True)
class SigningKey:
    """A certificate of ours and its private key, in PEM, as they are stored."""

    certificate: str
    private_key: str = field(repr=False)

    @cached_property
    def loaded(self) -> rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey:
        key = private_keys.stored(self.private_key)
        if not isinstance(key, rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey):
            raise TypeError("a SAML key is an RSA or an EC key")
        return key

    @property
    def method(self) -> SignatureMethod:
        return _METHODS[isinstance(self.loaded, rsa.RSAPrivateKey)]

    def sign_raw(self, content: bytes) -> bytes:
        """Return a signature of these bytes in the form of XML Signature (for ECDSA: two numbers, RFC 4050)."""
        key = self.loaded
        if isinstance(key, rsa.RSAPrivateKey):
            return key.sign(content, padding.PKCS1v15(), hashes.SHA256())
        half = (key.key_size + 7) // 8
        numbers = utils.decode_dss_signature(key.sign(content, ec.ECDSA(hashes.SHA256())))
        return b"".join(number.to_bytes(half, "big") for number in numbers)


def signed(root: _Element, key: SigningKey) -> _Element:
    """Return a copy of an element with an enveloped signature: the schemas want it after Issuer, or else as the first child.

    Args:
        root: an element with an ID that is not part of another one. Sign an assertion before it becomes a part of a response.
    """
    signer = XMLSigner(
        signature_algorithm=key.method,
        digest_algorithm=DigestAlgorithm.SHA256,
        c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0,
    )
    copy = signer.sign(root, key=key.loaded, cert=key.certificate, id_attribute="ID")
    has_issuer = len(root) > 0 and root[0].tag == saml("Issuer")
    copy.insert(1 if has_issuer else 0, copy[-1])
    return copy
