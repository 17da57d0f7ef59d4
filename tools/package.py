"""Build wheel and sdist, install each in a clean environment outside the repository, and use what a user would use.

python tools/package.py
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
DIST = TOP / "build" / "dist"
SMOKE = """
import driftbandits as db, pathlib
assert "site-packages" in db.__file__, db.__file__
strategy = db.zoo.lb_weight_ucb(gamma=0.95, lam=1, S=1, L=1, R=0.5, delta=0.05)
world = db.env.linear(db.env.unit_arms(10, dim=2, seed=0), db.env.rotating(200))
assert db.simulate(strategy, world, seed=0).regret[-1] > 0
agent = db.Agent(strategy, dim=2, seed=0, compile="now")
agent.update(1.0, x=[1.0, 0.0])
agent.save("agent")
assert (db.Agent.load("agent", compile="now").theta == agent.theta).all()
from driftbandits.testing import check_strategy
assert len(check_strategy(strategy, rounds=5)) >= 9
print(db.__version__)
"""


def built() -> list[pathlib.Path]:
    """The wheel and the sdist, newly made."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", DIST], cwd=TOP, check=True
    )
    return sorted(DIST.iterdir())


def check(package: pathlib.Path) -> None:
    """Install and use it; any failure ends the run."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        own = pathlib.Path(folder) / "bin"
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{package}[command,state]"]
        subprocess.run([own / "python", *install], check=True)
        subprocess.run([own / "python", "-c", SMOKE], cwd=folder, check=True)
        subprocess.run([own / "driftbandits", "list"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    print(f"{package.name}: installed in a clean environment, smoke set passes", flush=True)


if __name__ == "__main__":
    for each in built():
        check(each)
