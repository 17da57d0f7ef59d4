"""Vowpal Wabbit: `--cb_explore_adf --squarecb`, the cost is −reward, as its wiki has it (Contextual-Bandit-algorithms, SquareCB).

Its defaults: learning rate 0.5, gamma_scale 10. Items that stay are a shared namespace times one feature per item (`-q sa`); arms are
features of each action. `--power_t 0` keeps the learning rate, as its documentation advises for what changes.
"""

from collections import deque

import numpy as np

PACKAGE = "vowpalwabbit"
SETTINGS = [
    {"args": ""},
    {"args": "--gamma_scale 100"},
    {"args": "--gamma_scale 1000"},
    {"args": "--gamma_scale 100 -l 2"},
    {"args": "--gamma_scale 100 -l 0.1 --power_t 0"},
]


def refuses(stream):
    return ""


class VW:
    def __init__(self, stream, seed, args):
        from vowpalwabbit import pyvw

        quadratic = "-q sa" if stream.items else ""
        self._vw = pyvw.Workspace(f"--cb_explore_adf --squarecb --quiet --random_seed {seed} {quadratic} {args}")
        self._example, self._label = pyvw.Example, pyvw.LabelType.CONTEXTUAL_BANDIT
        self._n, self._rng, self._open = stream.n, np.random.default_rng(seed), deque()

    def _examples(self, offer, label=None, k=0):
        if offer.arms is None:
            shared = {"s": dict(enumerate(offer.context.tolist()))}
            given = [{**shared, "a": {f"i{j}": 1.0}} for j in range(self._n)]
        else:
            given = [{"a": dict(enumerate(x))} for x in offer.arms.tolist()]
        made = []
        for j, features in enumerate(given):
            example = self._example(self._vw, None, self._label)
            example.push_feature_dict(self._vw, features)
            if label is not None and j == k:
                example.set_label_string(label)
            example.setup_example()
            made.append(example)
        return made

    def decide(self, offer):
        examples = self._examples(offer)
        p = np.array(self._vw.predict(examples))
        self._vw.finish_example(examples)
        k = int(self._rng.choice(len(p), p=p / p.sum()))
        self._open.append(p[k])
        return k

    def learn(self, offer, k, reward, age):
        examples = self._examples(offer, f"0:{-reward}:{self._open.popleft()}", k)
        self._vw.learn(examples)
        self._vw.finish_example(examples)


make = VW
