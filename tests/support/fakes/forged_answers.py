"""Forged and malformed answers of an OpenID provider, each with the check that refuses it and the words of the log."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

from joserfc.jwk import OctKey

from app.contract.federation.connection_checks import ConnectionCheck
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider, key

_C = ConnectionCheck


def claims(**values: Any) -> Callable[[FakeProvider], None]:
    return lambda item: item.claims.update(values)


def answers(status: int, text: str, **headers: str) -> Callable[[FakeProvider], None]:
    """Let the token endpoint answer this."""
    return lambda item: item.answers.update({"/token": (status, headers, text.encode())})


def changes(**changed: Any) -> Callable[[FakeProvider], None]:
    def change(item: FakeProvider) -> None:
        for name, value in changed.items():
            setattr(item, name, value(item) if callable(value) else value)

    return change


FORGERIES: dict[str, tuple[ConnectionCheck, Callable[[FakeProvider], None], str]] = {
    "another issuer": (_C.ISS, claims(iss="https://evil.example"), "not good: iss"),
    "another audience": (_C.AUD, claims(aud="another"), "not good: aud"),
    "no audience": (_C.AUD, claims(aud=None), "not good: aud"),
    "another party": (_C.AZP, claims(azp="another"), "not good: azp"),
    "audiences without a party": (_C.AZP, claims(aud=[CLIENT, "another"]), "not good: azp"),
    "another nonce": (_C.NONCE, claims(nonce="another"), "not good: nonce"),
    "no nonce": (_C.NONCE, claims(nonce=None), "not good: nonce"),
    "no subject": (_C.SUB, claims(sub=None), "not good: sub"),
    "a subject that is a number": (_C.SUB, claims(sub=7), "not good: sub"),
    "an empty subject": (_C.MAPPING, claims(sub=""), "names nobody"),
    "a subject with a blank": (_C.MAPPING, claims(sub="ada-1815 "), "names nobody"),
    "a subject without end": (_C.MAPPING, claims(sub="a" * 256), "names nobody"),
    "over": (_C.EXP, claims(exp=1), "not good: exp"),
    "without end": (_C.EXP, claims(exp=None), "not good: exp"),
    "an end that is a text": (_C.EXP, claims(exp="9999999999"), "not good: exp"),
    "an end that is no number": (_C.EXP, claims(exp=float("nan")), "not good: exp"),
    "from tomorrow": (_C.IAT, claims(iat=9_999_999_999), "not good: iat"),
    "not before tomorrow": (_C.NBF, claims(nbf=9_999_999_999), "not good: nbf"),
    "another access token's": (_C.AT_HASH, claims(at_hash="AAAAAAAAAAAAAAAAAAAAAA"), "not good: at_hash"),
    "another key's": (_C.SIGNATURE, changes(key=lambda _: key(2), header=lambda _: {"kid": key(1).kid}), "none of the keys signed it"),
    "an unknown key": (_C.SIGNATURE, changes(header={"kid": "absent"}), "none of the keys signed it"),
    "unsigned": (_C.TOKEN_FORMAT, changes(id_token="eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."), "its alg is not accepted"),
    "signed with the client's secret": (
        _C.TOKEN_FORMAT,
        changes(key=OctKey.import_key(SECRET), header=lambda _: {"alg": "HS256", "kid": key(1).kid}),
        "its alg is not accepted",
    ),
    "signed with the public key as a secret": (
        _C.TOKEN_FORMAT, changes(id_token=lambda item: hmac_with_public_key(item)), "its alg is not accepted",
    ),
    "no token": (_C.TOKEN_FORMAT, answers(200, '{"access_token": "a", "token_type": "Bearer"}'), "cannot be read"),
    "a token that is a list": (_C.TOKEN_FORMAT, answers(200, '{"id_token": ["a"]}'), "cannot be read"),
    "an answer without end": (
        _C.TOKEN_ENDPOINT, answers(200, '{"access_token": "a", "expires_in": Infinity}'), "bytes that aren’t JSON",
    ),
    "lists in lists": (_C.TOKEN_ENDPOINT, answers(200, "[" * 100_000), "bytes that aren’t JSON"),
    "a header of lists in lists": (_C.TOKEN_FORMAT, changes(id_token=f"{'W1tb' * 1_900}.e30.e30"), "cannot be read"),
    "a list": (_C.TOKEN_ENDPOINT, answers(200, "[]"), "JSON that is a list"),
    "no JSON": (_C.TOKEN_ENDPOINT, answers(200, "<html>"), "an HTML page"),
    "a redirect": (_C.TOKEN_ENDPOINT, answers(307, "", Location="/else"), "HTTP 307, a redirect to /else"),
    "out of order": (_C.TOKEN_ENDPOINT, answers(500, "{}"), "HTTP 500"),
    "does not know us": (_C.TOKEN_ENDPOINT, answers(401, '{"error": "invalid_client"}'), "answered invalid_client"),
    "an error that is a list": (_C.TOKEN_ENDPOINT, answers(400, '{"error": ["invalid_grant"]}'), "17 characters that are no error code"),
    "too much": (_C.TOKEN_ENDPOINT, answers(200, '"' + "a" * 10_000_000 + '"'), "more than 256 kB"),
    "packed": (_C.TOKEN_ENDPOINT, answers(200, "x", **{"Content-Encoding": "gzip"}), "compressed by gzip"),
    "nothing": (_C.TOKEN_ENDPOINT, answers(200, "", **{"Content-Length": "9"}), "closed before the answer was complete"),
    "no keys": (_C.KEYS, changes(published=[]), "publishes no key"),
    "keys of other types": (_C.KEYS, changes(published=[7, {"kty": "RSA"}, {"kty": "oct", "k": "AAAA"}]), "publishes no key"),
    "answers as another issuer": (_C.ANSWER_ISSUER, changes(back={"iss": "https://evil.example"}), "another issuer's"),
}  # fmt: skip


def hmac_with_public_key(item: FakeProvider) -> str:
    parts = [{"alg": "HS256", "kid": key(1).kid}, {"iss": item.url, "sub": "ada"}]
    signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    mark = hmac.digest(key(1).as_pem(private=False), signed, "sha256")
    return b".".join([signed, urlsafe_b64encode(mark).rstrip(b"=")]).decode()
