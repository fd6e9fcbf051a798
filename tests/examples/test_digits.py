"""The demo's example: its options are those of the network, and a short run of it works."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np

from overtone.settings.settings import load_settings

FOLDER = Path(__file__).parent.parent.parent / "examples" / "digits"
TUNE = (FOLDER / "tune.toml").read_text()


def test_the_default_is_as_good_as_the_readme_says() -> None:
    settings = load_settings(FOLDER / "tune.toml")
    assert settings.default is not None
    assert 10 < settings.objective(settings.default) < 20


def test_every_configuration_can_be_evaluated_and_dummies_do_nothing() -> None:
    settings = load_settings(FOLDER / "tune.toml")
    rng = np.random.default_rng(0)
    for _ in range(10):
        config = settings.space.decode(settings.space.draw(rng))
        flipped = {name: not value if name.startswith("dummy") else value for name, value in config.items()}
        assert 0 < settings.objective(config) == settings.objective(flipped) <= 100


def test_there_are_39_options_and_20_dummies() -> None:
    names = tomllib.loads(TUNE)["space"]
    assert len([name for name in names if name.startswith("dummy")]) == 20
    assert len(names) == 59


def test_a_short_run_and_the_comparison(tmp_path: Path) -> None:
    for name in ("network.py", "compare.py"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    (tmp_path / "tune.toml").write_text(TUNE.replace("1400", "40").replace("400", "15"))
    for words in (["-m", "overtone", "run", "-q", "tune.toml"], ["compare.py"]):
        done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "random search, 40 trials" in done.stdout
    assert "the untuned default" in done.stdout
