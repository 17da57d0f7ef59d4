"""Whom to cite: the papers behind every algorithm of the zoo, as BibTeX.

>>> from driftbandits.citations import papers
>>> papers("d_lin_ucb")
['wang2023revisiting', 'russac2019weighted']
"""

from typing import Any

from .errors import InvalidValue

OURS = "wang2023revisiting"

BIBTEX = {
    OURS: """@inproceedings{wang2023revisiting,
  title = {Revisiting Weighted Strategy for Non-stationary Parametric Bandits},
  author = {Wang, Jing and Zhao, Peng and Zhou, Zhi-Hua},
  booktitle = {Proceedings of the 26th International Conference on Artificial Intelligence and Statistics (AISTATS)},
  volume = {206},
  pages = {7913--7942},
  year = {2023},
  note = {Extended version: Revisiting Weighted Strategy for Non-stationary Parametric Bandits and MDPs}
}""",
    "abbasi2011improved": """@inproceedings{abbasi2011improved,
  title = {Improved Algorithms for Linear Stochastic Bandits},
  author = {Abbasi-Yadkori, Yasin and P{\\'a}l, D{\\'a}vid and Szepesv{\\'a}ri, Csaba},
  booktitle = {Advances in Neural Information Processing Systems 24 (NIPS)},
  pages = {2312--2320},
  year = {2011}
}""",
    "russac2019weighted": """@inproceedings{russac2019weighted,
  title = {Weighted Linear Bandits for Non-Stationary Environments},
  author = {Russac, Yoan and Vernade, Claire and Capp{\\'e}, Olivier},
  booktitle = {Advances in Neural Information Processing Systems 32 (NeurIPS)},
  pages = {12040--12049},
  year = {2019}
}""",
    "cheung2019learning": """@inproceedings{cheung2019learning,
  title = {Learning to Optimize under Non-Stationarity},
  author = {Cheung, Wang Chi and Simchi-Levi, David and Zhu, Ruihao},
  booktitle = {Proceedings of the 22nd International Conference on Artificial Intelligence and Statistics (AISTATS)},
  pages = {1079--1087},
  year = {2019}
}""",
    "zhao2020simple": """@inproceedings{zhao2020simple,
  title = {A Simple Approach for Non-stationary Linear Bandits},
  author = {Zhao, Peng and Zhang, Lijun and Jiang, Yuan and Zhou, Zhi-Hua},
  booktitle = {Proceedings of the 23rd International Conference on Artificial Intelligence and Statistics (AISTATS)},
  pages = {746--755},
  year = {2020}
}""",
    "kim2020randomized": """@inproceedings{kim2020randomized,
  title = {Randomized Exploration for Non-Stationary Stochastic Linear Bandits},
  author = {Kim, Baekjin and Tewari, Ambuj},
  booktitle = {Proceedings of the 36th Conference on Uncertainty in Artificial Intelligence (UAI)},
  pages = {71--80},
  year = {2020}
}""",
    "filippi2010parametric": """@inproceedings{filippi2010parametric,
  title = {Parametric Bandits: The Generalized Linear Case},
  author = {Filippi, Sarah and Capp{\\'e}, Olivier and Garivier, Aur{\\'e}lien and Szepesv{\\'a}ri, Csaba},
  booktitle = {Advances in Neural Information Processing Systems 23 (NIPS)},
  year = {2010}
}""",
    "russac2020algorithms": """@article{russac2020algorithms,
  title = {Algorithms for Non-Stationary Generalized Linear Bandits},
  author = {Russac, Yoan and Capp{\\'e}, Olivier and Garivier, Aur{\\'e}lien},
  journal = {arXiv preprint arXiv:2003.10113},
  year = {2020}
}""",
    "faury2021regret": """@article{faury2021regret,
  title = {Regret Bounds for Generalized Linear Bandits under Parameter Drift},
  author = {Faury, Louis and Russac, Yoan and Abeille, Marc and Calauz{\\`e}nes, Cl{\\'e}ment},
  journal = {arXiv preprint arXiv:2103.05750},
  year = {2021}
}""",
    "faury2020improved": """@inproceedings{faury2020improved,
  title = {Improved Optimistic Algorithms for Logistic Bandits},
  author = {Faury, Louis and Abeille, Marc and Calauz{\\`e}nes, Cl{\\'e}ment and Fercoq, Olivier},
  booktitle = {Proceedings of the 37th International Conference on Machine Learning (ICML)},
  pages = {3052--3060},
  year = {2020}
}""",
    "abeille2021instance": """@inproceedings{abeille2021instance,
  title = {Instance-Wise Minimax-Optimal Algorithms for Logistic Bandits},
  author = {Abeille, Marc and Faury, Louis and Calauz{\\`e}nes, Cl{\\'e}ment},
  booktitle = {Proceedings of the 24th International Conference on Artificial Intelligence and Statistics (AISTATS)},
  pages = {3691--3699},
  year = {2021}
}""",
    "russac2021self": """@inproceedings{russac2021self,
  title = {Self-Concordant Analysis of Generalized Linear Bandits with Forgetting},
  author = {Russac, Yoan and Faury, Louis and Capp{\\'e}, Olivier and Garivier, Aur{\\'e}lien},
  booktitle = {Proceedings of the 24th International Conference on Artificial Intelligence and Statistics (AISTATS)},
  pages = {658--666},
  year = {2021}
}""",
    "wei2021nonstationary": """@inproceedings{wei2021nonstationary,
  title = {Non-stationary Reinforcement Learning without Prior Knowledge: An Optimal Black-box Approach},
  author = {Wei, Chen-Yu and Luo, Haipeng},
  booktitle = {Proceedings of the 34th Conference on Learning Theory (COLT)},
  pages = {4300--4354},
  year = {2021}
}""",
    "neu2015explore": """@inproceedings{neu2015explore,
  title = {Explore No More: Improved High-Probability Regret Bounds for Non-Stochastic Bandits},
  author = {Neu, Gergely},
  booktitle = {Advances in Neural Information Processing Systems 28 (NIPS)},
  year = {2015}
}""",
    "ayoub2020model": """@inproceedings{ayoub2020model,
  title = {Model-Based Reinforcement Learning with Value-Targeted Regression},
  author = {Ayoub, Alex and Jia, Zeyu and Szepesv{\\'a}ri, Csaba and Wang, Mengdi and Yang, Lin},
  booktitle = {Proceedings of the 37th International Conference on Machine Learning (ICML)},
  year = {2020}
}""",
    "zhong2022optimistic": """@article{zhong2022optimistic,
  title = {Optimistic Policy Optimization is Provably Efficient in Non-stationary MDPs},
  author = {Zhong, Han and Yang, Zhuoran and Wang, Zhaoran and Szepesv{\\'a}ri, Csaba},
  journal = {arXiv preprint arXiv:2110.08984},
  year = {2022}
}""",
    "hwang2023model": """@inproceedings{hwang2023model,
  title = {Model-Based Reinforcement Learning with Multinomial Logistic Function Approximation},
  author = {Hwang, Taehyun and Oh, Min-hwan},
  booktitle = {Proceedings of the 37th AAAI Conference on Artificial Intelligence (AAAI)},
  pages = {7971--7979},
  year = {2023}
}""",
}

