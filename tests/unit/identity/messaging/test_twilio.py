"""Requests to Twilio have its documented form, and its refusals are interpreted."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import pytest

from app.identity.messaging.senders.twilio import Twilio
from app.identity.platform.outbox.sender import DeliveryError, Message
from app.kit.clock import FixedClock

MESSAGE = Message(
    "acme", "m1", "sms", {"to": "+4930123456", "text": "482913 & more", "sid": "SM1"}, 1, FixedClock().now()
)


class Gateway(HTTPServer):
    status = 201
    received: dict[str, object] = {}


class ProviderHandler(BaseHTTPRequestHandler):
    server: Gateway

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.received = {"path": self.path, "login": self.headers["Authorization"], "form": form}
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(json.dumps({"sid": "SM9", "code": 21211}).encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway(("127.0.0.1", 0), ProviderHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def at(gateway: Gateway) -> Twilio:
    return Twilio(f"twilio://AC1:s3cret@127.0.0.1:{gateway.server_port}?from=+15550100")


def test_message_is_sent_in_the_form_of_twilio(gateway: Gateway) -> None:
    sender = at(gateway)
    sender.send(MESSAGE)
    sender.close()
    assert gateway.received["path"] == "/2010-04-01/Accounts/AC1/Messages.json"
    assert gateway.received["login"] == "Basic " + base64.b64encode(b"AC1:s3cret").decode()
    assert gateway.received["form"] == {"To": ["+4930123456"], "From": ["+15550100"], "Body": ["482913 & more"]}


def test_voice_code_is_read_out_in_a_call(gateway: Gateway) -> None:
    sender = Twilio(f"twilio://AC1:s3cret@127.0.0.1:{gateway.server_port}?from=+15550100&voice=+15550101")
    sender.send(replace(MESSAGE, payload={**MESSAGE.payload, "spoken": "4, 8 < 9 & Söhne", "language": "de"}))
    sender.close()
    assert gateway.received["path"] == "/2010-04-01/Accounts/AC1/Calls.json"
    twiml = '<Response><Say language="de-DE">4, 8 &lt; 9 &amp; Söhne</Say></Response>'
    assert gateway.received["form"] == {"To": ["+4930123456"], "From": ["+15550101"], "Twiml": [twiml]}


@pytest.mark.parametrize(("status", "is_final"), [(400, True), (401, True), (429, False), (503, False)])
def test_only_a_permanent_refusal_is_final(gateway: Gateway, status: int, is_final: bool) -> None:
    gateway.status = status
    sender = at(gateway)
    with pytest.raises(DeliveryError, match=str(status)) as refusal:
        sender.send(MESSAGE)
    sender.close()
    assert refusal.value.is_final is is_final
