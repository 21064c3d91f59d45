"""The writer of SAML: builds and signs the messages and the metadata of both roles. What peers send is read by the gate alone."""
