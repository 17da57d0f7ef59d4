"""Decides and learns until it is done or killed, and then again; what it does is a function of the number of the decision.

Each life is a fork of this process, which has the library loaded but no file open. With a third argument it is paced: it runs at most
`LEAD` rounds ahead of what its parent has read and answered with a byte, so that it cannot be done before a slow parent kills it. The
parent answers "open" with an "o": bytes before it were for an earlier life.
"""

import os
import sqlite3
import sys

import driftbandits as db

LEAD = 2


def offer(t):
    return {name: {"x": ((t * 7 + k * 3) % 11) / 11, "kind": "pq"[(t + k) % 2]} for k, name in enumerate("abc")}


def worth(t, item):
    return float((t + ord(item)) % 5)


def main(path, total, paced):
    with db.Bandit.open(path, seed=1, half_life=200) as bandit:
        print("open", flush=True)
        while paced and os.read(0, 1) not in (b"o", b""):
            pass
        file = sqlite3.connect(path)
        open_ = file.execute(
            "SELECT id, item, at FROM decisions WHERE id NOT IN (SELECT id FROM rewards) ORDER BY seq"
        ).fetchall()
        file.close()
        for id_, item, at in open_:  # decided, not yet rewarded when it was killed
            bandit.reward(id_, worth(int(at), item))
        for n, t in enumerate(range(bandit.info()["decisions"], total)):
            if paced and n >= LEAD:
                os.read(0, 1)
            d = bandit.decide(offer(t), at=float(t))
            bandit.reward(d.id, worth(t, d.item))
            print(t, flush=True)


if __name__ == "__main__":
    warm = db.Bandit(half_life=200)
    warm.reward(warm.decide(offer(0)).id, 1.0)  # compiled code is loaded before the first life
    while True:
        life = os.fork()
        if life == 0:
            print("pid", os.getpid(), flush=True)
            main(sys.argv[1], int(sys.argv[2]), len(sys.argv) > 3)
            os._exit(0)
        if os.waitpid(life, 0)[1] == 0:
            break
