"""Responses that are refused as documents: sizes, encodings, nodes, structure (rules 1 to 4)."""

from __future__ import annotations

from lxml import etree

from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.saml_rules import SamlRule
from tests.support.saml.cases import Case, case, edited, prefixed, replaced
from tests.support.saml.responses import (
    ASSERTION_ID,
    SAML,
    SAMLP,
    added,
    attribute,
    doubled,
    find,
    removed,
    response,
)

_R = SamlRule
_ADA = b"ada@example.test"
_STATUS = b"<samlp:Status>"
_XXE = b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
_BOMB = b"<!DOCTYPE r [" + b"".join(
    b'<!ENTITY e%d "%s">' % (number, b"&e%d;" % (number - 1) * 10 if number else b"ha") for number in range(10)
) + b"]>"  # fmt: skip
_DEFAULT_ID = b'<!DOCTYPE r [<!ATTLIST Assertion ID CDATA "_x">]>'


def _elements(count: int) -> bytes:
    return b"<samlp:Extensions>" + b"<a xmlns='urn:a'/>" * count + b"</samlp:Extensions>"


def _nested(depth: int) -> bytes:
    return b"<samlp:Extensions>" + b"<a:b xmlns:a='urn:a'>" * depth + b"</a:b>" * depth + b"</samlp:Extensions>"


def _attributes(count: int, form: bytes) -> bytes:
    return (
        b"<samlp:Extensions><b xmlns='urn:a'"
        + b"".join(form % number for number in range(count))
        + b"/></samlp:Extensions>"
    )


def _inserted(rule: SamlRule, name: str, content: bytes) -> Case:
    return replaced(rule, name, _STATUS, content + _STATUS)


def _id_at(element: str, name: str, value: str) -> Case:
    return case(
        _R.STRUCTURE,
        f"{name}={value} at {'the root' if element == '*' else element}",
        after=attribute(element, name, value),
    )


def _in_namespace(root: etree._Element) -> None:
    find(root, "Assertion").tag = "{urn:other}Assertion"


