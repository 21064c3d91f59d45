"""Other people’s implementations of SAML, as programs and libraries on this machine."""
