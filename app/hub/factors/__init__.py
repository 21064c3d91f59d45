"""How pages show each authenticator: name, form, samples. One module each."""
