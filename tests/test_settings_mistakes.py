"""What is said about the mistakes of a file: all at once, each with its key and a hint."""

import re
from pathlib import Path

import pytest

from overtone.errors import InputError
from overtone.settings.problems import key_path, toml_text
from overtone.settings.settings import load_settings
from tests.test_settings import SMALL, command, load


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tune.toml"


def mistakes(file: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as refused:
        load(file, text)
    lines = str(refused.value).splitlines()
    assert all(line.startswith(f"{file}: ") for line in lines)
    return [line.removeprefix(f"{file}: ") for line in lines]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("foo = 1", "foo: unknown key: there are 'objective', 'space'"),
        ("harmonika.n_stages = 1", "harmonika: unknown key: did you mean 'harmonica'?"),
        ("objective.comand = 'p'", "objective.comand: unknown key: did you mean 'command'?"),
        ("objective.value = { jsn = 'a' }", "objective.value.jsn: unknown key: did you mean 'json'?"),
        ("space.c = { boolean = true, onn = 'x' }", "space.c.onn: unknown key: did you mean 'on'?"),
        ('space."a b" = { bolean = true }', "space.\"a b\".bolean: unknown key: did you mean 'boolean'?"),
        ("harmonica.nstages = 1", "harmonica.nstages: unknown key: did you mean 'n_stages'?"),
        ("random_search.n_evals = 1", "random_search.n_evals: unknown key: did you mean 'n_evaluations'?"),
        ("local_search.budgett = 1", "local_search.budgett: unknown key: did you mean 'budget'?"),
        ("hyperband.maxbudget = 1", "hyperband.maxbudget: unknown key: did you mean 'max_budget'?"),
        ("successive_halving.etta = 1", "successive_halving.etta: unknown key: did you mean 'eta'?"),
        ("run.worker = 1", "run.worker: unknown key: did you mean 'workers'?"),
        ("workers = 1", "workers: unknown key: it belongs into `run`"),
        ("run.timeout = 1", "run.timeout: unknown key: it belongs into `objective`"),
        (
            "objective.goal = 'minimise'",
            "must be 'minimize' or 'maximize', but got 'minimise': did you mean 'minimize'?",
        ),
        ("optimizer = 'random search'", "did you mean 'random_search'?"),
        ("harmonica.base = 'hyperbant'", "did you mean 'hyperband'?"),
        ("objective.value = 'walltime'", "objective.value: it must be one of 'last line', 'wall time'"),
        ("objective.value = 'walltime'", "did you mean 'wall time'?"),
        ("objective.value = '(a'", "is no regular expression"),
        ("objective.value = {}", "objective.value: it must have just one of `json` and `regex`"),
        ("objective.value = { json = 'a', file = '/x' }", "must be a path in the folder of the trial, but got '/x'"),
        ("objective.value = { json = 'a', file = '../x' }", "must be a path in the folder"),
        ("objective.value = 3", "objective.value: must be a text or a table"),
        ("objective.timeout = '1h'", "objective.timeout: must be a number, but got '1h'"),
        ("objective.timeout = 0", "objective.timeout: must be greater than 0, but got 0"),
        ("objective.memory = '2 bananas'", "objective.memory: must be a number of bytes, or a text like '2GB'"),
        ("objective.repeats = true", "objective.repeats: must be a whole number, but got true"),
        ("objective.shell = 1", "objective.shell: must be true or false, but got 1"),
        ("objective.env = { 'A=B' = 'x' }", 'objective.env."A=B": it is no name'),
        ("objective.env = { A = 1 }", "objective.env.A: must be a text, but got 1"),
        ("objective.env = { A = '{aa}' }", "objective.env.A: {aa} is no parameter: did you mean 'a'?"),
        ("run = 3", "run: must be a table"),
        ("run.seed = -1", "run.seed: must be greater than or equal to 0"),
        ("run.target = inf", "run.target: must be a finite number"),
        ("run.ledger = 'tune.toml'", "run.ledger: it must be another file"),
        ("hyperband.eta = 3", "hyperband: it is not used"),
        ("space.c = {}", "space.c: must have just one of boolean, choice, ordinal, integer, real, but has none"),
        ("space.c = { boolean = true, choice = [1, 2] }", "space.c: must have just one of"),
        ("space.c = { boolean = false }", "space.c.boolean: must be true, but got false"),
        (
            "space.c = { boolean = true, levels = 3 }",
            "space.c: `levels` goes with integer and real, but this is boolean",
        ),
        ("space.c = { choice = [1, 2], on = 'x', off = 'y' }", "space.c: `on` goes with boolean"),
        ("space.c = { boolean = true, on = 'x' }", "space.c: `on` and `off` go together"),
        (
            "space.c = { boolean = true, on = '\"x', off = '' }",
            "space.c.on: it is split into arguments as a shell does",
        ),
        ("space.c = { choice = [1, [2]] }", "space.c.choice[1]: must be a text, a number, true or false, but got [2]"),
        ("space.c = { choice = [1] }", "space.c.choice: must have more in it, but got [1]"),
        ("space.c = { choice = [1, 1] }", "space.c: "),
        ('space.c = { choice = ["a\\u0000", "b"] }', "space.c: a text must not hold the character NUL"),
        ("space.c = { integer = [1, 2.5] }", "space.c.integer[1]: must be a whole number, but got 2.5"),
        ("space.c = { real = [1] }", "space.c.real: "),
        ("space.c = { real = [1, 0] }", "space.c: `low < high` must hold"),
        ("space.c = { real = [0, 1], log = true }", "space.c: "),
        ("space.c = { boolean = true, when = { aa = true } }", "space.c.when: it names 'aa', which is no parameter"),
        ("space.c = { boolean = true, when = { b = 'w' } }", "space.c.when: it can never hold: 'w' is no level of 'b'"),
        ("space.c = { boolean = true, when = { c = true } }", "must not go in a circle"),
        ("space.config = { boolean = true }", "space.config: {config} means something else"),
        ("forbid = [{ b = 'w' }]", "forbid[0]: it can never hold"),
        ("forbid = [{ a = [true, false] }]", "forbid: some configuration must be allowed"),
        ("forbid = [3]", "forbid[0]: must be a table"),
        (
            "default = { a = true }",
            "default: a default must have a value for every parameter that is active, but b is missing",
        ),
        ("default = { a = true, b = 'w' }", "default: 'b' must be one of ['x', 'y', 'z'], but got 'w'"),
        ("default = { a = true, bb = 'x' }", "default: 'bb' is no parameter: did you mean 'b'?"),
        (
            "default = { a = true, b = 'x' }\nforbid = [{ b = 'x' }]",
            "default: a default must be allowed, but `forbid` rules it out",
        ),
    ],
)
def test_a_mistake_is_named_with_its_key(file: Path, text: str, line: str) -> None:
    assert any(line in each for each in mistakes(file, SMALL + text)), mistakes(file, SMALL + text)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("'p {a}'", "missing placeholder: 'b' must reach the command, but does not: write {b}"),
        ("'p {a} {b} {lr}'", "{lr} is no parameter: there are 'a', 'b', 'budget', 'config', 'flags', 'folder'"),
        ("'p {a} {b} {confg}'", "{confg} is no parameter: did you mean 'config'?"),
        ("'p {a} {b} {'", "a brace that stands for itself must be written twice"),
        ("'p {a} {b} {flags}'", "{flags} is empty"),
        ("'p {a} {b} {budget}'", "{budget} has no value"),
        ("'p {a} {b} | grep x'", "'|' would be given to the program as it is"),
        ("'p {a} \"{b}'", "No closing quotation"),
        ("''", "it must name a program, but is empty"),
        ("[]", "must have more in it, but got []"),
        ("[['p'], []]", "must have more in it, but got []"),
        ("3", "must be a text or a list of texts, but got 3"),
        ("['p', 3]", "objective.command[1]: must be a text"),
        ('"p \\u0000 {config}"', "it must not hold the character NUL"),
    ],
)
def test_a_command_that_does_not_fit_the_space(file: Path, command: str, line: str) -> None:
    (found,) = mistakes(file, f"objective.command = {command}\n" + SMALL.split("\n", 2)[2])
    assert found.startswith("objective.command")
    assert line in found


