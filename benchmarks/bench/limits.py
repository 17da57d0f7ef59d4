"""How far the kernels are from hand-written C and from BLAS: the table of bench_linear.py, as data."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))


def measure():
    """Rows of d, n, and ns per round: ours, C's, one dgemm's."""
    import bench_linear

    with tempfile.TemporaryDirectory() as scratch:
        return bench_linear.measure(bench_linear.c_loop(scratch))
