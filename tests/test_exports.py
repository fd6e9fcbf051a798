import overtone

EXPORTED = [
    "InputError",
    "NotConvergedWarning",
    "OvertoneError",
]


def test_the_exported_names_are_these() -> None:
    """A name is a promise: whoever adds or removes one says so here, and in the changelog."""
    assert list(overtone.__all__) == EXPORTED


def test_the_exported_names_are_sorted_and_there() -> None:
    assert sorted(overtone.__all__) == list(overtone.__all__)
    assert [name for name in overtone.__all__ if not hasattr(overtone, name)] == []


def test_every_class_says_what_it_is() -> None:
    undocumented = [name for name in overtone.__all__ if not getattr(overtone, name).__doc__]
    assert undocumented == []
