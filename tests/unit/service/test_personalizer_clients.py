"""The public clients of the retired service, unmodified, against a real server."""

import datetime
import io
import pathlib
import random
import time
from types import SimpleNamespace

import pytest
from served import listening

from driftbandits import Bandit
from driftbandits.service.keys import new_key

azure = pytest.importorskip("azure.ai.personalizer")
from azure.ai.personalizer import PersonalizerAdministrationClient, PersonalizerClient  # noqa: E402
from azure.cognitiveservices.personalizer import PersonalizerClient as OldClient  # noqa: E402
from azure.cognitiveservices.personalizer.models import RankableAction, RankRequest  # noqa: E402
from azure.core.credentials import AzureKeyCredential  # noqa: E402
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError  # noqa: E402
from msrest.authentication import CognitiveServicesCredentials  # noqa: E402

pytestmark = pytest.mark.compiled  # thousands of decisions
ACTIONS = [{"id": name, "features": [{"topic": {"kind": name}}]} for name in ("news", "sport", "music")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with listening(tmp_path_factory.mktemp("data")) as url:
        yield url


@pytest.fixture
def loop(server, request):
    endpoint = f"{server}/loops/{request.node.name.replace('[', '-').replace(']', '')}"
    key = AzureKeyCredential("any key")
    return SimpleNamespace(
        endpoint=endpoint,
        client=PersonalizerClient(endpoint, key),
        admin=PersonalizerAdministrationClient(endpoint, key),
        old=OldClient(endpoint, CognitiveServicesCredentials("any key")),
    )


def _play(client, rounds, rng, wanted):
    """The share of the last half in which the action was shown that suits the context."""
    right = 0
    for t in range(rounds):
        device = rng.choice(["phone", "desktop"])
        event = client.rank({"contextFeatures": [{"user": {"device": device}}], "actions": ACTIONS})
        good = event["rewardActionId"] == wanted[device]
        client.reward(event["eventId"], {"value": 1.0 if good else 0.0})
        right += good and t >= rounds // 2
    return right / (rounds - rounds // 2)


def test_a_loop_learns_a_preference_that_depends_on_the_context(loop):
    share = _play(loop.client, 200, random.Random(0), {"phone": "news", "desktop": "music"})
    assert share > 0.8  # chance: 1/3


@pytest.mark.slow
def test_two_thousand_events(loop):
    share = _play(loop.client, 2000, random.Random(1), {"phone": "sport", "desktop": "news"})
    assert share > 0.9


def test_the_old_client_ranks_rewards_and_activates(loop):
    actions = [RankableAction(id=a["id"], features=a["features"]) for a in ACTIONS]
    asked = RankRequest(actions=actions, context_features=[{"hour": 9}], excluded_actions=["sport"], event_id="mine")
    answer = loop.old.rank(rank_request=asked)
    assert answer.event_id == "mine"
    assert answer.reward_action_id in ("news", "music")
    chances = {one.id: one.probability for one in answer.ranking}
    assert chances["sport"] == 0.0
    assert sum(chances.values()) == pytest.approx(1.0)
    again = loop.old.rank(rank_request=asked)
    assert again.reward_action_id == answer.reward_action_id
    loop.old.events.reward(event_id="mine", value=0.5)
    later = loop.old.rank(rank_request=RankRequest(actions=actions, context_features=[], defer_activation=True))
    loop.old.events.activate(event_id=later.event_id)
    loop.old.events.reward(event_id=later.event_id, value=1.0)


def _counts(loop):
    import json
    import urllib.request

    with urllib.request.urlopen(loop.endpoint) as answer:
        return json.load(answer)["info"]


def test_a_deferred_event_learns_nothing_before_it_is_activated(loop):
    event = loop.client.rank({"actions": ACTIONS, "deferActivation": True})
    loop.client.reward(event["eventId"], {"value": 1.0})  # accepted and ignored, as before
    assert _counts(loop)["rewards"] == 0
    loop.client.activate(event["eventId"])
    loop.client.reward(event["eventId"], {"value": 1.0})
    assert _counts(loop)["rewards"] == 1


def test_rewards_are_the_earliest_or_the_sum(loop):
    event = loop.client.rank({"actions": ACTIONS})
    for value in (0.25, 0.5):
        loop.client.reward(event["eventId"], {"value": value})
    assert _counts(loop)["replaced"] == 0
    loop.admin.update_service_configuration({"rewardAggregation": "sum"})
    event = loop.client.rank({"actions": ACTIONS})
    for value in (0.25, 0.5):
        loop.client.reward(event["eventId"], {"value": value})
    assert _counts(loop)["replaced"] == 1
    evaluation = _evaluated(loop)
    online = next(p for p in evaluation["content"]["value"] if p["policySource"] == "Online")
    assert online["summary"]["expectedReward"] == pytest.approx((0.25 + 0.75) / 2)


def test_configuration_comes_back(loop):
    first = loop.admin.get_service_configuration()
    assert first["rewardWaitTime"] == "PT10M"
    assert first["learningMode"] == "Online"
    wanted = {"rewardWaitTime": "PT1H", "defaultReward": 0.5, "explorationPercentage": 0.1, "learningMode": "Apprentice",
              "modelExportFrequency": "PT5M", "logRetentionDays": 30, "rewardAggregation": "sum"}  # fmt: skip
    told = loop.admin.update_service_configuration({**first, **wanted})
    assert {name: told[name] for name in wanted} == wanted
    assert loop.admin.get_service_configuration()["lastConfigurationEditDate"] == told["lastConfigurationEditDate"]
    with pytest.raises(HttpResponseError, match="rewardWaitTime"):
        loop.admin.update_service_configuration({"rewardWaitTime": "P9D"})
    with pytest.raises(HttpResponseError, match="learningMode"):
        loop.admin.update_service_configuration({"learningMode": "Wild"})
    assert loop.admin.get_service_configuration()["rewardWaitTime"] == "PT1H"


def test_an_apprentice_shows_the_first_action_and_counts_agreement(loop):
    loop.admin.update_service_configuration({"learningMode": "Apprentice"})
    for _ in range(40):
        event = loop.client.rank({"actions": ACTIONS})
        assert event["rewardActionId"] == "news"
        loop.client.reward(event["eventId"], {"value": 1.0})
    metrics = loop.admin.get_service_configuration()["latestApprenticeModeMetrics"]
    assert metrics["numberOfEvents"] == 40
    assert metrics["sumOfRewards"] == 40.0
    assert 0 < metrics["numberOfImitatedEvents"] <= 40
    assert metrics["sumOfImitatedRewards"] == metrics["numberOfImitatedEvents"]


def _evaluated(loop, name="today"):
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    loop.admin.create_evaluation(
        name, {"name": name, "startTime": (now - day).isoformat(), "endTime": (now + day).isoformat()}
    )
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = loop.admin.get_evaluation(name, start_time=now - day, end_time=now + day)
        if found["status"] != "Running":
            return found
        time.sleep(0.1)
    raise AssertionError("the evaluation did not end")


def test_evaluations_replay_the_log(loop):
    rng = random.Random(2)
    loop.admin.update_service_configuration({"explorationPercentage": 0.8})  # enough of each action to evaluate
    for _ in range(200):
        event = loop.client.rank({"actions": ACTIONS})
        loop.client.reward(
            event["eventId"], {"value": float(event["rewardActionId"] == "music" and rng.random() < 0.8)}
        )
    found = _evaluated(loop)
    assert found["status"] == "Succeeded", found
    values = {p["policySource"]: p["summary"] for p in found["content"]["value"]}
    assert values["Online"]["expectedReward"] > 0.25, found
    assert "Baseline" in values, found["description"]
    assert values["Baseline"]["expectedReward"] < 0.1
    low, high = values["Random"]["confidenceInterval"]
    assert low < 0.8 / 3 < high
    assert [one["id"] for one in loop.admin.list_evaluations()] == ["today"]
    loop.admin.delete_evaluation("today")
    with pytest.raises(ResourceNotFoundError):
        loop.admin.delete_evaluation("today")


def test_feature_importances(loop):
    _play(loop.client, 100, random.Random(3), {"phone": "news", "desktop": "music"})
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    loop.admin.create_feature_importance(
        "f", {"name": "f", "startTime": (now - day).isoformat(), "endTime": now.isoformat()}
    )
    until = time.monotonic() + 30
    while (found := loop.admin.get_feature_importance("f"))["status"] == "Running" and time.monotonic() < until:
        time.sleep(0.1)
    assert found["status"] == "Succeeded", found
    scores = [one["score"] for one in found["featureScores"]]
    assert max(scores) == pytest.approx(100.0)
    assert any("device" in one["featureName"] for one in found["featureScores"])
    assert [one["id"] for one in loop.admin.list_feature_importances()] == ["f"]
    loop.admin.delete_feature_importance("f")


def test_the_model_is_our_file_and_comes_back(loop, tmp_path):
    _play(loop.client, 100, random.Random(4), {"phone": "news", "desktop": "music"})
    data = b"".join(loop.admin.export_model())
    path = tmp_path / "model.bandit"
    path.write_bytes(data)
    known = Bandit.load(path).estimate({a["id"]: {"topic.kind": a["id"]} for a in ACTIONS}, {"user.device": "phone"})
    assert max(known, key=lambda name: known[name].mean) == "news"
    loop.admin.reset_model()
    assert _counts(loop)["decisions"] == 0
    loop.admin.import_model(io.BytesIO(data))
    assert _counts(loop)["decisions"] == 100
    assert _play(loop.client, 60, random.Random(5), {"phone": "news", "desktop": "music"}) > 0.7
    assert loop.admin.get_model_properties()["lastModifiedTime"]
    with pytest.raises(HttpResponseError, match="cannot be loaded"):
        loop.admin.import_model(io.BytesIO(b"nonsense"))
    assert _counts(loop)["decisions"] == 160


def test_logs_are_deleted_and_what_was_learned_stays(loop):
    _play(loop.client, 100, random.Random(6), {"phone": "news", "desktop": "music"})
    waiting = loop.client.rank({"actions": ACTIONS})
    span = loop.admin.get_log_properties()["dateRange"]
    assert span["from"] <= span["to"]
    loop.admin.delete_logs()
    assert _counts(loop)["decisions"] == 101
    loop.client.reward(waiting["eventId"], {"value": 1.0})
    assert _counts(loop)["rewards"] == 101
    assert loop.admin.get_log_properties()["dateRange"]["from"] >= span["from"]
    assert _evaluated(loop)["status"] == "Failed"  # one event is left


def test_slots_are_filled_with_different_actions(loop):
    slots = [
        {"id": s, "baselineAction": a, "features": [{"place": s}]} for s, a in (("top", "news"), ("side", "sport"))
    ]
    event = loop.client.rank_multi_slot({"actions": ACTIONS, "slots": slots, "eventId": "page"})
    shown = [slot["rewardActionId"] for slot in event["slots"]]
    assert [slot["id"] for slot in event["slots"]] == ["top", "side"]
    assert len({*shown}) == 2
    loop.client.reward_multi_slot("page", {"reward": [{"slotId": "side", "value": 1.0}]})
    assert _counts(loop)["rewards"] == 1
    with pytest.raises(ResourceNotFoundError, match="no slot"):
        loop.client.reward_multi_slot("page", {"reward": [{"slotId": "bottom", "value": 1.0}]})
    later = loop.client.rank_multi_slot({"actions": ACTIONS, "slots": slots, "deferActivation": True})
    loop.client.activate_multi_slot(later["eventId"])
    loop.client.reward_multi_slot(later["eventId"], {"reward": [{"slotId": s["id"], "value": 0.0} for s in slots]})
    assert _counts(loop)["rewards"] == 3
    loop.admin.update_service_configuration({"learningMode": "Apprentice"})
    event = loop.client.rank_multi_slot({"actions": ACTIONS, "slots": slots})
    assert [slot["rewardActionId"] for slot in event["slots"]] == ["news", "sport"]


def test_what_has_no_sense_says_so(loop):
    assert "tunes itself" in loop.admin.get_policy()["arguments"]
    with pytest.raises(HttpResponseError, match="another program"):
        loop.admin.update_policy({"name": "x", "arguments": "--cb_explore_adf"})
    with pytest.raises(ResourceNotFoundError, match="no event"):
        loop.client.reward("never ranked", {"value": 1.0})
    with pytest.raises(HttpResponseError, match="value"):
        loop.client.reward("never ranked", {"value": 7.0})
    with pytest.raises(HttpResponseError, match="same id"):
        loop.client.rank({"actions": [ACTIONS[0], ACTIONS[0]]})
    with pytest.raises(HttpResponseError, match="not on offer"):
        loop.client.rank({"actions": ACTIONS, "excludedActions": ["weather"]})


def test_the_page_on_migrating_is_true(tmp_path):
    """Its Python code as it stands, but for the port, without keys and with one that the page says how to make."""
    page = (pathlib.Path(__file__).parents[3] / "docs" / "migrating.md").read_text()
    code = page.partition("```python\n")[2].partition("```")[0]
    keys = tmp_path / "keys.toml"
    key = new_key(keys, "shop", "admin")
    for settings, given in (({}, "any key"), ({"keys": keys}, key)):
        with listening(tmp_path / given[:3], **settings) as url:
            used = {}
            exec(code.replace("http://127.0.0.1:8080", url).replace("any key", given), used)
            with used["client"]:
                assert used["event"]["rewardActionId"] in ("news", "sport")
            told = PersonalizerAdministrationClient(f"{url}/loops/shop", AzureKeyCredential(given))
            with told:
                assert told.get_log_properties()["dateRange"]["from"]
