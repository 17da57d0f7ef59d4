"""Both renderers draw the numbers of the description."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import made_up_panel
from driftbandits.experiment.write import describe, figures
from driftbandits.plots import interactive, paper
from driftbandits.plots.plot import Plot

NAMES = ["one", "$x^{$", "[/nope]", "three"]
PANEL = made_up_panel.panel(NAMES, text="$x^{$ and \\frac{")
PLOTS = {
    "regret": describe.regret(PANEL, "world"),
    "reward": describe.reward(PANEL, "world"),
    "memory": describe.memory(PANEL, "world"),
    "time": describe.running_time(PANEL, "world"),
    "scaling": describe.scaling(PANEL, PANEL.fits[0].label),
    "arms": describe.arms(PANEL, "world")[0],
}


@pytest.mark.parametrize("kind", PLOTS)
def test_both_draw_the_numbers_of_the_description(kind: str) -> None:
    plot = PLOTS[kind]
    assert isinstance(plot, Plot)
    page = interactive.figure(plot)["data"]
    lines = {
        trace.get("name"): trace for trace in page if trace.get("mode", "").startswith("lines") and "name" in trace
    }
    axes = Figure().add_subplot()
    drawn = paper.draw(axes, plot)
    shown = [s for s in plot.series if not s.hidden]
    assert len(drawn) == len(shown)
    for series, handle in zip(shown, drawn, strict=True):
        line = handle[0] if series.error is not None else handle  # an error bar holds its line first
        np.testing.assert_array_equal(line.get_ydata(), series.y)
        np.testing.assert_array_equal(line.get_xdata(), series.x)
    assert len(lines) == len(plot.series)
    for series in plot.series:
        np.testing.assert_allclose(lines[series.name]["y"], series.y, rtol=1e-5)
    bands = [trace for trace in page if trace.get("fill")]
    for series, band in zip([s for s in plot.series if s.low is not None], bands, strict=True):
        np.testing.assert_allclose(band["y"], [*series.high, *series.low[::-1]], rtol=1e-5)
    for i, bar in enumerate(plot.bars):
        assert axes.patches[i].get_width() == bar.value
        assert page[0]["x"][i] == pytest.approx(bar.value, rel=1e-5)
    if plot.heat:
        np.testing.assert_allclose(page[0]["z"], plot.heat.values, atol=5.1e-4)


def test_curves_are_mean_and_standard_deviation_worst_first() -> None:
    plot = PLOTS["regret"]
    finals = [s.y[-1] for s in plot.series if not s.hidden]
    assert finals == sorted(finals, reverse=True)
    curve = next(c for c in PANEL.curves if c.strategy == plot.series[0].name)
    np.testing.assert_array_equal(plot.series[0].y, curve.regret.mean(axis=0))
    np.testing.assert_allclose(plot.series[0].high - plot.series[0].y, curve.regret.std(axis=0, ddof=1))
    assert [s.name for s in plot.series if s.hidden] == ["$x^{$ and \\frac{, bound for one"]


@pytest.mark.parametrize("kind", ["regret", "time", "scaling"])
def test_any_name_can_be_drawn(tmp_path, kind: str) -> None:
    panel = made_up_panel.panel(NAMES, text="$x^{$ and \\frac{", figure=kind)
    made = figures.figures([panel])
    assert list(made) == (["one", "one-memory"] if kind == "regret" else ["one"])
    for name, make in made.items():
        paper.save(make, tmp_path / name)
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
