"""The rules of the SAML gate in one sentence each, with the tests that show them beside those of every hostile message."""

from __future__ import annotations

from collections.abc import Mapping

from app.identity.platform.saml.saml_rules import SamlRule

EVERY_RULE = ("test_hostile_response_is_refused_by_its_rule", "test_case_of_a_response_is_refused_here_too")
"""The tests that send each message of the tables; their names are stated once."""
RULES: Mapping[SamlRule, tuple[str, tuple[str, ...]]] = {
    SamlRule.SIZE: (
        "Each parameter is there once, and bounded before decoding, while inflating and while reading.",
        ("test_content_that_does_not_inflate_is_refused", "test_message_of_twelve_megabytes_is_not_read"),
    ),
    SamlRule.PARSER: (
        "One parser, without document types, entities and external documents.",
        ("test_hostile_document_is_refused_by_its_rule",),
    ),
    SamlRule.NODES: (
        "Elements and text alone: no comments, processing instructions or CDATA sections. Metadata may have comments, which are dropped.",
        ("test_comment_in_name_id_is_refused", "test_comments_of_metadata_are_dropped"),
    ),
    SamlRule.STRUCTURE: (
        "The expected root, one assertion as its child, and IDs that are unique.",
        ("test_message_of_another_kind_is_refused",),
    ),
    SamlRule.SIGNATURE_FORM: (
        "A signature is a child of what it signs, with one reference to it, and canonicalizes as expected.",
        ("test_wrapped_message_is_refused", "test_redirect_with_signature_inside_is_refused"),
    ),
    SamlRule.ALGORITHM: ("RSA or ECDSA with SHA-256 or stronger.", ("test_changed_query_is_refused",)),
    SamlRule.KEY: (
        "The keys are those of the connection, never those of the message. RSA has 2,048 bits or more.",
        ("test_signed_request_of_a_peer_without_keys_is_refused", "test_expired_pinned_certificate_signs_nobody_in"),
    ),
    SamlRule.VERIFIED: (
        "Only what was signed is read.",
        ("test_message_changed_after_signing_is_refused", "test_unsigned_message_is_refused"),
    ),
    SamlRule.TEXT: ("A value is the whole text of its element, and bounded.", ("test_long_name_id_is_refused",)),
    SamlRule.CONDITIONS: (
        "Issuer, audience, recipient, destination, request, times, status and confirmation are the expected ones.",
        ("test_answer_is_for_the_host_where_it_was_asked_for",),
    ),
    SamlRule.REPLAY: (
        "Each assertion and each signed request works once.",
        ("test_one_of_many_concurrent_uses_succeeds", "test_race_of_one_answer_signs_in_once"),
    ),
    SamlRule.REQUEST: (
        "A request selects among registered values only.",
        ("test_unsigned_request_selects_registered_values_only", "test_index_of_no_registered_address_is_refused"),
    ),
    SamlRule.ENCRYPTION: (
        "RSA-OAEP with AES-GCM; what was encrypted passes all rules again.",
        ("test_answer_encrypted_by_cbc_is_refused_and_explained",),
    ),
    SamlRule.METADATA: (
        "Metadata is of the expected entity, has usable keys and addresses, and replaces no key without an overlap.",
        ("test_hostile_metadata_is_refused_by_its_rule", "test_hostile_metadata_replaces_no_key"),
    ),
}
