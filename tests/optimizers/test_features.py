import numpy as np
import pytest

from overtone.optimizers.features import CELLS, Features
from overtone.space import Space, boolean, choice, ordinal, real
from overtone.spectral.polynomial import Polynomial
from tests.optimizers.driving import booleans

SPACE = Space({"on": boolean(), "size": ordinal([1, 2, 4, 8]), "color": choice(["r", "g", "b"]), "u": real(0, 1)})


def test_names_and_groups() -> None:
    features = Features(SPACE)
    assert features.names == ["on", "size.1", "size.2", "color~1", "color~2", "u", "P2(u)", "P3(u)"]
    assert features.groups.tolist() == [0, 1, 2, 3, 3, 4, 4, 4]


def test_columns_are_orthonormal_under_the_draws() -> None:
    rng = np.random.default_rng(0)
    values = Features(SPACE).values([SPACE.draw(rng) for _ in range(20_000)])
    assert values.T @ values / len(values) == pytest.approx(np.eye(8), abs=0.04)
    assert values.mean(axis=0) == pytest.approx(np.zeros(8), abs=0.03)


def test_usable_columns_vary_and_were_not_narrowed() -> None:
    space = SPACE.restrict([{0: 1.0, 1: 1.0, 3: 0.0, 4: (0.0, 0.25)}, {0: 1.0, 1: -1.0, 3: 2.0, 4: (0.5, 0.75)}])
    rng = np.random.default_rng(0)
    usable = Features(space).usable([space.draw(rng) for _ in range(50)])
    assert usable.tolist() == [False, True, True, False, False, False, False, False]


def test_widen_puts_columns_back() -> None:
    features = Features(SPACE)
    which = np.array([False, True, False, True, True, False, False, True])
    narrow = Polynomial({(): 1.0, (0,): 2.0, (1, 3): 3.0, (2,): 4.0}, 4)
    wide = features.widen(narrow, which)
    assert dict(wide.terms) == {(): 1.0, (1,): 2.0, (3, 7): 3.0, (4,): 4.0}
    rng = np.random.default_rng(0)
    points = [SPACE.draw(rng) for _ in range(9)]
    assert wide(features.values(points)) == pytest.approx(narrow(features.columns(points, which)))


# ---- minimizers ----


def test_minimizers_are_restrictions() -> None:
    """On is good, and so is 'b', which minus the contrasts at that level says, and so is a large u."""
    features = Features(SPACE)
    at_b = -features.families[3].levels[2]  # (2,)
    polynomial = Polynomial({(0,): -1.0, (3,): float(at_b[0]), (4,): float(at_b[1]), (5,): -1.0}, 8)
    (best, value), *rest = features.minimizers(polynomial, 3)
    assert best == {0: 1.0, 3: 2.0, 4: (1 - 2 / CELLS, 1.0)}
    assert value == pytest.approx(-1 - at_b @ at_b - np.sqrt(3) * (1 - 1 / CELLS))
    assert value <= rest[0][1] <= rest[1][1]
    assert SPACE.restrict([best]).describe() == ["on = True", "color = 'b'", "u from 0.875 to 1"]


def test_forbidden_minimizers_are_left_out() -> None:
    space = Space(dict(SPACE.parameters), [{"on": False, "size": [1, 2]}])
    polynomial = Polynomial({(0,): 2.0, (1,): 1.0}, 8)  # lowest off and small
    assert Features(SPACE).minimizers(polynomial, 1)[0] == ({0: -1.0, 1: -1.0}, -3.0)
    assert Features(space).minimizers(polynomial, 4) == [  # size.2 is not touched, but cannot help
        ({0: -1.0, 1: 1.0}, -1.0),
        ({0: 1.0, 1: -1.0}, 1.0),
        ({0: 1.0, 1: 1.0}, 3.0),
    ]


def test_clauses_bind_through_what_was_fixed_before() -> None:
    """x0 is on already, x0 and x1 are forbidden together: x1 cannot be switched on, however good it looks."""
    space = Space({f"x{i}": boolean() for i in range(3)}, [{"x0": True, "x1": True}]).restrict([{0: 1.0}])
    ((best, value),) = Features(space).minimizers(Polynomial({(1,): -1.0}, 3), 4)
    assert (best, value) == ({0: 1.0, 1: -1.0}, 1.0)


def test_clauses_of_what_is_not_active_bind_nothing() -> None:
    """'drop' is not there where 'on': that it must not be True then means nothing."""
    parameters = {"on": boolean(), "drop": boolean(when={"on": False})}
    space = Space(parameters, [{"on": True, "drop": [False, True]}])
    assert Features(space).minimizers(Polynomial({(0,): -1.0, (1,): -2.0}, 2), 1) == [({0: 1.0, 1: 1.0}, -3.0)]
    without = Space(parameters, [{"drop": True}])  # where 'drop' is active
    assert Features(without).minimizers(Polynomial({(0,): 1.0, (1,): -2.0}, 2), 1) == [({0: 1.0, 1: 1.0}, -1.0)]


def test_nothing_is_found_where_there_is_too_much_to_list() -> None:
    """Three choices of 128 levels have 2^21 joint ones, more than a table may have."""
    space = Space({name: choice(range(128)) for name in "abc"})
    assert Features(space).minimizers(Polynomial({(0, 127, 254): 1.0}, 381), 1) == []


def test_minimizers_complete_those_of_earlier_stages() -> None:
    """x0 x1 left two settings; x0 x2 - 0.1 x0 then needs x0 and x1 to stay together."""
    space = booleans(3).restrict([{0: -1.0, 1: 1.0}, {0: 1.0, 1: -1.0}])
    earlier = [Polynomial({(0, 1): 1.0}, 3)]
    found = Features(space).minimizers(Polynomial({(0, 2): 1.0, (0,): -0.1}, 3), 2, earlier)
    assert [restriction for restriction, _ in found] == [{0: 1.0, 1: -1.0, 2: -1.0}, {0: -1.0, 1: 1.0, 2: 1.0}]
    assert [value for _, value in found] == pytest.approx([-2.1, -1.9])


def test_minimizers_of_other_units_leave_earlier_stages_alone() -> None:
    space = booleans(3).restrict([{0: -1.0, 1: 1.0}, {0: 1.0, 1: -1.0}])
    assert Features(space).minimizers(Polynomial({(2,): 1.0}, 3), 1) == [({2: -1.0}, -1.0)]
