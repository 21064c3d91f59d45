"""Reads an XML document within limits: no document type, entity, processing instruction or relative namespace, bounded in every size.

The limits are checked on the bytes first, so that no tree is built of a document that is refused for its size. A tree takes
some 200 bytes for each tag and attribute, and verifying a signature copies it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lxml import etree

from app.identity.platform.saml import saml_names
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule

if TYPE_CHECKING:
    from lxml.etree import _Element


@dataclass(frozen=True)
class DocumentLimits:
    """What a document may have at most."""

    size_bytes: int
    tags: int
    """Start and end tags."""
    attributes: int
    """Attributes and declarations of namespaces, of all elements; counted as equals signs."""
    has_comments: bool = False
    """Whether comments and CDATA sections are accepted; comments are dropped."""


MESSAGE_LIMITS: Final = DocumentLimits(size_bytes=1 << 20, tags=8_000, attributes=8_000)
METADATA_LIMITS: Final = DocumentLimits(size_bytes=2 << 20, tags=8_000, attributes=8_000, has_comments=True)
_MAX_DEPTH: Final = 32
_MAX_OF_ELEMENT: Final = 64
"""Attributes of one element, and namespaces in its scope."""
_XML_DECLARATION: Final = re.compile(
    rb"""<\?xml\s+version\s*=\s*["']1\.0["'](?:\s+encoding\s*=\s*["'](?i:utf-8)["'])?(?:\s+standalone\s*=\s*["'](?:yes|no)["'])?\s*\?>"""
)
_NO_COMMENT: Final = re.compile(rb"<!(?!--|\[CDATA\[)")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:", re.ASCII)
_ID: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,255}", re.ASCII)
_ID_ATTRIBUTES: Final = {
    saml_names.ASSERTION: "ID",
    saml_names.PROTOCOL: "ID",
    saml_names.METADATA: "ID",
    saml_names.SIGNATURE: "Id",
    saml_names.ENCRYPTION: "Id",
}


def read_xml(content: bytes, limits: DocumentLimits = MESSAGE_LIMITS) -> _Element:
    """Return the root of an untrusted document. Raises SamlRefusal."""
    content = content.removeprefix(b"\xef\xbb\xbf")
    _check_bytes(content, limits)
    try:
        root = etree.fromstring(content, xml_parser(limits))
    except (etree.XMLSyntaxError, ValueError) as problem:
        raise SamlRefusal(SamlRule.PARSER, "The message isn’t well-formed XML in UTF-8.") from problem
    _check_tree(root)
    return root


def xml_parser(limits: DocumentLimits = MESSAGE_LIMITS) -> etree.XMLParser:
    """Return the parser of all SAML documents: it reads no document type, no entity and no other document."""
    return etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        no_network=True,
        huge_tree=False,
        recover=False,
        remove_comments=limits.has_comments,
        strip_cdata=True,
        collect_ids=False,
    )


def _check_bytes(content: bytes, limits: DocumentLimits) -> None:
    if len(content) > limits.size_bytes:
        raise SamlRefusal(
            SamlRule.SIZE,
            "The message is too long.",
            expected=f"{limits.size_bytes} bytes",
            received=f"{len(content)} bytes",
        )
    declaration = _XML_DECLARATION.match(content)
    body_start = declaration.end() if declaration else 0
    if not declaration and content.startswith((b"<?xml ", b"<?xml\t", b"<?xml\r", b"<?xml\n")):
        raise SamlRefusal(SamlRule.PARSER, "The XML declaration isn’t that of XML 1.0 in UTF-8.")
    _check_declarations(content, body_start, limits)
    for sign, name, most in ((b"<", "tags", limits.tags), (b"=", "attributes", limits.attributes)):
        if (count := content.count(sign)) > most:
            raise SamlRefusal(
                SamlRule.SIZE, f"The message has too many {name}.", expected=f"at most {most}", received=str(count)
            )


def _check_declarations(content: bytes, start: int, limits: DocumentLimits) -> None:
    """Refuse what begins with `<!` or `<?`: in XML nothing else has these characters, except comments and CDATA sections."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise SamlRefusal(SamlRule.PARSER, "The message has a document type declaration.", received="<!DOCTYPE")
    if content.find(b"<?", start) >= 0:
        raise SamlRefusal(SamlRule.NODES, "The message has a processing instruction.", received="<?")
    if _NO_COMMENT.search(content) if limits.has_comments else b"<!" in content:
        raise SamlRefusal(SamlRule.NODES, "The message has a comment, a CDATA section or a declaration.", received="<!")


def _check_tree(root: _Element) -> None:
    if root.getprevious() is not None or root.getnext() is not None:
        raise SamlRefusal(SamlRule.NODES, "The message has more than its root element.")
    ids: set[str] = set()
    depth = 0
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "end":
            depth -= 1
            continue
        if event != "start" or not isinstance(element.tag, str):
            raise SamlRefusal(SamlRule.NODES, "The message has a node that is neither an element nor text.")
        depth += 1
        if depth > _MAX_DEPTH:
            raise SamlRefusal(
                SamlRule.SIZE, "The elements of the message are nested too deep.", expected=f"{_MAX_DEPTH} levels"
            )
        _check_element(element, ids)
    if next(root.iter(etree.Entity), None) is not None:
        raise SamlRefusal(SamlRule.NODES, "The message has an entity reference.")


def _check_element(element: _Element, ids: set[str]) -> None:
    if len(element.attrib) > _MAX_OF_ELEMENT or len(element.nsmap) > _MAX_OF_ELEMENT:
        raise SamlRefusal(
            SamlRule.SIZE, "An element has too many attributes or namespaces.", expected=f"{_MAX_OF_ELEMENT} of each"
        )
    for namespace in element.nsmap.values():
        if not _ABSOLUTE.match(namespace):
            raise SamlRefusal(SamlRule.STRUCTURE, "A namespace isn’t an absolute URI.", received=namespace)
    for name, value in element.attrib.items():
        if str(name).rpartition("}")[2].lower() == "id":
            _check_id(element, str(name), str(value), ids)


def _check_id(element: _Element, name: str, value: str, ids: set[str]) -> None:
    """Only the ID of a SAML element or of a signature may have this name: what a reference means must never be a choice."""
    expected = _ID_ATTRIBUTES.get(str(element.tag).partition("}")[0][1:])
    if name != expected:
        raise SamlRefusal(
            SamlRule.STRUCTURE, "An element has an ID under another name.", expected=expected or "no ID", received=name
        )
    if not _ID.fullmatch(value):
        raise SamlRefusal(SamlRule.STRUCTURE, "An ID isn’t an XML name in ASCII of at most 256 characters.")
    if value in ids:
        raise SamlRefusal(SamlRule.STRUCTURE, "An ID occurs twice in the message.", received=value)
    ids.add(value)
