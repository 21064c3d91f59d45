"""The gateway hears what Twilio's would, and its refusals are understood."""

import base64
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs

import pytest

from app.identity.messaging.senders.twilio import Twilio
from app.identity.platform.outbox.claims import Message
from app.identity.platform.outbox.sender import DeliveryError

MESSAGE = Message("acme", "m1", "sms", {"to": "+4930123456", "text": "482913 & more", "sid": "SM1"}, 1)


class Gateway(HTTPServer):
    status = 201
    heard: dict[str, object] = {}


class Answer(BaseHTTPRequestHandler):
    server: Gateway

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.server.heard = {"path": self.path, "login": self.headers["Authorization"], "form": form}
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write(json.dumps({"sid": "SM9", "code": 21211}).encode())

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with Gateway(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def at(gateway: Gateway) -> Twilio:
    return Twilio(f"twilio://AC1:s3cret@127.0.0.1:{gateway.server_port}?from=+15550100")


def test_a_message_is_sent_as_twilio_takes_it(gateway: Gateway) -> None:
    sender = at(gateway)
    sender.send(MESSAGE)
    sender.close()
    assert gateway.heard["path"] == "/2010-04-01/Accounts/AC1/Messages.json"
    assert gateway.heard["login"] == "Basic " + base64.b64encode(b"AC1:s3cret").decode()
    assert gateway.heard["form"] == {"To": ["+4930123456"], "From": ["+15550100"], "Body": ["482913 & more"]}


def test_a_code_is_read_out_in_a_call_where_it_is_wanted(gateway: Gateway) -> None:
    sender = Twilio(f"twilio://AC1:s3cret@127.0.0.1:{gateway.server_port}?from=+15550100&voice=+15550101")
    sender.send(replace(MESSAGE, payload={**MESSAGE.payload, "spoken": "4, 8 < 9 & Söhne", "language": "de"}))
    sender.close()
    assert gateway.heard["path"] == "/2010-04-01/Accounts/AC1/Calls.json"
    said = '<Response><Say language="de-DE">4, 8 &lt; 9 &amp; Söhne</Say></Response>'
    assert gateway.heard["form"] == {"To": ["+4930123456"], "From": ["+15550101"], "Twiml": [said]}


@pytest.mark.parametrize(("status", "is_final"), [(400, True), (401, True), (429, False), (503, False)])
def test_only_a_lasting_refusal_is_final(gateway: Gateway, status: int, is_final: bool) -> None:
    gateway.status = status
    sender = at(gateway)
    with pytest.raises(DeliveryError, match=str(status)) as refusal:
        sender.send(MESSAGE)
    sender.close()
    assert refusal.value.is_final is is_final
