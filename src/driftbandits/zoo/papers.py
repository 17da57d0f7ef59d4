"""The papers behind the algorithms, as BibTeX: data only. `citations` answers whom to cite for what."""

import functools
import re

OURS = "wang2023revisiting"
EXTENDED = "wang2026revisiting"  # the version with MDPs

BIBTEX = {
    OURS: """@inproceedings{wang2023revisiting,
  title = {Revisiting Weighted Strategy for Non-stationary Parametric Bandits},
  author = {Wang, Jing and Zhao, Peng and Zhou, Zhi-Hua},
  booktitle = {Proceedings of the 26th International Conference on Artificial Intelligence and Statistics (AISTATS)},
  volume = {206},
  pages = {7913--7942},
  year = {2023},
  note = {Extended version: arXiv:2601.01069}
}""",
    EXTENDED: """@misc{wang2026revisiting,
  title = {Revisiting Weighted Strategy for Non-stationary Parametric Bandits and {MDPs}},
  author = {Wang, Jing and Zhao, Peng and Zhou, Zhi-Hua},
  note = {arXiv:2601.01069},
  year = {2026}
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
    "gerogiannis2025prior": """@inproceedings{gerogiannis2025prior,
  title = {Is Prior-Free Black-Box Non-Stationary Reinforcement Learning Feasible?},
  author = {Gerogiannis, Argyrios and Huang, Yu-Han and Veeravalli, Venugopal V.},
  booktitle = {Proceedings of the 28th International Conference on Artificial Intelligence and Statistics (AISTATS)},
  year = {2025},
  note = {arXiv:2410.13772}
}""",
    "hong2023optimization": """@inproceedings{hong2023optimization,
  title = {An Optimization-based Algorithm for Non-stationary Kernel Bandits without Prior Knowledge},
  author = {Hong, Kihyuk and Li, Yuhang and Tewari, Ambuj},
  booktitle = {Proceedings of the 26th International Conference on Artificial Intelligence and Statistics (AISTATS)},
  year = {2023},
  note = {arXiv:2205.14775}
}""",
    "wu2018learning": """@inproceedings{wu2018learning,
  title = {Learning Contextual Bandits in a Non-stationary Environment},
  author = {Wu, Qingyun and Iyer, Naveen and Wang, Hongning},
  booktitle = {Proceedings of the 41st International ACM SIGIR Conference on Research and Development in Information Retrieval},
  pages = {495--504},
  year = {2018}
}""",
    "deng2022weighted": """@inproceedings{deng2022weighted,
  title = {Weighted {Gaussian} Process Bandits for Non-stationary Environments},
  author = {Deng, Yuntian and Zhou, Xingyu and Kim, Baekjin and Tewari, Ambuj and Gupta, Abhishek and Shroff, Ness},
  booktitle = {Proceedings of the 25th International Conference on Artificial Intelligence and Statistics (AISTATS)},
  volume = {151},
  pages = {6909--6932},
  year = {2022},
  note = {arXiv:2107.02371}
}""",
    "zhou2022computationally": """@inproceedings{zhou2022computationally,
  title = {Computationally Efficient Horizon-Free Reinforcement Learning for Linear Mixture {MDPs}},
  author = {Zhou, Dongruo and Gu, Quanquan},
  booktitle = {Advances in Neural Information Processing Systems 35 (NeurIPS)},
  year = {2022},
  note = {arXiv:2205.11507}
}""",
    "touati2020efficient": """@misc{touati2020efficient,
  title = {Efficient Learning in Non-Stationary Linear {Markov} Decision Processes},
  author = {Touati, Ahmed and Vincent, Pascal},
  note = {arXiv:2010.12870},
  year = {2020}
}""",
    "jin2020provably": """@inproceedings{jin2020provably,
  title = {Provably Efficient Reinforcement Learning with Linear Function Approximation},
  author = {Jin, Chi and Yang, Zhuoran and Wang, Zhaoran and Jordan, Michael I.},
  booktitle = {Proceedings of the 33rd Conference on Learning Theory (COLT)},
  year = {2020}
}""",
    "rahimi2007random": """@inproceedings{rahimi2007random,
  title = {Random Features for Large-Scale Kernel Machines},
  author = {Rahimi, Ali and Recht, Benjamin},
  booktitle = {Advances in Neural Information Processing Systems 20 (NIPS)},
  year = {2007}
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
    "werge2026weighted": """@inproceedings{werge2026weighted,
  title = {Weighted Sequential {Bayesian} Inference for Non-Stationary Linear Contextual Bandits},
  author = {Werge, Nicklas and Wu, Yi-Shan and Akg{\\"u}l, Abdullah and Kandemir, Melih},
  booktitle = {Proceedings of the 42nd Conference on Uncertainty in Artificial Intelligence (UAI)},
  year = {2026},
  note = {arXiv:2307.03587}
}""",
    "gerogiannis2025dal": """@article{gerogiannis2025dal,
  title = {{DAL}: A Practical Prior-Free Black-Box Framework for Piecewise Stationary Bandits},
  author = {Gerogiannis, Argyrios and Huang, Yu-Han and Bose, Subhonmesh and Veeravalli, Venugopal V.},
  journal = {arXiv preprint arXiv:2501.19401},
  year = {2025}
}""",
    "besson2022efficient": """@article{besson2022efficient,
  title = {Efficient Change-Point Detection for Tackling Piecewise-Stationary Bandits},
  author = {Besson, Lilian and Kaufmann, Emilie and Maillard, Odalric-Ambrym and Seznec, Julien},
  journal = {Journal of Machine Learning Research},
  volume = {23},
  number = {77},
  pages = {1--40},
  year = {2022}
}""",
    "he2022nearly": """@inproceedings{he2022nearly,
  title = {Nearly Optimal Algorithms for Linear Contextual Bandits with Adversarial Corruptions},
  author = {He, Jiafan and Zhou, Dongruo and Zhang, Tong and Gu, Quanquan},
  booktitle = {Advances in Neural Information Processing Systems 35 (NeurIPS)},
  year = {2022}
}""",
    "wang2025heavy": """@inproceedings{wang2025heavy,
  title = {Heavy-Tailed Linear Bandits: {Huber} Regression with One-Pass Update},
  author = {Wang, Jing and Zhang, Yu-Jie and Zhao, Peng and Zhou, Zhi-Hua},
  booktitle = {Proceedings of the 42nd International Conference on Machine Learning (ICML)},
  year = {2025}
}""",
    "zhang2025generalized": """@inproceedings{zhang2025generalized,
  title = {Generalized Linear Bandits: Almost Optimal Regret with One-Pass Update},
  author = {Zhang, Yu-Jie and Xu, Sheng-An and Zhao, Peng and Sugiyama, Masashi},
  booktitle = {Advances in Neural Information Processing Systems 38 (NeurIPS)},
  year = {2025}
}""",
    "lee2026nonstationary": """@misc{lee2026nonstationary,
  title = {Nonstationary Generalized Linear Bandits with Discounted Online Mirror Descent},
  author = {Lee, Joongkyu and Oh, Min-hwan},
  note = {arXiv:2605.25590},
  year = {2026}
}""",
}


@functools.cache
def label(key: str) -> str:
    """How a table names a paper: its authors, or the first of more than three, and the year.

    Examples
    --------
    >>> label("kim2020randomized"), label("russac2019weighted"), label("abbasi2011improved")
    ('Kim, Tewari 2020', 'Russac, Vernade, Cappé 2019', 'Abbasi-Yadkori, Pál, Szepesvári 2011')
    >>> label("cheung2019learning"), label("faury2020improved")
    ('Cheung, Simchi-Levi, Zhu 2019', 'Faury et al. 2020')
    """
    fields = dict(re.findall(r"^ +(\w+) = \{(.*)\},?$", BIBTEX[key], re.MULTILINE))
    names = [_plain(author.partition(",")[0]) for author in fields["author"].split(" and ")]
    return f"{', '.join(names) if len(names) <= 3 else names[0] + ' et al.'} {fields['year']}"


_ACCENTS = {"'a": "á", "'e": "é", "`e": "è", "'o": "ó", '"o': "ö", '"u': "ü", '"a': "ä"}


def _plain(name: str) -> str:
    """A name without the escapes of TeX."""
    return re.sub(r"\{\\(.)(\w)\}", lambda m: _ACCENTS[m[1] + m[2]], name)
