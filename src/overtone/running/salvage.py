"""What can still be read of a damaged ledger: every row on a readable page, whatever happened to the rest of the file.

SQLite refuses a file that was cut, and loses all below a broken page of its tree. The rows have ids and checksums of
their own, so no tree is needed to put them in order. Format: https://sqlite.org/fileformat2.html (numbers as there).
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

from overtone.running.rows import Row

SIZES = {512 << i for i in range(7)}  # of a page; the largest, 65536, is too large for its field
LEAF = 13  # the type of a page that holds rows of a table
FRAME = 24  # bytes of the header of a page in the WAL
WORDS = {0x377F0682: "<", 0x377F0683: ">"}  # the WAL's magic number says in which order its checksums take bytes
WORD = 2**32
BROKEN = (IndexError, KeyError, ValueError, struct.error, RecursionError)  # what a broken page can lead to
Pages = dict[int, bytes]  # by number, from 1 on


def salvage(path: Path) -> list[Row]:
    """The longest sequence of sound rows from the first one on, in the file and its WAL."""
    pages = {**_main_pages(path), **_wal_pages(Path(f"{path}-wal"))}
    rows = {row.id: row for number in pages for row in _rows(pages, number) if row.is_sound}
    return [rows[i] for i in range(1, next(i for i in count(1) if i not in rows))]


def _main_pages(path: Path) -> Pages:
    data = path.read_bytes()
    size = int.from_bytes(data[16:18])
    size = size if size in SIZES else 4096  # SQLite's default, which ledgers have
    return {1 + start // size: data[start : start + size] for start in range(0, len(data), size)}


def _wal_pages(path: Path) -> Pages:
    """The pages of its committed transactions, each as it was last: what SQLite itself would use."""
    data = path.read_bytes() if path.exists() else b""
    if len(data) < 32 or int.from_bytes(data[:4]) not in WORDS:
        return {}
    size = int.from_bytes(data[8:12])
    pages: Pages = {}
    pending: Pages = {}
    for number, is_commit, page in _frames(data, size):
        pending[number] = page
        if is_commit:
            pages, pending = pages | pending, {}
    return pages


def _frames(data: bytes, size: int) -> Iterator[tuple[int, bool, bytes]]:
    """(page number, whether it ends a transaction, page), up to the first that is torn or of an earlier use."""
    order = WORDS[int.from_bytes(data[:4])]
    sums = _checksum(order, data[:24], (0, 0))
    for start in range(32, len(data) - FRAME - size + 1, FRAME + size):
        head, page = data[start : start + FRAME], data[start + FRAME : start + FRAME + size]
        sums = _checksum(order, head[:8] + page, sums)
        if head[8:16] != data[16:24] or struct.unpack(">II", head[16:]) != sums:
            return
        yield int.from_bytes(head[:4]), head[4:8] != bytes(4), page


def _checksum(order: str, data: bytes, sums: tuple[int, int]) -> tuple[int, int]:
    """Section 4.2 of the format."""
    words: Sequence[int] = struct.unpack(f"{order}{len(data) // 4}I", data)
    a, b = sums
    for i in range(0, len(words), 2):
        a = (a + words[i] + b) % WORD
        b = (b + words[i + 1] + a) % WORD
    return a, b


def _rows(pages: Pages, number: int) -> Iterator[Row]:
    """The rows on a page, if it is one that holds rows; what cannot be read is left out."""
    page, start = pages[number], 100 if number == 1 else 0
    if page[start : start + 1] != bytes([LEAF]):
        return
    for i in range(int.from_bytes(page[start + 3 : start + 5])):
        place = start + 8 + 2 * i
        try:
            yield _row(pages, page, int.from_bytes(page[place : place + 2]))
        except BROKEN:
            continue


def _row(pages: Pages, page: bytes, at: int) -> Row:
    length, at = _varint(page, at)
    id_, at = _varint(page, at)
    record = _payload(pages, page, at, length)
    size, place = _varint(record, 0)
    columns = []
    begin = size
    while place < size:
        kind, place = _varint(record, place)
        end = begin + _width(kind)
        columns.append(record[begin:end])
        begin = end
    _, when, what, data, crc = columns  # the first is the id, which is stored above
    return Row(id_, when.decode(), what.decode(), data.decode(), int.from_bytes(crc))


def _width(kind: int) -> int:
    """Bytes of a value by its type; texts and blobs say their length."""
    return (kind - 12) // 2 if kind >= 12 else (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _payload(pages: Pages, page: bytes, at: int, length: int) -> bytes:
    """A record, with what did not fit on its page (section 1.6); usable bytes U are all, as no ledger reserves any."""
    U = len(page)
    least = (U - 12) * 32 // 255 - 23
    more = least + (length - least) % (U - 4)
    local = length if length <= U - 35 else more if more <= U - 35 else least
    parts = [page[at : at + local]]
    following, left = int.from_bytes(page[at + local : at + local + 4]), length - local
    while left > 0:
        spill = pages[following]
        parts.append(spill[4 : 4 + left])
        following, left = int.from_bytes(spill[:4]), left - (U - 4)
    return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, seven bits each, and where it ends; all eight bits of the ninth are used."""
    value = 0
    for i in range(8):
        value = value << 7 | data[at + i] & 0x7F
        if data[at + i] < 0x80:
            return value, at + i + 1
    return value << 8 | data[at + 8], at + 9
