"""One colour per role: for colour-blind readers, on light and dark pages, in every place that draws."""

import itertools
import pathlib
import re
import tomllib
from typing import Any

import numpy as np
import pytest

from driftbandits.plots import style
from driftbandits.zoo.record import RECORDS
from driftbandits.zoo.roles import ROLES, role_of

ROOT = pathlib.Path(__file__).parents[3]
PAGES = {"light": ("#ffffff", style.PALETTE), "dark": ("#161b22", style.DARK)}
# Machado, Oliveira and Fernandes 2009, severity 1: linear RGB as the reader sees it.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
APART = 15.0  # CIE76 ΔE; 2.3 is just noticeable side by side


FILES = [
    f for d in ("experiments", "docs/gallery", "docs/pages", "benchmarks") for f in sorted((ROOT / d).rglob("*.py"))
]
OWN_COLOUR = re.compile(r"""["'](#[0-9a-fA-F]{6}|C\d|tab:\w+)["']""")


@pytest.mark.parametrize("file", [f for f in FILES if OWN_COLOUR.search(f.read_text())], ids=lambda f: f.name)
def test_figures_of_studies_tutorials_and_benchmarks_take_their_colours_from_the_palette(file: pathlib.Path) -> None:
    """A tutorial writes the code of a colour, because a reader copies it; studies say `role_colour`."""
    own = set(OWN_COLOUR.findall(file.read_text()))
    assert {colour.upper() for colour in own} <= set(style.PALETTE.values())


def linear(colour: str) -> Any:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """As WCAG 2 defines it."""
    low, high = sorted(float(TO_XYZ[1] @ linear(c)) for c in (a, b))
    return (high + 0.05) / (low + 0.05)


def seen(colour: str, sight: Any) -> Any:
    """CIELAB of what the reader sees."""
    xyz = TO_XYZ @ np.clip(np.array(sight) @ linear(colour), 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_yardsticks_are_those_of_their_definitions() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    np.testing.assert_allclose(seen("#ffffff", np.eye(3)), [100, 0, 0], atol=0.05)
    red, green = (seen(c, SIGHT["deuteranopia"]) for c in ("#c00000", "#587000"))
    assert np.linalg.norm(red - green) < APART < np.linalg.norm(seen("#c00000", np.eye(3)) - seen("#587000", np.eye(3)))


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("sight", SIGHT)
def test_colours_of_roles_stay_apart(page: str, sight: str) -> None:
    colours = {role: PAGES[page][1][names[0]] for role, names in style.ROLE_COLOURS.items()}
    for a, b in itertools.combinations(colours, 2):
        apart = np.linalg.norm(seen(colours[a], SIGHT[sight]) - seen(colours[b], SIGHT[sight]))
        assert apart >= APART, (a, b, apart)


@pytest.mark.parametrize("page", PAGES)
def test_a_label_may_have_the_colour_of_its_curve(page: str) -> None:
    back, colours = PAGES[page]
    assert {name: round(contrast(c, back), 2) for name, c in colours.items() if contrast(c, back) < 4.5} == {}


def test_every_role_has_a_colour_and_no_colour_two_roles() -> None:
    assert set(style.ROLE_COLOURS) == set(ROLES)
    names = [name for kin in style.ROLE_COLOURS.values() for name in kin]
    assert len(names) == len(set(names))
    assert set(names) < set(style.PALETTE) == set(style.DARK)
    assert {role_of(name) for name in RECORDS} == set(ROLES) - {"baseline"}


@pytest.mark.parametrize("file", sorted(path.name for path in (ROOT / "experiments").glob("*.toml")))
def test_experiments_draw_each_strategy_in_the_colour_of_its_role(file: str) -> None:
    for table in tomllib.loads((ROOT / "experiments" / file).read_text()).get("strategy", []):
        role = "fixed forgetting" if table["use"].startswith("public_code:") else role_of(table["use"])
        if table["use"].endswith("weight_ucrl") and "gamma" not in table:
            role = "tuning-free"
        assert table.get("colour", style.ROLE_COLOURS[role][0]) in style.ROLE_COLOURS[role], table["name"]


def test_reports_show_the_same_colours_in_the_dark() -> None:
    script = (ROOT / "src/driftbandits/plots/templates/page.js").read_text()
    for name, colour in style.PALETTE.items():
        assert f"""['"{colour}"', '"{style.DARK[name]}"']""" in script


def test_the_stylesheet_names_colours_and_roles() -> None:
    light, dark = style.stylesheet().splitlines()
    assert "--role-tuning-free: #0072B2;" in light
    assert '[data-theme="dark"]' in dark
    assert "--role-never-forgets: #E6EAF0;" in dark
