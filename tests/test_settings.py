"""From TOML to settings: what a file can say, and what is said about its mistakes."""

from pathlib import Path

import pytest

from overtone.optimizers.halving import Hyperband
from overtone.optimizers.harmonica import Harmonica
from overtone.optimizers.random_search import RandomSearch
from overtone.optimizers.trial import Optimizer
from overtone.running.command import Command
from overtone.running.command_value import Reading
from overtone.running.function import Function
from overtone.settings.problems import TABLES, key_names
from overtone.settings.settings import Settings, load_settings

ROOT = Path(__file__).parent.parent
EXAMPLES, PAGE = ROOT / "examples" / "commands", ROOT / "docs" / "commands.md"
# the example of the design, as it stands there
FRONT_DOOR = """
objective = { command = "python train.py --lr {lr} --bn {batch_norm}", value = 'error=([0-9.]+)', timeout = 3600 }
space.lr         = { real = [1e-4, 1e-1], levels = 8, log = true }
space.batch_norm = { boolean = true }
forbid           = [{ lr = 0.1, batch_norm = false }]
harmonica        = { n_stages = 3, n_samples = 100, base = "hyperband" }
run              = { workers = 8, ledger = "tune.db", seed = 0 }
"""
SMALL = """
objective.command = "p {a} {b}"
space.a = { boolean = true }
space.b = { choice = ["x", "y", "z"] }
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tune.toml"


def load(file: Path, text: str) -> Settings:
    file.write_text(text)
    return load_settings(file)


def command(settings: Settings) -> Command:
    assert isinstance(settings.objective, Command)
    return settings.objective


def made(settings: Settings) -> Optimizer:
    assert settings.optimizer is not None
    return settings.optimizer(settings.space, settings.run.seed)


# what a file can say


def test_the_example_of_the_design(file: Path) -> None:
    settings = load(file, FRONT_DOOR)
    assert list(settings.space.parameters) == ["lr", "batch_norm"]
    assert not settings.space.allows({"lr": 0.1, "batch_norm": False})
    assert command(settings).value == Reading("regex", "error=([0-9.]+)")
    assert (settings.timeout, settings.run.workers, settings.ledger) == (3600.0, 8, file.with_name("tune.db"))
    optimizer = made(settings)
    assert isinstance(optimizer, Harmonica) and (optimizer.n_stages, optimizer.n_samples) == (3, 100)
    assert isinstance(optimizer.base(settings.space, 0), Hyperband)
    assert "no {budget}" in settings.notes[0]


def test_every_kind_of_parameter(file: Path) -> None:
    text = """
    objective.command = "p {config}"
    [space]
    "a b" = { boolean = true }
    c = { choice = ["x", 1, 2.5, true], coding = "contrasts" }
    o = { ordinal = [1, 2, 4], when = { "a b" = false, c = ["x", 1] } }
    i = { integer = [1, 100], levels = 4, log = true }
    j = { integer = [1, 3] }
    r = { real = [0, 1], levels = 3 }
    s = { real = [0.5, 1.5] }
    """
    parameters = load(file, text).space.parameters
    assert parameters["c"].levels == ("x", 1, 2.5, True)
    assert dict(parameters["o"].when) == {"a b": False, "c": ("x", 1)}
    assert len(parameters["i"].levels) == 4
    assert parameters["j"].levels == (1, 2, 3)
    assert parameters["r"].levels == (0.0, 0.5, 1.0)
    assert (parameters["s"].low, parameters["s"].high, parameters["s"].is_continuous) == (0.5, 1.5, True)


def test_what_is_left_out_is_automatic(file: Path) -> None:
    settings = load(file, SMALL)
    assert settings.ledger == file.with_suffix(".db")
    assert command(settings).scratch == str(file.with_name("tune.db.trials"))
    assert command(settings).cwd == str(file.parent)
    assert (settings.goal, settings.default, settings.timeout, settings.memory) == ("minimize", None, None, None)
    assert settings.optimizer is None  # `minimize` chooses
    assert settings.plan.n_evaluations == 6  # all there is


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("'last line'", Reading()),
        ("'wall time'", Reading("wall time")),
        ("'exit code'", Reading("exit code")),
        ("{ json = 'a.0' }", Reading("json", "a.0")),
        ("{ json = 'a', file = 'm.json' }", Reading("json", "a", "m.json")),
        ("{ regex = '(.)', file = 'd/m.txt' }", Reading("regex", "(.)", "d/m.txt")),
    ],
)
def test_where_the_value_is(file: Path, text: str, reading: Reading) -> None:
    assert command(load(file, SMALL + f"objective.value = {text}")).value == reading


@pytest.mark.parametrize(("text", "size"), [("5000", 5000), ("'2GB'", 2 * 10**9), ("'1.5 MiB'", 3 * 2**19)])
def test_memory(file: Path, text: str, size: int) -> None:
    assert load(file, SMALL + f"objective.memory = {text}").memory == size


def test_a_text_is_split_before_values_come_in(file: Path) -> None:
    text = "objective.command = '''p --a={a} \"x {b} y\" 'z {{}}' '''\n" + SMALL.split("\n", 2)[2]
    found = command(load(file, text))
    assert found.filled({"a": True, "b": "1 2"}, None, "") == ["p", "--a=true", "x 1 2 y", "z {}"]


def test_the_budget_of_trials_that_have_none_is_the_full_one(file: Path) -> None:
    budget = SMALL.replace("{b}", "{b} {budget}")
    assert command(load(file, budget + "harmonica.base = 'hyperband'")).budget == 27.0
    assert command(load(file, budget + "optimizer = 'hyperband'\nhyperband.max_budget = 81")).budget == 81.0
    assert command(load(file, budget + "harmonica.budget = 3")).budget == 3.0
    assert command(load(file, budget + "harmonica.budget = 3\nlocal_search.budget = 9")).budget == 9.0


@pytest.mark.parametrize("name", ["random_search", "local_search", "hyperband", "successive_halving"])
def test_every_optimizer_alone_and_as_a_base(file: Path, name: str) -> None:
    alone = load(file, SMALL + f"optimizer = '{name}'")
    base = load(file, SMALL + f"harmonica = {{ base = '{name}', n_stages = 1, n_samples = 4 }}")
    assert base.plan.n_evaluations == 4 + alone.plan.n_evaluations
    optimizer = made(base)
    assert isinstance(optimizer, Harmonica)
    assert type(optimizer.base(base.space, 0)) is type(made(alone))


def test_the_plan_in_rounds(file: Path) -> None:
    text = "objective.command = 'p {config}'\n" + "\n".join(f"space.x{i} = {{ boolean = true }}" for i in range(20))
    settings = load(file, text + "\nharmonica = { n_stages = 2, n_samples = 10 }\nrun.evaluations = 25")
    assert [(part.name, part.n) for part in settings.plan.parts] == [
        *[("stage 1", 10), ("stage 2", 10), ("local search", 5)]
    ]
    assert settings.plan.n_rounds(4) == 3 + 3 + 2
    more = load(file, text + "\noptimizer = 'random_search'\nrun.evaluations = 1000")
    assert isinstance(made(more), RandomSearch)
    assert more.plan.n_evaluations == 1000  # the run's number, where the optimizer has none of its own


def test_the_examples_load(file: Path) -> None:
    for path in sorted(EXAMPLES.glob("*.toml")):
        load_settings(path)
    shown = PAGE.read_text().partition("```toml\n")[2].partition("```")[0]
    assert load(file, shown).run.evaluations == 500


# the reference


def test_every_key_is_in_the_reference() -> None:
    text = PAGE.read_text()
    for place, table in TABLES.items():
        for name in key_names(table):
            assert f"| `{'.'.join([*place, name]).replace('*', 'NAME')}` |" in text, f"{place} {name} is not documented"


def test_a_python_function(file: Path) -> None:
    file.with_name("train.py").write_text("def error(config, budget): return config['a'] + budget")
    settings = load(file, "objective.function = 'train.py:error'\nspace.a = { ordinal = [1, 2] }")
    assert isinstance(settings.objective, Function)
    assert settings.objective({"a": 2}, 0.5) == 2.5
    assert Function.from_dict(settings.objective.to_dict()) == settings.objective
