"""The lab: a local interactive page. Sliders change the world and the learners, and all curves are updated.

=================  ==============================================================================
`learners`         the table of available learners
`question`         a validated request of the page: a world, learners, a few numbers
`specification`    the request as a TOML file for `driftbandits run`, and as ten lines of Python
`asked`            a request with its cells
`answers`          the response, in parts: curves, details of the first trial, regret against γ
`trial_view`, `river`  details of one trial: estimates and confidence sets; policies and values
`server`           the HTTP server, for this machine only
`page/`            HTML, CSS and JavaScript files
=================  ==============================================================================

Every number on the page is computed from the cells that `driftbandits run` would run for the exported file.
"""

from .server import application, serve

__all__ = ["application", "serve"]
