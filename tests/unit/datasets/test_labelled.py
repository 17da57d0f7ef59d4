"""Labelled streams: small files of the same formats; nothing of the real ones is kept here."""

import pathlib

import numpy as np
import pytest

import driftbandits as db

ELEC = """date,day,period,nswprice,nswdemand,vicprice,vicdemand,transfer,class
0,2,0.0,0.056443,0.439155,0.003467,0.422915,0.414912,UP
0,2,0.021277,0.051699,0.415055,0.003467,0.422915,0.414912,DOWN
0,3,0.042553,0.051489,0.385004,0.003467,0.422915,0.414912,UP
"""
SEA = "attrib1,attrib2,attrib3,class\n0.5,8.3,7.0,0\n1.5,7.5,6.7,1\n"


@pytest.fixture(autouse=True)
def nothing_is_found_on_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("RIVER_DATA", str(tmp_path / "river"))
    monkeypatch.delenv("DRIFTBANDITS_DATA", raising=False)


def write(folder, name, text):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(text)
    return folder / name


def test_elec2_keeps_its_six_features(tmp_path):
    data = db.datasets.elec2(write(tmp_path, "any.csv", ELEC))
    assert repr(data) == "Dataset(elec2: 3 rounds, 2 items, 6 features)"
    assert data.items == ("DOWN", "UP")
    assert data.features[0] == "period"
    assert data.R.tolist() == [[0, 1], [1, 0], [0, 1]]
    assert data.X[1].tolist() == [0.021277, 0.051699, 0.415055, 0.003467, 0.422915, 0.414912]


def test_a_stream_is_a_world_and_decisions(tmp_path):
    data = db.datasets.sea(write(tmp_path, "sea.csv", SEA))
    first, second = data
    assert (first.t, first.items, first.rewards) == (0, ["0", "1"], {"0": 1.0, "1": 0.0})
    assert second.context == {"attrib1": 1.5, "attrib2": 7.5, "attrib3": 6.7}
    world = data.world()
    assert (world.horizon, world.choices, world.dim, world.items) == (2, 2, 3, True)
    arms = data.world("interact")
    assert (arms.dim, arms.items) == (8, False)
    (_, offers), *_ = arms.blocks(1)
    np.testing.assert_array_equal(offers[0].T, [[1, 0.5, 8.3, 7, 0, 0, 0, 0], [0, 0, 0, 0, 1, 0.5, 8.3, 7]])
    with pytest.raises(db.DriftBanditsError, match="features = 'both'"):
        data.world("both")


def test_keystrokes_are_in_order_of_time(tmp_path):
    text = "subject,sessionIndex,rep,H.period\ns002,1,1,0.1\ns002,2,1,0.2\ns003,1,1,0.3\ns003,1,2,0.4\n"
    data = db.datasets.keystroke(write(tmp_path, "k.csv", text))
    assert data.X[:, 0].tolist() == [0.1, 0.3, 0.4, 0.2]
    assert data.items == ("s002", "s003")
    assert data.features == ("H.period",)
    plain = db.datasets.keystroke(write(tmp_path, "p.csv", "a,b,class\n1,2,x\n3,4,y\n"), horizon=1)
    assert plain.X.tolist() == [[1, 2]]


def test_a_stream_of_your_own(tmp_path):
    data = db.datasets.labelled(write(tmp_path, "mine.csv", "who,x\nann,1\nbob,2\n\nann,3\n"), label="who")
    assert (data.name, data.items, data.X[:, 0].tolist()) == ("mine", ("ann", "bob"), [1, 2, 3])


def test_a_folder_named_in_the_environment(tmp_path, monkeypatch):
    write(tmp_path / "data", "weather.csv", "f,target\n1,0\n2,1\n")
    monkeypatch.setenv("DRIFTBANDITS_DATA", str(tmp_path / "data"))
    assert len(db.datasets.weather()) == 2


def test_the_folder_of_river(tmp_path):
    write(tmp_path / "river" / "Elec2", "electricity.csv", ELEC)
    assert len(db.datasets.elec2()) == 3


@pytest.mark.parametrize("name", ["elec2", "weather", "sea", "keystroke"])
def test_an_absent_file_says_where_to_get_it_and_how_to_pass_it(name):
    with pytest.raises(
        db.DriftBanditsError, match=r"get it from .*; then pass file='…/.*csv', or set DRIFTBANDITS_DATA"
    ) as p:
        getattr(db.datasets, name)()
    assert "\n" not in str(p.value)
    with pytest.raises(db.DriftBanditsError, match=r"there is no file 'nowhere\.csv'"):
        getattr(db.datasets, name)("nowhere.csv")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column"),
        ("a,class\n", "there is no row of data"),
        ("a,class\n1,0\nx,1\n", "line 3: a = 'x' is no number"),
        ("a,b,class\n1,0\n", "line 2: 2 columns; the header has 3"),
        ("a,class\n1,0\nnan,1\n", "row 2 has NaN"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, text, says):
    with pytest.raises(db.DriftBanditsError, match=says):
        db.datasets.sea(write(tmp_path, "bad.csv", text))
    with pytest.raises(db.DriftBanditsError, match="no column 'period'"):
        db.datasets.elec2(write(tmp_path, "bad.csv", "a,class\n1,0\n"))


def test_nothing_reaches_for_the_network():
    source = pathlib.Path(db.datasets.__file__).parent
    for file in source.glob("*.py"):
        text = file.read_text()
        assert not any(word in text for word in ("urllib", "requests", "http.client", "socket")), file
