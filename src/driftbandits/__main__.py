"""`python -m driftbandits` is the command `driftbandits`."""

from driftbandits_command import main

if __name__ == "__main__":
    main()