CONDITIONAL = "space.c = { boolean = true, when = { a = true } }\n"


@pytest.mark.parametrize("argument", ["'--c={c}'", "['--c', '{c}']", "['{c}']", "'x', '{c}'", "'--d=1', '{c}'"])
def test_what_is_not_always_active_is_left_out_as_a_whole(file: Path, argument: str) -> None:
    load(file, SMALL.replace('"p {a} {b}"', f"['p', '{{a}}', '{{b}}', {argument}]") + CONDITIONAL)


def test_what_would_be_left_out_by_half_is_refused(file: Path) -> None:
    (found,) = mistakes(file, SMALL.replace("{b}", "{b} --c {c}") + CONDITIONAL)
    assert "not clear whether '--c' is then left out" in found
    assert '"--c={c}"' in found and '["--c", "{c}"]' in found
    (found,) = mistakes(file, SMALL.replace("{b}", "{b} {c}") + CONDITIONAL + "objective.shell = true")
    assert "a shell text cannot leave out an argument" in found


def test_flags_stand_alone(file: Path) -> None:
    flagged = SMALL.replace("boolean = true", "boolean = true, on = '-a', off = ''")
    assert command(load(file, flagged.replace("{a}", "{flags}"))).texts == {"a": ("-a", "")}
    (found,) = mistakes(file, flagged.replace("{a}", "--x={flags}"))
    assert "{flags} must be an argument of its own" in found
    (found,) = mistakes(file, flagged.replace("{a}", "'{flags}'") + "objective.shell = true")
    assert "outside of quotes" in found


