"""Make the site's math font: `python tools/math_font.py DejaVuMathTeXGyre.ttf docs/static/math.woff`.

A subset of DejaVu Math TeX Gyre (Bitstream Vera licence; DejaVu's changes and the mathematical extensions are in the public domain) with
the characters of formulas and its MATH table. The licence asks that a changed font has another name: it is called Drift Math.
"""

import sys

from fontTools import subset

RANGES = (
    *((0x20, 0x7F), (0xA0, 0x100), (0x2C6, 0x2DE), (0x300, 0x310), (0x391, 0x3D7), (0x2010, 0x209D), (0x2100, 0x2150)),
    *((0x2190, 0x21A0), (0x21D0, 0x21D5), (0x2200, 0x2300), (0x2308, 0x230C), (0x23A0, 0x23B4), (0x27C0, 0x27F0)),
    *((0x27F5, 0x2800), (0x2A00, 0x2A10), (0x2A7D, 0x2A80), (0x2AAF, 0x2AB1)),
    *((0x1D400, 0x1D4D0), (0x1D538, 0x1D56C), (0x1D6A8, 0x1D72A), (0x1D7CE, 0x1D7E2)),
)
NAMES = {1: "Drift Math", 16: "Drift Math", 4: "Drift Math Regular", 6: "DriftMath-Regular"}


def main(source: str, target: str) -> None:
    """Write the subset."""
    options = subset.Options(layout_features=["*"], name_IDs=["*"], notdef_outline=True, flavor="woff")
    options.drop_tables += ["FFTM"]
    font = subset.load_font(source, options)
    kept = subset.Subsetter(options)
    kept.populate(unicodes=[code for first, end in RANGES for code in range(first, end)])
    kept.subset(font)
    for record in font["name"].names:
        record.string = NAMES.get(record.nameID, record.toUnicode())
    subset.save_font(font, target, options)


if __name__ == "__main__":
    main(*sys.argv[1:])
