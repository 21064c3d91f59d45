"""The OpenAPI document of a catalogue, with examples and code samples."""
