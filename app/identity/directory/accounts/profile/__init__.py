"""The profile of an account: its values, lists, edits, and the document of the interface."""
