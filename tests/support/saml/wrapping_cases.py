"""Signature wrapping: the signed element is moved, and another one stands where it is read (XSW1 to 8 and more)."""

from __future__ import annotations

from collections.abc import Callable

from lxml import etree

from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.saml_rules import SamlRule
from tests.support.saml.cases import Case, case
from tests.support.saml.responses import SAML, SAMLP, find
from tests.support.saml.signers import DS

_R = SamlRule
_OBJECT = f"{{{DS}}}Object"
_ADVICE = f"{{{SAML}}}Advice"
Wrap = Callable[[etree._Element, etree._Element, etree._Element], object]
"""Takes the evil element, the signed one without its signature, and the signature; all three are without parents."""


def copy(element: etree._Element) -> etree._Element:
    return etree.fromstring(etree.tostring(element, with_tail=False))


def _evil(element: etree._Element, new_id: str = "_evil") -> etree._Element:
    """Return an unsigned copy for another subject, or with other addresses."""
    made = copy(element)
    for signature in list(made.iter(f"{{{DS}}}Signature")):
        parent = signature.getparent()
        assert parent is not None
        parent.remove(signature)
    made.set("ID", new_id)
    for name_id in made.iter("{*}NameID"):
        name_id.text = "admin@example.test"
    for element in made.iter():
        for name in {"AssertionConsumerServiceURL", "Location"} & set(map(str, element.attrib)):
            element.set(name, "https://evil.example/")
    return made


def _wrapped(wrap: Wrap, part: SignedPart, new_id: str) -> Callable[[etree._Element], None]:
    """Return the change of a signed response: its assertion, or its whole content, is replaced by an evil one."""

    def changed(root: etree._Element) -> None:
        signed = root if part is SignedPart.RESPONSE else find(root, "Assertion")
        original = copy(signed)
        signature = find(original, "Signature")
        original.remove(signature)
        evil = _evil(signed, new_id)
        if signed is root:
            for assertion in evil.iter(f"{{{SAML}}}Assertion"):
                assertion.set("ID", "_evil_assertion")
            wrap(evil, original, signature)
            for child in list(root):
                root.remove(child)
            root.extend(list(evil))
            root.attrib.update(evil.attrib)
        else:
            root.replace(signed, evil)
            wrap(evil, original, signature)

    return changed


def assertion_case(rule: SamlRule, name: str, wrap: Wrap, new_id: str = "_evil") -> Case:
    return case(rule, name, after=_wrapped(wrap, SignedPart.ASSERTION, new_id))


def response_case(rule: SamlRule, name: str, wrap: Wrap) -> Case:
    return case(rule, name, signed=SignedPart.RESPONSE, after=_wrapped(wrap, SignedPart.RESPONSE, "_evil"))


def _with(parent: etree._Element, *parts: etree._Element) -> etree._Element:
    parent.extend(parts)
    return parent


def _put(parent: etree._Element, child: etree._Element, place: int) -> etree._Element:
    """Insert a child and return its parent, which a lambda may put somewhere else."""
    parent.insert(place, child)
    return parent


def _renamed(element: etree._Element, tag: str) -> etree._Element:
    element.tag = tag
    return element


def _element(tag: str, *parts: etree._Element) -> etree._Element:
    return _with(etree.Element(tag), *parts)


