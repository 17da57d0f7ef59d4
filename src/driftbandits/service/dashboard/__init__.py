"""The page of the service: `window` (the newest part of a log), `state` (what is drawn), `router` (its paths), `page/` (its files)."""
