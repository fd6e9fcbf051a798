"""Linear algebra over GF(2): vectors are bit masks (forms), sums are exclusive or."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from overtone.spectral.monomials import IntArray

Bits = NDArray[np.uint8]
BYTES = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")  # (256, 8)


def echelon(forms: Iterable[int], start: Sequence[int] = ()) -> tuple[int, ...]:
    """A basis of the span of `forms` and `start` (itself such a basis), rising, no two with the same leading bit."""
    basis = {form.bit_length(): form for form in start}
    for form in forms:
        while form and (pivot := basis.get(form.bit_length())):
            form ^= pivot
        if form:
            basis[form.bit_length()] = form
    return tuple(sorted(basis.values()))


def intersection(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    """A basis of the forms that both spans contain (Zassenhaus)."""
    width = max(first[-1], second[-1]).bit_length()
    rows = echelon([form << width | form for form in first] + [form << width for form in second])
    return tuple(row for row in rows if not row >> width)


def cells(forms: Sequence[int], basis: Sequence[int]) -> IntArray:
    """The cell over `forms` that each cell over `basis`, whose span contains them, lies in.  # (2^len(basis),)"""
    place = {form.bit_length(): j for j, form in enumerate(basis)}
    flips = [0] * len(basis)  # what each basis form switches in the number of the cell
    for i, form in enumerate(forms):
        while form:
            j = place[form.bit_length()]
            flips[j] ^= 1 << (len(forms) - 1 - i)
            form ^= basis[j]
    numbers = np.zeros(1, dtype=np.intp)
    for flip in reversed(flips):
        numbers = np.concatenate([numbers, numbers ^ flip])
    return numbers


def bits_of(form: int) -> list[int]:
    """The bits that a form looks at, rising."""
    found = []
    while form:
        low = form & -form
        found.append(low.bit_length() - 1)
        form ^= low
    return found


def union(forms: Iterable[int]) -> int:
    """All bits that some of the forms look at."""
    mask = 0
    for form in forms:
        mask |= form
    return mask


def bit_matrix(forms: Sequence[int], n: int) -> Bits:
    """Forms as rows of zeros and ones.  # (len(forms), n)"""
    size = (n + 7) // 8
    packed = np.frombuffer(b"".join(form.to_bytes(size, "little") for form in forms), dtype=np.uint8)
    return np.unpackbits(packed.reshape(len(forms), size), axis=1, bitorder="little")[:, :n]


def switches(lists: Iterable[Sequence[int]], n: int) -> IntArray:
    """What each bit switches in the number of the cell over each list of forms.  # (lists, n)"""
    rows = [(1 << np.arange(len(forms))[::-1]) @ bit_matrix(forms, n) for forms in lists]
    return np.array(rows, dtype=np.intp).reshape(len(rows), n)


def rewrite(form: int, units: Sequence[int]) -> int:
    """The same form in new bits, old bit v being the form `units[v]` of the new ones."""
    new = 0
    for v in bits_of(form):
        new ^= units[v]
    return new


def coordinates(n: int, forms: Iterable[int]) -> list[int]:
    """New bits, the first n independent ones of `forms` and then of the old bits: old bits as forms of the new."""
    basis: dict[int, tuple[int, int]] = {}  # leading bit -> a form of the old bits, and the same of the new bits

    def reduced(form: int) -> tuple[int, int]:
        new = 0
        while form and (pivot := basis.get(form.bit_length())):
            form, new = form ^ pivot[0], new ^ pivot[1]
        return form, new

    for form in [*forms, *(1 << v for v in range(n))]:
        rest, new = reduced(form)
        if rest:
            basis[rest.bit_length()] = rest, new ^ (1 << len(basis))
    return [reduced(1 << v)[1] for v in range(n)]