def _beside(before: bool, has_signature: bool) -> Wrap:
    def wrap(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
        (original if has_signature else evil).insert(1, signature)
        (evil.addprevious if before else evil.addnext)(original)

    return wrap


def _in_extensions(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
    evil.insert(1, signature)
    evil.addprevious(_element(f"{{{SAMLP}}}Extensions", original))


def _evil_in_extensions(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
    original.insert(1, signature)
    evil.addnext(original)
    original.addprevious(_element(f"{{{SAMLP}}}Extensions", evil))


def _in(tag: str, has_signature: bool) -> Wrap:
    """Put the signed assertion into an element of the evil one."""

    def wrap(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
        (original if has_signature else evil).insert(1, signature)
        find(evil, tag).append(original)

    return wrap


def _first_of_two_signed(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
    """The signed element is the first child; behind it, a copy of its signature refers to the evil element around it."""
    own = copy(signature)
    find(own, "Reference").set("URI", f"#{evil.get('ID')}")
    original.insert(1, signature)
    evil.insert(0, original)
    evil.insert(2, own)


def _in_sibling(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
    evil.insert(1, signature)
    evil.addnext(_element("XSW_ATTACK", original))


def _signed_twice(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
    """The evil assertion has a signature of its own that refers to the signed one, which is inside."""
    original.insert(1, copy(signature))
    evil.insert(1, original)
    evil.insert(2, signature)


def _in_object(name: str) -> Wrap:
    def wrap(evil: etree._Element, original: etree._Element, signature: etree._Element) -> None:
        evil.insert(1, _with(signature, _element(name, original)))

    return wrap


ASSERTION_WRAPS = [
    assertion_case(_R.STRUCTURE, "XSW3: evil before the signed one", _beside(before=False, has_signature=True)),
    assertion_case(_R.STRUCTURE, "evil behind the signed one", _beside(before=True, has_signature=True)),
    assertion_case(_R.STRUCTURE, "XSW4: the signed one in the evil one", lambda evil, own, mark: _with(evil, _with(own, mark))),
    assertion_case(_R.STRUCTURE, "XSW5: signature in evil, original behind", _beside(before=False, has_signature=False)),
    assertion_case(_R.STRUCTURE, "signature in evil, original before", _beside(before=True, has_signature=False)),
    assertion_case(_R.STRUCTURE, "XSW6: original in the signature of evil", lambda evil, own, mark: _put(evil, _with(mark, own), 1)),
    assertion_case(_R.STRUCTURE, "XSW7: evil in Extensions", _evil_in_extensions),
    assertion_case(_R.STRUCTURE, "pysaml2 signed-xsw-assertion-extensions: original in Extensions", _in_extensions),
    assertion_case(_R.STRUCTURE, "pysaml2 signed-xsw-assertion-assertion: original at the end of evil",
                   lambda evil, own, mark: _with(_put(evil, mark, 1), own)),
    assertion_case(_R.STRUCTURE, "pysaml2 signed-xsw-assertion-in-assertion-first-sig: original before evil’s Issuer",
                   _first_of_two_signed),
    assertion_case(_R.STRUCTURE, "pysaml2 signed-xsw-assertion-wrapper: original in XSW_ATTACK", _in_sibling),
    assertion_case(_R.STRUCTURE, "XSW8: original in Object", _in_object(_OBJECT)),
    assertion_case(_R.STRUCTURE, "original in a foreign wrapper", _in_object("{urn:x}XSW")),
    assertion_case(_R.STRUCTURE, "original in evil, both signed", _signed_twice),
    assertion_case(_R.STRUCTURE, "original in evil’s Subject", _in("Subject", has_signature=False)),
    assertion_case(_R.STRUCTURE, "signed original in evil’s Subject", _in("Subject", has_signature=True)),
    assertion_case(_R.STRUCTURE, "original in evil’s Conditions", _in("Conditions", has_signature=False)),
    assertion_case(_R.STRUCTURE, "original in evil’s attribute value", _in("AttributeValue", has_signature=True)),
    assertion_case(_R.STRUCTURE, "original in SubjectConfirmationData", _in("SubjectConfirmationData", has_signature=False)),
    assertion_case(_R.STRUCTURE, "original in Advice", lambda evil, own, mark: _with(evil, mark, _element(_ADVICE, own))),
    assertion_case(_R.STRUCTURE, "original in KeyInfo", lambda evil, own, mark: (
        _with(find(mark, "KeyInfo"), own), _put(evil, mark, 1))),
    assertion_case(_R.STRUCTURE, "two elements of one ID", _beside(before=False, has_signature=True), "_assertion1"),
    assertion_case(_R.STRUCTURE, "one ID, signature in evil", _beside(before=True, has_signature=False), "_assertion1"),
    assertion_case(_R.VERIFIED, "evil under the signed ID", lambda evil, own, mark: _put(evil, mark, 1), "_assertion1"),
    assertion_case(_R.SIGNATURE_FORM, "signature of an absent element", lambda evil, own, mark: _put(evil, mark, 1)),
    assertion_case(_R.SIGNATURE_FORM, "signature in evil’s Subject",
                   lambda evil, own, mark: _with(find(evil, "Subject"), mark), "_assertion1"),
    assertion_case(_R.SIGNATURE_FORM, "original renamed, in Advice", lambda evil, own, mark: _with(
        _put(evil, mark, 1), _element(_ADVICE, _renamed(own, f"{{{SAML}}}Evidence")))),
    assertion_case(_R.VERIFIED, "signature dropped", lambda evil, own, mark: None, "_assertion1"),
]  # fmt: skip
RESPONSE_WRAPS = [
    response_case(_R.STRUCTURE, "XSW1: response in the signature", lambda evil, own, mark: _put(evil, _with(mark, own), 1)),
    response_case(_R.STRUCTURE, "XSW2: response before the signature", lambda evil, own, mark: _put(_put(evil, mark, 1), own, 1)),
    response_case(_R.STRUCTURE, "pysaml2 signed-xsw-response-in-response-first-sig: response before the Issuer", _first_of_two_signed),
    response_case(_R.STRUCTURE, "signed response in the response", lambda evil, own, mark: _put(evil, _with(own, mark), 1)),
    response_case(_R.STRUCTURE, "response in Object", lambda evil, own, mark: _put(evil, _with(mark, _element(_OBJECT, own)), 1)),
    response_case(_R.STRUCTURE, "response in Extensions", lambda evil, own, mark: _put(
        _put(evil, mark, 1), _element(f"{{{SAMLP}}}Extensions", own), 2)),
    response_case(_R.STRUCTURE, "response in the assertion’s Advice", lambda evil, own, mark: _with(
        find(_put(evil, mark, 1), "Assertion"), _element(_ADVICE, own))),
    response_case(_R.STRUCTURE, "response in Status", lambda evil, own, mark: _with(find(_put(evil, mark, 1), "Status"), own)),
    response_case(_R.SIGNATURE_FORM, "signature of an absent response", lambda evil, own, mark: _put(evil, mark, 1)),
    response_case(_R.SIGNATURE_FORM, "signature of the response at the assertion",
                  lambda evil, own, mark: _put(find(evil, "Assertion"), mark, 1)),
    response_case(_R.SIGNATURE_FORM, "signature of the response in Status", lambda evil, own, mark: _with(find(evil, "Status"), mark)),
]  # fmt: skip
WRAPPING_CASES = [*ASSERTION_WRAPS, *RESPONSE_WRAPS]
