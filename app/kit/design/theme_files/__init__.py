"""Static files of a theme: pictures and fonts, by their names, content and addresses."""
