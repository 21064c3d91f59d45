"""The folder of a theme: reads and writes the brand, its texts, templates and files."""
