"""Push messages through Amazon SNS, with the tenant's own key: `push` asks a device, `push_platform` brings what Google or
Apple gave the tenant. The payload has it all; it lies sealed until it is sent.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Final
from urllib.parse import urlencode

import httpx
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

from app.identity.platform.outbox.claims import Message
from app.identity.platform.outbox.sender import DeliveryError, Sender
from app.kit.aws import AwsKey, signed
from app.kit.clock import Clock

SECONDS: Final = 15
_FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"
_MOST_BYTES: Final = 64_000
_ENDPOINT = re.compile(r"<EndpointArn>\s*([^<\s]+)\s*</EndpointArn>")
_SAME = re.compile(r"Endpoint (arn:\S+) already exists")
_CODE = re.compile(r"<Code>\s*([A-Za-z.]{1,60})\s*</Code>")
_TRY_AGAIN: Final = frozenset({"Throttled", "Throttling", "ThrottlingException", "ThrottledException", "InternalError"})


class Sns(Sender):
    """Delivers `push` and `push_platform`.

    Args:
        url: where SNS is, if not at Amazon's own address of the tenant's region.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        self._url = url
        self._clock = clock
        self._http: httpx.Client | None = None

    def send(self, message: Message) -> None:
        """Deliver one message; raises DeliveryError, final where SNS refuses it for good or its request is over."""
        said = message.payload
        if message.kind == "push_platform":
            self._ask(said, "SetPlatformApplicationAttributes", _platform(said))
            return
        if said["expires_at"] <= self._clock.now().timestamp():
            raise DeliveryError("nobody waits for it any more", is_final=True)
        form = {"TargetArn": self._endpoint(said), "Message": _prompt(said), "MessageStructure": "json"}
        self._ask(said, "Publish", {**form, **_attributes(said)})

    def close(self) -> None:
        """Close the connection."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def _endpoint(self, said: dict[str, Any]) -> str:
        """Return SNS's name of the device: the same each time the same token is told."""
        form = {"PlatformApplicationArn": said["platform_arn"], "Token": said["device_token"]}
        try:
            told = self._ask(said, "CreatePlatformEndpoint", form)
        except _Refused as refusal:
            if (same := _SAME.search(refusal.text)) is None:
                raise
            return same[1]
        found = _ENDPOINT.search(told)
        if found is None:
            raise DeliveryError("SNS named no endpoint")
        return found[1]

    def _ask(self, said: dict[str, Any], action: str, form: dict[str, str]) -> str:
        self._http = self._http or httpx.Client(timeout=SECONDS, follow_redirects=False)
        url = self._url or f"https://sns.{said['region']}.amazonaws.com{'.cn' if said['region'][:3] == 'cn-' else ''}/"
        content = urlencode({"Action": action, "Version": "2010-03-31", **form}).encode()
        key = AwsKey(said["access_key_id"], said["secret_access_key"])
        headers = signed(key, said["region"], "sns", url, content, _FORM, self._clock.now())
        try:
            answer = self._http.post(url, content=content, headers=headers)
        except httpx.HTTPError as problem:
            raise DeliveryError(f"{type(problem).__name__}: {problem}") from None
        text = answer.content[:_MOST_BYTES].decode("utf-8", "replace")
        if answer.is_success:
            return text
        named = _CODE.search(text)
        code = named[1] if named else ""
        is_final = answer.is_client_error and code not in _TRY_AGAIN
        raise _Refused(f"{action}: SNS answered {answer.status_code} {code}".strip(), text, is_final=is_final)


class _Refused(DeliveryError):
    """What SNS said, which may name a token."""

    def __init__(self, problem: str, text: str, *, is_final: bool) -> None:
        super().__init__(problem, is_final=is_final)
        self.text = text


def _prompt(said: dict[str, Any]) -> str:
    """Return one message a service, each as JSON within JSON, as SNS wants it."""
    alert = {"title": said["data"]["title"], "body": said["message"]}
    told: dict[str, Any] = {"default": said["message"]}
    if said["apple"] is None:
        told["GCM"] = json.dumps({"notification": alert, "data": said["data"], "priority": "high"})
    else:
        name = "APNS_SANDBOX" if said["apple"]["is_sandbox"] else "APNS"
        told[name] = json.dumps({"aps": {"alert": alert, "sound": "default"}, **said["data"]})
    return json.dumps(told)


def _attributes(said: dict[str, Any]) -> dict[str, str]:
    """Return how long the message is good for, and whose it is at Apple."""
    apple, prefix = said["apple"], "AWS.SNS.MOBILE"
    if apple is None:
        stated = {f"{prefix}.GCM.TTL": said["lives_for_seconds"]}
    else:
        name = "APNS_SANDBOX" if apple["is_sandbox"] else "APNS"
        stated = {f"{prefix}.{name}.TTL": said["lives_for_seconds"], f"{prefix}.APNS.PUSH_TYPE": "alert"}
        if apple["bundle_id"]:
            stated[f"{prefix}.APNS.TOPIC"] = apple["bundle_id"]
    form: dict[str, str] = {}
    for number, (name, value) in enumerate(stated.items(), 1):
        entry = f"MessageAttributes.entry.{number}"
        form |= {f"{entry}.Name": name, f"{entry}.Value.DataType": "String", f"{entry}.Value.StringValue": str(value)}
    return form


def _platform(said: dict[str, Any]) -> dict[str, str]:
    """Return the attributes by which SNS speaks for the tenant at Google or Apple."""
    if said.get("service_json"):
        stated = {"PlatformCredential": str(said["service_json"])}
    else:
        try:
            key, certificate, _ = pkcs12.load_key_and_certificates(base64.b64decode(said["apns_certificate"]), None)
        except ValueError:
            key = certificate = None
        if key is None or certificate is None:
            raise DeliveryError("the APNs certificate is no PKCS 12 file without a password", is_final=True)
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        stated = {"PlatformCredential": private, "PlatformPrincipal": certificate.public_bytes(Encoding.PEM).decode()}
    form = {"PlatformApplicationArn": str(said["platform_arn"])}
    for number, (name, value) in enumerate(stated.items(), 1):
        form |= {f"Attributes.entry.{number}.key": name, f"Attributes.entry.{number}.value": value}
    return form
