"""Atomic writing of files and locks between processes (`files`); saved states as named arrays with JSON (`saving`)."""
