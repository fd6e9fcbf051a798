import pytest

from overtone import errors
from overtone.errors import InputError, NotConvergedWarning, OvertoneError


@pytest.mark.parametrize("caught", [InputError, OvertoneError, ValueError])
def test_a_bad_input_is_caught_by_every_name_a_caller_may_use(caught: type[Exception]) -> None:
    with pytest.raises(caught, match="said so"):
        raise InputError("said so")


def test_the_root_is_no_value_error() -> None:
    """So that `except ValueError` does not swallow errors that are not about the input."""
    assert OvertoneError.__mro__[1] is Exception


def test_the_warning_is_a_user_warning_and_no_error_of_the_tree() -> None:
    assert issubclass(NotConvergedWarning, UserWarning)
    assert not issubclass(NotConvergedWarning, OvertoneError)


def test_every_error_is_in_the_tree_drawn_at_the_top_of_its_file() -> None:
    classes = {name: value for name, value in vars(errors).items() if isinstance(value, type)}
    assert {"InputError", "NotConvergedWarning", "OvertoneError"} <= set(classes)
    for name, value in classes.items():
        assert name in str(errors.__doc__), f"{name} is missing from the drawing"
        assert issubclass(value, OvertoneError | UserWarning), f"{name} stands outside of the tree"
