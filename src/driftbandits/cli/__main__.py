"""`python -m driftbandits.cli`, as the command."""

from . import main

main()
