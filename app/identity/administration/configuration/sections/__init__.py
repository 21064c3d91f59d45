"""The sections of a configuration file: what each changes when the file is applied."""
