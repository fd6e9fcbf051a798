"""Texts with placeholders, and where they may stand in a text for a shell."""

import random
import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overtone.errors import InputError
from overtone.running.command_text import check_shell, fill, parse, slots, written, written_budget


def literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_text_is_filled_and_doubled_braces_are_braces() -> None:
    assert fill("--x={a}/{b}", {"a": "1", "b": "2"}) == "--x=1/2"
    assert fill("{{{a}}} {{b}}", {"a": "1"}) == "{1} {b}"
    assert fill("{a}{b}", {"a": "1"}) is None
    assert slots("{a} {{b}} {c d}") == ["a", "c d"]


@pytest.mark.parametrize("text", ["{", "}", "{a", "a}", "{a}}", '{"a": {b}}'])
def test_a_brace_that_stands_alone_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="written twice"):
        parse(text)


@given(st.text(), st.text())
def test_a_value_is_never_read_as_a_placeholder(before: str, value: str) -> None:
    assert fill(literal(before) + "{x}", {"x": value}) == before + value


def test_values_are_written_so_that_nothing_is_lost() -> None:
    assert [written(value) for value in (True, False, None, 1, 0.1, 1e-7, "a b")] == [
        *("true", "false", "null", "1", "0.1", "1e-07", "a b")
    ]
    assert [written_budget(27.0), written_budget(0.5)] == ["27", "0.5"]


@pytest.mark.parametrize(
    "text",
    [
        'echo "{x}"',
        "echo '{x}'",
        "echo `echo {x}`",
        'echo "$(echo "{x}")"',
        'echo "${{y:-"{x}"}}"',
        "cat <<E\n{x}\nE",
        "echo $(( {x} ))",
        "echo $[ {x} ]",
        "echo ${x}",
        "echo \\{x}",
        "echo a # {x}",
        "# it's\necho '{x}'",
        '# "\necho "{x}"',
        "echo $'a\\' {x}'",
        'echo "{x}',
        "echo 'a {x}",
    ],
)
def test_a_placeholder_in_a_shell_text_stands_where_quotes_work(text: str) -> None:
    with pytest.raises(InputError, match="outside of quotes"):
        check_shell(text)


@pytest.mark.parametrize(
    "text",
    [
        "echo {x} | sort",
        'echo --x={x} "$HOME" \'a b\' "it\'s"',
        'a={x}; echo "$a" # it\'s',
        "echo ${{HOME}} {x}",
        'echo "${{HOME}}" {x}',
        'echo $(cat {x}) \\" {x}',
        "echo '`' \"<<\" {x}",
        "cat <<E\nno placeholder\nE",
    ],
)
def test_other_shell_texts_are_fine(text: str) -> None:
    check_shell(text)


WORDS = [*"'\"\\`$()#<Ea=:-;[]*~", "{{", "}}", "<<", "$(", "$((", "${{a:-", "{x}", "{x}", "{x}", "&&", "$'"]
ATTACKS = [
    *("$(: >pwned)", "`: >pwned`", "'$(: >pwned)'", "a[$(: >pwned)]", "; : >pwned; #", "'; : >pwned; '"),
    *('"; : >pwned; "', "\n: >pwned\n", "E\n: >pwned\nE", '}"; : >pwned; "', ')"; : >pwned; "', "\\'; : >pwned; \\'"),
]


def test_no_value_becomes_code_in_a_shell_text_that_is_accepted() -> None:
    rng = random.Random(0)  # noqa: S311 - for texts to try
    tried = 0
    while tried < 30:
        text = ": " + "".join(rng.choice([*WORDS, " ", "\n"]) for _ in range(rng.randint(1, 12)))
        try:
            check_shell(text)
        except InputError:
            continue
        for value in ATTACKS if slots(text) else []:
            script = fill(text, {"x": shlex.quote(value)})
            subprocess.run(
                ["/bin/sh", "-c", str(script)], stdin=subprocess.DEVNULL, capture_output=True, env={"PATH": ""}
            )
            assert not Path("pwned").exists(), (text, value)
        tried += bool(slots(text))