# The words an algorithm's name is made of, and whom each of them owes.
ZOO: dict[str, tuple[str, ...]] = {
    "oful": ("abbasi2011improved",),
    "lb_weight_ucb": (),
    "d_lin_ucb": ("russac2019weighted",),
    "sw_ucb": ("cheung2019learning",),
    "restart_ucb": ("zhao2020simple",),
    "d_lin_ts": ("kim2020randomized",),
    "d_rand_lin_ucb": ("kim2020randomized",),
    "glm_ucb": ("filippi2010parametric",),
    "glb_weight_ucb": (),
    "glb_restart_ucb": ("filippi2010parametric", "zhao2020simple"),
    "sw_glm_ucb": ("filippi2010parametric", "russac2020algorithms"),
    "d_glm_ucb": ("russac2020algorithms",),
    "bvd_glm_ucb": ("faury2021regret",),
    "log_ucb1": ("faury2020improved",),
    "scb_weight_ucb": (),
    "scb_restart_ucb": ("faury2020improved", "zhao2020simple"),
    "scb_pw_weight_ucb": (),
    "sc_d_glm_ucb": ("russac2021self",),
    "ofu_log": ("abeille2021instance",),
    "master": ("wei2021nonstationary",),
    "bob": ("cheung2019learning", "neu2015explore"),
    "bob_glm": ("cheung2019learning", "neu2015explore"),
    "adaptive_weight_ucb": (),
    "adaptive_weight_glm_ucb": (),
    "bob_ucrl": ("cheung2019learning", "neu2015explore"),
    "adaptive_ucrl": (),
    "weight_ucrl": (),
    "ucrl_vtr": ("ayoub2020model",),
    "sw_ucrl": ("zhong2022optimistic",),
    "restart_ucrl": ("zhong2022optimistic",),
    "mnl_weight_ucrl": (),
    "ucrl_mnl": ("hwang2023model",),
    "mnl_sw_ucrl": ("hwang2023model", "zhong2022optimistic"),
    "mnl_restart_ucrl": ("hwang2023model", "zhong2022optimistic"),
}

# The parts of a composition, by class name.
PARTS: dict[str, tuple[str, ...]] = {
    "Everything": (),
    "Window": ("cheung2019learning",),
    "Restart": ("zhao2020simple",),
    "SandwichBonus": ("russac2019weighted",),
    "RandomisedBonus": ("kim2020randomized",),
    "ThompsonSampling": ("kim2020randomized",),
    "Linear": ("abbasi2011improved",),
    "Generalized": ("filippi2010parametric",),
    "SelfConcordant": ("faury2020improved",),
    "Master": ("wei2021nonstationary",),
    "Bob": ("cheung2019learning", "neu2015explore"),
}


def papers(*algorithms: Any) -> list[str]:
    """Keys of the papers to cite for names of the zoo, functions of it, or strategies (by their parts).

    The paper this library is about comes first.
    """
    keys = [OURS]
    for algorithm in algorithms:
        keys += _keys(algorithm)
    return list(dict.fromkeys(keys))


def cite(*algorithms: Any) -> str:
    """BibTeX of the papers behind names of the zoo, functions of it, or strategies.

    Examples
    --------
    >>> import driftbandits as db
    >>> db.cite(db.zoo.d_lin_ucb).count("@inproceedings")
    2
    """
    return "\n\n".join(BIBTEX[key] for key in papers(*algorithms))


def _keys(algorithm: Any) -> list[str]:
    if isinstance(algorithm, tuple) and hasattr(algorithm, "_fields"):
        own = PARTS.get(type(algorithm).__name__, ())
        return [*own, *(key for value in algorithm if isinstance(value, tuple) for key in _keys(value))]
    name = algorithm if isinstance(algorithm, str) else getattr(algorithm, "__name__", str(algorithm))
    if ":" in name:  # a user's own strategy: its author knows whom to cite
        return []
    if name not in ZOO:
        import difflib

        close = difflib.get_close_matches(name, ZOO, n=1)
        raise InvalidValue(
            f"no citation for '{name}'; " + (f"did you mean '{close[0]}'?" if close else f"known: {', '.join(ZOO)}")
        )
    return list(ZOO[name])
