"""The settings with a dot in their names, a file for each section."""
