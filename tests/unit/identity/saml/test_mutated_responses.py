"""Whatever is done to a signed response: if the gate accepts it, it returns what was signed."""

from __future__ import annotations

from functools import cache

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from app.identity.platform.saml.expectations import AcceptedAssertion, SignedPart
from app.identity.platform.saml.response_gate import read_response
from app.identity.platform.saml.saml_rules import SamlRefusal
from tests.support.saml import signers
from tests.support.saml.responses import expected, response

PARTS = (SignedPart.ASSERTION, SignedPart.RESPONSE, SignedPart.BOTH)
PIECES = (
    b"admin@example.test", b"<x/>", b"<!---->", b"&amp;", b"&#x61;", b" ", b"\n", b"", b"<saml:Assertion>", b"</saml:Assertion>",
    b"<saml:NameID>admin</saml:NameID>", b'xmlns="urn:x"', b' xmlns:saml="urn:x"', b' ID="_assertion1"', b' Id="_assertion1"',
    b"#_response1",
)  # fmt: skip
FUZZ = settings(
    max_examples=250, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)  # fmt: skip


@cache
def signed(part: SignedPart) -> bytes:
    return response(signed=part)


@cache
def original(part: SignedPart) -> AcceptedAssertion:
    return read_response(signed(part), expected(), signers.NOW)


def assert_unchanged(content: bytes, part: SignedPart) -> bool:
    """Return whether a response was accepted; then it must say what was signed."""
    try:
        accepted = read_response(content, expected(), signers.NOW)
    except SamlRefusal:
        return False
    assert accepted == original(part)
    return True


@FUZZ
@given(st.sampled_from(PARTS), st.data())
def test_changed_bytes_never_change_what_is_read(part: SignedPart, data: st.DataObject) -> None:
    content = bytearray(signed(part))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 40))
        content[place : place + length] = data.draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)))
    assert_unchanged(bytes(content), part)


@FUZZ
@given(st.sampled_from(PARTS), st.data())
def test_moved_elements_never_change_what_is_read(part: SignedPart, data: st.DataObject) -> None:
    """Elements are copied or moved to other places, some with another subject, name or ID."""
    root = etree.fromstring(signed(part))
    for _ in range(data.draw(st.integers(1, 3))):
        elements = list(root.iter())
        moved = etree.fromstring(etree.tostring(data.draw(st.sampled_from(elements)), with_tail=False))
        if data.draw(st.booleans()):
            for name_id in moved.iter("{*}NameID"):
                name_id.text = "admin@example.test"
        if "ID" in moved.attrib and data.draw(st.booleans()):
            moved.set("ID", data.draw(st.sampled_from(["_evil", "_assertion1", "_response1"])))
        target = data.draw(st.sampled_from(elements))
        target.insert(data.draw(st.integers(0, len(target))), moved)
        if data.draw(st.booleans()):
            removed = data.draw(st.sampled_from(elements))
            parent = removed.getparent()
            if parent is not None:
                parent.remove(removed)
    assert_unchanged(etree.tostring(root), part)


@FUZZ
@given(st.sampled_from(PARTS), st.data())
def test_changed_attributes_never_change_what_is_read(part: SignedPart, data: st.DataObject) -> None:
    root = etree.fromstring(signed(part))
    values = sorted({str(value) for element in root.iter() for value in element.attrib.values()})
    for _ in range(data.draw(st.integers(1, 3))):
        element = data.draw(st.sampled_from(list(root.iter())))
        names = [*map(str, element.attrib), "ID", "Id", "Algorithm", "URI", "Version", "{urn:x}a"]
        element.set(data.draw(st.sampled_from(names)), data.draw(st.sampled_from([*values, "", "#_evil"])))
    assert_unchanged(etree.tostring(root), part)


def test_harmless_change_is_accepted() -> None:
    """The properties above would hold of a gate that refuses everything."""
    again = etree.tostring(etree.fromstring(signed(SignedPart.ASSERTION)), xml_declaration=True, encoding="utf-8")
    assert assert_unchanged(again.replace(b'"', b"'"), SignedPart.ASSERTION)
