"""The lab: a local page on which sliders move worlds and learners, and every curve follows.

=================  ==============================================================================
`learners`         who may take part
`question`         what the page asks: a world, learners, a few numbers; checked
`specification`    the same as a TOML file for `driftbandits run`, and as ten lines of Python
`answers`          the answer, piece by piece: curves, then what happened inside, then regret against γ
`trial_view`, `river`  one trial looked into: estimates and confidence; policies and values
`server`           the page and its questions over HTTP, for this machine only
`page/`            HTML, CSS and JavaScript, as they are
=================  ==============================================================================

Every number on the page comes from the cells that `driftbandits run` would run for the exported file.
"""

from .server import application, serve

__all__ = ["application", "serve"]
