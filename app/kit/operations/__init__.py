"""How operations are declared, served and called: models of the wire, errors, the server, the client."""
