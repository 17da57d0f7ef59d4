"""Files: written whole or not at all (`files`), and saved states as named arrays with JSON beside them (`saving`)."""
