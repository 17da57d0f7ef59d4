"""scikit-learn's transformers and pipelines as `features=`."""

import copy
import pickle

import numpy as np
import pytest

import driftbandits as db
from driftbandits.bandit.transformers import transformed
from driftbandits.errors import InvalidShape, InvalidValue

pytest.importorskip("sklearn")
pd = pytest.importorskip("pandas")
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.feature_extraction import DictVectorizer  # noqa: E402
from sklearn.feature_extraction.text import HashingVectorizer  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

pytestmark = pytest.mark.xdist_group("bandit")
PAST = pd.DataFrame({"price": [1.0, 2.0, 3.0, 4.0], "kind": ["p", "q", "p", "q"], "age": [20.0, 30.0, 40.0, 50.0]})
ITEMS = {"a": {"price": 2.0, "kind": "q"}, "b": {"price": 3.0, "kind": "p"}}


def columns():
    """One pipeline over columns of items and context."""
    made = ColumnTransformer(
        [("scaled", StandardScaler(), ["price", "age"]), ("kind", OneHotEncoder(handle_unknown="ignore"), ["kind"])]
    )
    return make_pipeline(made).fit(PAST)


def test_named_columns_come_from_the_item_and_the_context():
    pipeline = columns()
    rows = transformed(pipeline, ["a", "b"], [*ITEMS.values()], {"age": 30.0})
    asked = pd.DataFrame({"price": [2.0, 3.0], "kind": ["q", "p"], "age": [30.0, 30.0]})
    assert [row["features"].tolist() for row in rows] == pipeline.transform(asked).tolist()


@pytest.mark.parametrize(
    ("transformer", "features", "context", "given"),
    [
        (DictVectorizer().fit([{"x": 1, "k": "p"}, {"k": "q", "y": 2}]), [{"x": 3}, None], {"k": "q"}, [{"x": 3, "k": "q"}, {"k": "q"}]),
        (HashingVectorizer(n_features=8), ["red shoes", None], None, ["red shoes", "b"]),
        (PCA(2).fit(np.random.default_rng(0).normal(size=(9, 3))), [[1.0, 2.0], (3.0, 4.0)], [5.0], [[1, 2, 5], [3, 4, 5]]),
    ],
)  # fmt: skip
def test_dicts_texts_and_vectors(transformer, features, context, given):
    rows = transformed(transformer, ["a", "b"], features, context)
    want = transformer.transform(given)
    want = want.toarray() if hasattr(want, "toarray") else want
    assert np.array_equal([row["features"] for row in rows], want)


class Returns:
    """A transformer that returns what it was made with."""

    def __init__(self, result):
        self.result = result

    def transform(self, X):
        return self.result


@pytest.mark.parametrize(
    ("transformer", "features", "context", "problem", "says"),
    [
        (StandardScaler(), [[1.0], [2.0]], None, InvalidValue, "fit it on past rows first"),
        (Returns(np.ones(2)), [[1.0], [2.0]], None, InvalidShape, r"must be \(2, d\)"),
        (Returns(np.ones((3, 1))), [[1.0], [2.0]], None, InvalidShape, r"shape \(3, 1\)"),
        (Returns(np.array([["x"], ["y"]])), [[1.0], [2.0]], None, InvalidValue, "must return numbers"),
        (Returns(np.array([[1.0], [np.nan]])), [[1.0], [2.0]], None, InvalidValue, "finite"),
        (Returns(None), [{"x": 1}, {"x": 2}], {"x": 3}, InvalidValue, "one of item 'a' and of the context"),
        (Returns(None), [[1.0], [2.0, 3.0]], None, InvalidShape, "one length"),
        (columns(), [[1.0], [2.0]], None, InvalidValue, "needs a dict"),
    ],
)
def test_what_cannot_be_transformed_is_one_line(transformer, features, context, problem, says):
    with pytest.raises(problem, match=says):
        transformed(transformer, ["a", "b"], features, context)


def play(bandit, n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        age = float(rng.integers(20, 60))
        d = bandit.decide(ITEMS, {"age": age}, at=0.0)
        bandit.reward(d.id, float((d.item == "a") == (age < 40)))
    return bandit


def test_a_bandit_with_a_pipeline_is_saved_copied_and_opened(tmp_path):
    bandit = play(db.Bandit(features=columns()), 12)
    before = bandit.estimate(ITEMS, {"age": 33.0})
    for same in (copy.deepcopy(bandit), pickle.loads(pickle.dumps(bandit))):
        assert same.estimate(ITEMS, {"age": 33.0}) == before
    bandit.save(tmp_path / "b")
    assert db.Bandit.load(tmp_path / "b", features=columns()).estimate(ITEMS, {"age": 33.0}) == before
    with pytest.raises(db.DriftBanditsError, match="give it again"):
        db.Bandit.load(tmp_path / "b")
    with db.Bandit.open(tmp_path / "d", features=columns()) as durable:
        play(durable, 12)
    with db.Bandit.open(tmp_path / "d", features=columns()) as durable:
        assert durable.estimate(ITEMS, {"age": 33.0}) == before
        follower = db.Bandit.follow(tmp_path / "d", features=columns())
        assert follower.estimate(ITEMS, {"age": 33.0}) == before
        assert follower.decide(ITEMS, {"age": 33.0}).item in ITEMS
        follower.close()