DOCUMENT_CASES = [
    edited(_R.SIZE, "12 MB", lambda good, _: good + b" " * 12_000_000),
    _inserted(_R.SIZE, "100,000 elements", _elements(50_000)),
    _inserted(_R.SIZE, "100,000 attributes", _attributes(90_000, b" a%d=''")),
    _inserted(_R.SIZE, "5,000 attributes of one element", _attributes(5_000, b" a%d=''")),
    _inserted(_R.SIZE, "5,000 namespaces of one element", _attributes(5_000, b" xmlns:a%d='urn:a'")),
    _inserted(_R.SIZE, "200 levels", _nested(200)),
    _inserted(_R.PARSER, "3,000 levels", _nested(3_000)),
    edited(_R.PARSER, "external entity", lambda good, at: _XXE + good.replace(at(_ADA), b"&e;")),
    edited(_R.PARSER, "entity bomb", lambda good, at: _BOMB + good.replace(at(_ADA), b"&e9;")),
    prefixed(_R.PARSER, "external document type", b'<!DOCTYPE r SYSTEM "http://127.0.0.1/x.dtd">'),
    prefixed(_R.PARSER, "default attribute by a document type", _DEFAULT_ID),
    prefixed(_R.NODES, "document type in small letters", b"<!doctype r>"),
    replaced(_R.PARSER, "undeclared entity", _ADA, b"ada&amp;&e;"),
    replaced(_R.PARSER, "cut off", b"</samlp:Response>", b""),
    replaced(_R.PARSER, "two roots", b"</samlp:Response>", b"</samlp:Response><x/>"),
    replaced(_R.PARSER, "NUL", _ADA, b"ada\0"),
    replaced(_R.PARSER, "control character", _ADA, b"ada&#1;"),
    replaced(_R.PARSER, "invalid UTF-8", _ADA, b"ada\xff"),
    replaced(_R.PARSER, "overlong UTF-8", _ADA, b"ada\xc0\xbcadmin"),
    replaced(_R.PARSER, "surrogate in UTF-8", _ADA, b"ada\xed\xa0\x80"),
    replaced(_R.PARSER, "attribute twice", b'Version="2.0"', b'Version="2.0" Version="2.0"'),
    replaced(_R.PARSER, "undeclared prefix", _STATUS, b"<x:y/>" + _STATUS),
    edited(_R.PARSER, "UTF-16", lambda good, _: good.decode().encode("utf-16")),
    edited(_R.PARSER, "UTF-16 without mark", lambda good, _: good.decode().encode("utf-16-be")),
    edited(_R.PARSER, "UTF-32", lambda good, _: good.decode().encode("utf-32")),
    prefixed(_R.PARSER, "declared UTF-7", b'<?xml version="1.0" encoding="UTF-7"?>'),
    prefixed(_R.PARSER, "declared ISO 8859-1", b'<?xml version="1.0" encoding="ISO-8859-1"?>'),
    prefixed(_R.PARSER, "declared UTF-16", b'<?xml version="1.0" encoding="UTF-16"?>'),
    prefixed(_R.PARSER, "XML 1.1", b'<?xml version="1.1"?>'),
    edited(_R.PARSER, "EBCDIC", lambda good, _: good.decode().encode("cp037")),
    edited(_R.PARSER, "empty", lambda *_: b""),
    edited(_R.PARSER, "JSON", lambda *_: b'{"a": 1}'),
    replaced(_R.NODES, "comment in NameID", _ADA, b"admin@example.test<!---->.evil.example"),
    replaced(_R.NODES, "comment in a value", b">staff<", b">staff<!-- -->s<"),
    replaced(_R.NODES, "comment between elements", _STATUS, b"<!-- -->" + _STATUS),
    replaced(_R.NODES, "comment behind the root", b"</samlp:Response>", b"</samlp:Response><!-- -->"),
    replaced(_R.NODES, "processing instruction in NameID", _ADA, b"admin@example.test<?x?>.evil.example"),
    replaced(_R.NODES, "style sheet", b"<samlp:Response", b'<?xml-stylesheet href="x"?><samlp:Response'),
    replaced(_R.NODES, "CDATA section in NameID", _ADA, b"<![CDATA[ada@example.test]]>"),
    prefixed(_R.NODES, "second XML declaration", b'<?xml version="1.0"?><?xml version="1.0"?>'),
    Case(_R.STRUCTURE, "assertion as root", lambda: etree.tostring(find(etree.fromstring(response()), "Assertion"))),
    edited(_R.STRUCTURE, "another root", lambda good, at: good.replace(at(b"samlp:Response"), at(b"samlp:Other"))),
    Case(
        _R.STRUCTURE,
        "root of SAML 1.1",
        lambda: response().replace(SAMLP.encode(), b"urn:oasis:names:tc:SAML:1.0:protocol"),
    ),
    case(_R.STRUCTURE, "no assertion", change=removed("Assertion")),
    case(_R.STRUCTURE, "two assertions", after=added("Response", f'<a:Assertion xmlns:a="{SAML}" ID="_2"/>', 3)),
    case(_R.STRUCTURE, "the assertion twice", after=doubled("Assertion")),
    case(
        _R.STRUCTURE, "an encrypted one beside", after=added("Response", f'<a:EncryptedAssertion xmlns:a="{SAML}"/>', 2)
    ),
    case(_R.STRUCTURE, "an assertion of another namespace", change=_in_namespace),
    case(_R.STRUCTURE, "a foreign element in the response", after=added("Response", "<x/>")),
    case(_R.STRUCTURE, "a foreign element in the assertion", change=added("Assertion", "<x/>", 1)),
    case(
        _R.STRUCTURE,
        "an assertion in Advice",
        change=added("Assertion", f'<a:Advice xmlns:a="{SAML}"><a:Assertion ID="_2"/></a:Advice>', 3),
    ),
    case(
        _R.STRUCTURE,
        "an assertion in Extensions",
        after=added("Response", f'<p:Extensions xmlns:p="{SAMLP}"><a:Assertion xmlns:a="{SAML}"/></p:Extensions>', 1),
    ),
    case(_R.STRUCTURE, "a response in a value", change=added("AttributeValue", f'<p:Response xmlns:p="{SAMLP}"/>')),
    _id_at("Response", "ID", ASSERTION_ID),
    _id_at("Status", "ID", ASSERTION_ID),
    _id_at("Status", "Id", "_x"),
    _id_at("Status", "id", "_x"),
    _id_at("*", "{http://www.w3.org/XML/1998/namespace}id", "_x"),
    _id_at("*", "{urn:other}ID", "_x"),
    _id_at("Signature", "ID", "_x"),
    _id_at("Signature", "Id", ASSERTION_ID),
    _id_at("SignedInfo", "Id", "a b"),
    _id_at("*", "ID", ""),
    _id_at("*", "ID", "ä"),
    _inserted(_R.STRUCTURE, "a relative namespace", b'<samlp:Extensions><a:b xmlns:a="urn"/></samlp:Extensions>'),
    _inserted(_R.STRUCTURE, "an empty namespace", b'<samlp:Extensions xmlns=""/>'),
    case(_R.STRUCTURE, "version 1.1", change=attribute("*", "Version", "1.1")),
    case(_R.STRUCTURE, "assertion without version", change=attribute("Assertion", "Version", None)),
    case(_R.STRUCTURE, "two issuers", change=doubled("Issuer")),
    case(_R.STRUCTURE, "two subjects", change=doubled("Subject")),
    case(_R.STRUCTURE, "two NameIDs", change=doubled("NameID")),
    case(_R.STRUCTURE, "no NameID", change=removed("NameID")),
    case(_R.STRUCTURE, "two confirmations", change=doubled("SubjectConfirmation")),
    case(_R.STRUCTURE, "two Conditions", change=doubled("Conditions")),
    case(_R.STRUCTURE, "no AuthnStatement", change=removed("AuthnStatement")),
    case(_R.STRUCTURE, "attribute without name", change=attribute("Attribute", "Name", None)),
    case(_R.STRUCTURE, "status twice", change=doubled("Status"), signed=SignedPart.RESPONSE),
    case(_R.STRUCTURE, "no status", change=removed("Status")),
]