def test_a_shell_is_asked_for_explicitly(file: Path) -> None:
    piped = SMALL.replace('"p {a} {b}"', "'p {a} {b} | q'")
    assert command(load(file, piped + "objective.shell = true")).shell
    assert "set `shell = true`" in mistakes(file, piped)[0]
    listed = SMALL.replace('"p {a} {b}"', "['p', '{a} {b}']")
    assert "it must be a text" in mistakes(file, listed + "objective.shell = true")[0]


@pytest.mark.parametrize(
    "clause",
    ["space.d = { boolean = true, when = { c = true, a = false } }", "forbid = [{ c = true, a = false }]"],
)
def test_a_clause_that_can_never_hold_is_a_mistake(file: Path, clause: str) -> None:
    text = SMALL.replace("{b}", "{config}") + CONDITIONAL + clause
    (found,) = mistakes(file, text)
    assert "it can never hold: 'a' would need two levels at once" in found


def test_a_default_without_what_is_not_active(file: Path) -> None:
    text = SMALL.replace("{b}", "{config}") + CONDITIONAL
    assert load(file, text + "default = { a = false, b = 'x' }").default == {"a": False, "b": "x"}
    (found,) = mistakes(file, text + "default = { a = false, b = 'x', c = true }")
    assert found == "default: 'c' is not active with the others: leave it out"


def test_all_mistakes_come_at_once(file: Path) -> None:
    found = mistakes(file, SMALL + "foo = 1\nrun.workers = 'x'\nspace.c = { reel = [0, 1] }\nobjective.goal = 'x'")
    assert [line.partition(":")[0] for line in found] == ["objective.goal", "space.c.reel", "run.workers", "foo"]
    found = mistakes(file, SMALL + "space.c = { real = [1, 0] }\nspace.d = {}\nobjective.value = '('\nhyperband = {}")
    assert [line.partition(":")[0] for line in found] == ["hyperband", "objective.value", "space.c", "space.d"]


def test_what_must_be_given(file: Path) -> None:
    assert [line.partition(",")[0] for line in mistakes(file, "")] == [
        *["objective: must be given", "space: must be given"]
    ]
    assert mistakes(file, SMALL + "objective = {}")[0].startswith("it must be TOML")
    assert "`command` or `function`" in mistakes(file, "objective = {}\nspace.a = { boolean = true }")[0]
    assert "space" in mistakes(file, "objective.command = 'p'\nspace = {}")[0]


def test_a_file_that_is_no_toml_says_where(file: Path) -> None:
    (found,) = mistakes(file, "[objective]\ncommand = \n")
    assert re.fullmatch(r"it must be TOML, but: .*at line 2, column \d+.*", found)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="it must be TOML, but"):
        load_settings(file)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        load_settings(tmp_path / "none.toml")
    with pytest.raises(InputError, match="Is a directory"):
        load_settings(tmp_path)


def test_keys_are_shown_as_toml_writes_them() -> None:
    assert key_path(["space", 'a "b"\n', "choice", 1]) == 'space."a \\"b\\"\\u000a".choice[1]'
    assert toml_text("é\\") == '"é\\\\"'


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("function = 'train.py'", "must be like 'train.py:error'"),
        ("function = 'other.py:error'", "there must be a file 'other.py'"),
        ("function = 'train.py:error'\nobjective.command = 'p {a}'", "just one of them"),
        ("function = 'train.py:error'\nobjective.shell = true", "objective.shell: it goes with `command`"),
        ("function = 'train.py:error'\nobjective.repeats = 2", "objective.repeats: it goes with `command`"),
        ("function = 'train.py:error'\nspace.b = { boolean = true, on = '', off = '' }", "space.b.on: texts go with"),
    ],
)
def test_a_function_that_cannot_be(file: Path, keys: str, words: str) -> None:
    file.with_name("train.py").write_text("def error(config): return 0.0")
    assert words in mistakes(file, f"space.a = {{ boolean = true }}\nobjective.{keys}")[0]
