"""Hashes and encodings of binary values, one value at a time."""

from __future__ import annotations

import base64
import binascii
import hmac
import struct

from sqlapi.sql.code import failure

__all__ = [
    "checksum",
    "from_base32",
    "hash_bytes",
    "hash_double",
    "hash_number",
    "keyed_hash",
    "pack",
    "pack_float",
    "part_of",
    "shift",
    "to_base32",
    "unpack",
    "xxhash64",
]

_MASK = (1 << 64) - 1
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_LEFT, _ARITHMETIC = 1, 2


def keyed_hash(value: bytes, key: bytes, name: str) -> bytes:
    """Return the HMAC of a value. Raises ValueError for an empty key, as Java does."""
    if not key:
        raise failure("INVALID_FUNCTION_ARGUMENT", "Empty key")
    return hmac.digest(bytes(key), bytes(value), name)


def _turned(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (64 - bits))) & _MASK


def _round(sum_: int, lane: int) -> int:
    return _turned((sum_ + lane * _P2) & _MASK, 31) * _P1 & _MASK


def xxhash64(value: bytes) -> bytes:
    """Return the big-endian bytes of the hash XXH64 with the seed 0 (xxhash's specification)."""
    data, end = bytes(value), 0
    if len(data) >= 32:
        lanes = [(_P1 + _P2) & _MASK, _P2, 0, -_P1 & _MASK]
        for end in range(0, len(data) - 31, 32):
            words = struct.unpack_from("<4Q", data, end)
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
        end += 32
        turned = zip(lanes, (1, 7, 12, 18), strict=True)
        found = sum(_turned(lane, bits) for lane, bits in turned) & _MASK
        for lane in lanes:
            found = ((found ^ _round(0, lane)) * _P1 + _P4) & _MASK
    else:
        found = _P5
    found = (found + len(data)) & _MASK
    while end + 8 <= len(data):
        (word,) = struct.unpack_from("<Q", data, end)
        found = (_turned(found ^ _round(0, word), 27) * _P1 + _P4) & _MASK
        end += 8
    if end + 4 <= len(data):
        (word,) = struct.unpack_from("<I", data, end)
        found = (_turned(found ^ (word * _P1 & _MASK), 23) * _P2 + _P3) & _MASK
        end += 4
    for byte in data[end:]:
        found = _turned(found ^ (byte * _P5 & _MASK), 11) * _P1 & _MASK
    found = (found ^ (found >> 33)) * _P2 & _MASK
    found = (found ^ (found >> 29)) * _P3 & _MASK
    return struct.pack(">Q", found ^ (found >> 32))


def part_of(value: bytes, start: int, length: int) -> bytes:
    """Return bytes from a place, which counts from 1, or from the end if it is negative."""
    if start == 0 or abs(start) > len(value) or length <= 0:
        return b""
    first = start - 1 if start > 0 else len(value) + start
    return bytes(value)[first : first + length]


def hash_number(value: int) -> int:
    """Return the hash of a whole number times a salt, as `checksum` adds it up."""
    return _salted(struct.pack("<q", value))


def hash_double(value: float) -> int:
    return _salted(struct.pack("<d", value + 0.0))


def hash_bytes(value: bytes) -> int:
    return _salted(value)


def _salted(value: bytes) -> int:
    found = int.from_bytes(xxhash64(value)) * _P1 & _MASK
    return found - (1 << 64) if found >> 63 else found


def checksum(total: str) -> bytes:
    """Return a sum of hashes as eight bytes, the lowest first."""
    return struct.pack("<Q", int(total) & _MASK)


def to_base32(value: bytes) -> str:
    return base64.b32encode(bytes(value)).decode()


def from_base32(value: str) -> bytes:
    try:
        return base64.b32decode(value)
    except binascii.Error:
        raise failure("INVALID_FUNCTION_ARGUMENT", "Illegal base32 text") from None


def pack(value: int, form: str) -> bytes:
    return struct.pack(form, value)


def pack_float(value: float, form: str) -> bytes:
    return struct.pack(form, value)


def unpack(value: bytes, form: str) -> int:
    """Return the number in `value`. Raises ValueError for another number of bytes."""
    if len(value) != struct.calcsize(form):
        raise failure("INVALID_FUNCTION_ARGUMENT", "expected 8-byte or 4-byte input")
    return int(struct.unpack(form, bytes(value))[0])


def shift(value: int, by: int, width: int, kind: int) -> int:
    """Return a number of `width` bits shifted by `by`: to the left, or right in two ways."""
    if kind == _ARITHMETIC:
        return value >> min(by, width)
    bits = value & ((1 << width) - 1)
    bits = (bits << by if by < width else 0) if kind == _LEFT else bits >> min(by, width)
    bits &= (1 << width) - 1
    return bits - (1 << width) if bits >> (width - 1) else bits
