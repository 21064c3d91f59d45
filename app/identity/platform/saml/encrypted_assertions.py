"""Decrypts an EncryptedAssertion (saml-core-2.0 section 2.3.4): RSA-OAEP, then AES-GCM, or AES-CBC by a switch."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.identity.platform.saml.saml_names import ENCRYPTION, ENCRYPTION_11, SIGNATURE, ds, xenc
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.xml_elements import only_child, optional_child

if TYPE_CHECKING:
    from lxml.etree import _Element

_GCM: Final = {f"{ENCRYPTION_11}aes{bits}-gcm": bits // 8 for bits in (128, 192, 256)}
_CBC: Final = {f"{ENCRYPTION}aes{bits}-cbc": bits // 8 for bits in (128, 192, 256)}
"""The algorithms of the content, and the lengths of their keys in bytes."""
_OAEP: Final = f"{ENCRYPTION}rsa-oaep-mgf1p"
_OAEP_11: Final = f"{ENCRYPTION_11}rsa-oaep"
RECOMMENDED: Final = (*reversed(_GCM), _OAEP_11, _OAEP)
"""What metadata tells providers to encrypt with, the strongest first."""
_OAEP_DIGESTS: Final[dict[str | None, type[hashes.HashAlgorithm]]] = {
    None: hashes.SHA1,  # the default of the specification; OAEP does not need a hash without collisions
    f"{SIGNATURE}sha1": hashes.SHA1,
    f"{ENCRYPTION}sha256": hashes.SHA256,
    f"{ENCRYPTION}sha512": hashes.SHA512,
}
_OAEP_MASKS: Final[dict[str | None, type[hashes.HashAlgorithm]]] = {
    None: hashes.SHA1,
    f"{ENCRYPTION_11}mgf1sha1": hashes.SHA1,
    f"{ENCRYPTION_11}mgf1sha256": hashes.SHA256,
    f"{ENCRYPTION_11}mgf1sha512": hashes.SHA512,
}
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_BLOCK_BYTES: Final = 16
_MAX_KEYS: Final = 4


@dataclass(frozen=True)
class DecryptionKeys:
    """The private keys of this service for one connection: the present one and, for some time, the former one."""

    keys: tuple[rsa.RSAPrivateKey, ...] = ()
    accepts_cbc: bool = False
    """AES-CBC has no integrity of its own: it is accepted only within a response whose signature was verified."""

    def __post_init__(self) -> None:
        if len(self.keys) > _MAX_KEYS:
            raise ValueError(f"a connection has at most {_MAX_KEYS} keys for decryption")


def decrypted(encrypted: _Element, keys: DecryptionKeys, *, is_verified: bool) -> bytes:
    """Return the content of an EncryptedAssertion, of which nothing is verified by its decryption.

    All failures of the cryptography have one text, so that an answer tells nothing of the key or the padding.

    Args:
        is_verified: whether the element is of a response whose signature was verified.

    Raises:
        SamlRefusal: ENCRYPTION, or STRUCTURE for a wrong form.
    """
    content = only_child(encrypted, xenc("EncryptedData"))
    algorithm = str(only_child(content, xenc("EncryptionMethod")).get("Algorithm"))
    is_cbc = algorithm in _CBC
    if not is_cbc and algorithm not in _GCM:
        raise _refused_algorithm("AES-GCM", algorithm)
    if is_cbc and not (keys.accepts_cbc and is_verified):
        raise _refused_algorithm("AES-GCM; AES-CBC only if it is switched on, in a signed response", algorithm)
    encrypted_key = _encrypted_key(encrypted, content)
    scheme = _key_scheme(only_child(encrypted_key, xenc("EncryptionMethod")))
    wrapped, cipher = _cipher_value(encrypted_key), _cipher_value(content)
    length = _CBC[algorithm] if is_cbc else _GCM[algorithm]
    for key in _content_keys(wrapped, scheme, keys, length):
        plain = _cbc(key, cipher) if is_cbc else _gcm(key, cipher)
        if plain is not None:
            return plain
    raise SamlRefusal(
        SamlRule.ENCRYPTION,
        "The assertion can’t be decrypted.",
        expected="an assertion encrypted for the current certificate of this connection",
    )


def _encrypted_key(encrypted: _Element, content: _Element) -> _Element:
    """Return the only EncryptedKey: in the KeyInfo of the content, or beside it."""
    info = optional_child(content, ds("KeyInfo"))
    inside = [] if info is None else [child for child in info if child.tag == xenc("EncryptedKey")]
    beside = [child for child in encrypted if child.tag == xenc("EncryptedKey")]
    found = list(encrypted.iter(xenc("EncryptedKey")))
    if len(found) != 1 or [*inside, *beside] != found or len(encrypted) != 1 + len(beside):
        raise SamlRefusal(
            SamlRule.ENCRYPTION,
            "The encrypted assertion must have one key.",
            expected="one EncryptedKey in KeyInfo or beside EncryptedData",
            received=str(len(found)),
        )
    return found[0]


def _key_scheme(method: _Element) -> padding.OAEP:
    algorithm = str(method.get("Algorithm"))
    if algorithm not in {_OAEP, _OAEP_11}:
        raise _refused_algorithm("RSA-OAEP", algorithm)
    digest = optional_child(method, ds("DigestMethod"))
    mask = optional_child(method, f"{{{ENCRYPTION_11}}}MGF")
    unknown = [child for child in method if child is not digest and child is not mask]
    digest_name = None if digest is None else str(digest.get("Algorithm"))
    mask_name = None if mask is None or algorithm == _OAEP else str(mask.get("Algorithm"))
    if unknown or digest_name not in _OAEP_DIGESTS or mask_name not in _OAEP_MASKS:
        raise _refused_algorithm(
            "RSA-OAEP with SHA-1, SHA-256 or SHA-512, without other parameters", digest_name or mask_name or algorithm
        )
    return padding.OAEP(padding.MGF1(_OAEP_MASKS[mask_name]()), _OAEP_DIGESTS[digest_name](), None)


def _content_keys(wrapped: bytes, scheme: padding.OAEP, keys: DecryptionKeys, length: int) -> Iterator[bytes]:
    for private in keys.keys:
        try:
            key = private.decrypt(wrapped, scheme)
        except ValueError:
            continue
        if len(key) == length:
            yield key


def _gcm(key: bytes, cipher: bytes) -> bytes | None:
    if len(cipher) <= _NONCE_BYTES + _TAG_BYTES:
        return None
    try:
        return AESGCM(key).decrypt(cipher[:_NONCE_BYTES], cipher[_NONCE_BYTES:], None)
    except InvalidTag:
        return None


def _cbc(key: bytes, cipher: bytes) -> bytes | None:
    """The last byte is the length of the padding, whose other bytes may be any (XML Encryption, section 5.2)."""
    if len(cipher) < 2 * _BLOCK_BYTES or len(cipher) % _BLOCK_BYTES:
        return None
    decryptor = Cipher(algorithms.AES(key), modes.CBC(cipher[:_BLOCK_BYTES])).decryptor()
    plain = decryptor.update(cipher[_BLOCK_BYTES:]) + decryptor.finalize()
    return plain[: -plain[-1]] if 1 <= plain[-1] <= _BLOCK_BYTES else None


def _cipher_value(element: _Element) -> bytes:
    value = only_child(only_child(element, xenc("CipherData")), xenc("CipherValue"))
    try:
        if len(value) == 0:
            return base64.b64decode("".join((value.text or "").split()), validate=True)
    except (binascii.Error, ValueError):
        pass
    raise SamlRefusal(SamlRule.ENCRYPTION, "An encrypted value isn’t base64.", received="CipherValue")


def _refused_algorithm(expected: str, received: str) -> SamlRefusal:
    return SamlRefusal(
        SamlRule.ENCRYPTION, "The encryption algorithm isn’t accepted.", expected=expected, received=received
    )
