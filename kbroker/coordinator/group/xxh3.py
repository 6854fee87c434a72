"""XXH3 with 64 bits, seed 0 (Yann Collet's public specification).

In plain Python: a group's topics are hashed when they change, not for each request.
"""

from __future__ import annotations

from struct import Struct, unpack_from

_MASK = (1 << 64) - 1
_P32_1, _P32_2, _P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64_1, _P64_2, _P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P64_4, _P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
_PMX_1, _PMX_2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_LANES = Struct("<8Q")
_STRIPE, _STEP = 64, 8
_STRIPES_A_BLOCK = (len(_SECRET) - _STRIPE) // _STEP


def _u64(data: bytes, at: int) -> int:
    value: int = unpack_from("<Q", data, at)[0]
    return value


def _u32(data: bytes, at: int) -> int:
    value: int = unpack_from("<I", data, at)[0]
    return value


def _swap(value: int) -> int:
    return int.from_bytes(value.to_bytes(8, "little"), "big")


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product & _MASK) ^ (product >> 64)


def _avalanche(h: int) -> int:
    h ^= h >> 37
    h = h * _PMX_1 & _MASK
    return h ^ h >> 32


def _avalanche_64(h: int) -> int:
    h ^= h >> 33
    h = h * _P64_2 & _MASK
    h ^= h >> 29
    h = h * _P64_3 & _MASK
    return h ^ h >> 32


def xxh3_64(data: bytes) -> int:
    """The hash, unsigned."""
    size = len(data)
    if size <= 16:
        return _short(data, size)
    if size <= 128:
        return _to_128(data, size)
    if size <= 240:
        return _to_240(data, size)
    return _long(data, size)


def _short(data: bytes, size: int) -> int:
    if size > 8:
        low = _u64(data, 0) ^ _u64(_SECRET, 24) ^ _u64(_SECRET, 32)
        high = _u64(data, size - 8) ^ _u64(_SECRET, 40) ^ _u64(_SECRET, 48)
        return _avalanche((size + _swap(low) + high + _fold(low, high)) & _MASK)
    if size >= 4:
        keyed = (_u64(_SECRET, 8) ^ _u64(_SECRET, 16)) ^ (
            _u32(data, size - 4) + (_u32(data, 0) << 32) & _MASK
        )
        keyed ^= (keyed << 49 | keyed >> 15) & _MASK ^ (keyed << 24 | keyed >> 40) & _MASK
        keyed = keyed * _PMX_2 & _MASK
        keyed ^= (keyed >> 35) + size
        keyed = keyed * _PMX_2 & _MASK
        return keyed ^ keyed >> 28
    if size:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[size - 1] | size << 8
        return _avalanche_64(combined ^ _u32(_SECRET, 0) ^ _u32(_SECRET, 4))
    return _avalanche_64(_u64(_SECRET, 56) ^ _u64(_SECRET, 64))


def _mix(data: bytes, at: int, secret_at: int) -> int:
    return _fold(_u64(data, at) ^ _u64(_SECRET, secret_at), _u64(data, at + 8) ^ _u64(_SECRET, secret_at + 8))


def _to_128(data: bytes, size: int) -> int:
    total = size * _P64_1
    for step in range((size - 1) // 32, -1, -1):
        total += _mix(data, 16 * step, 32 * step)
        total += _mix(data, size - 16 * (step + 1), 32 * step + 16)
    return _avalanche(total & _MASK)


def _to_240(data: bytes, size: int) -> int:
    total = size * _P64_1
    for step in range(8):
        total += _mix(data, 16 * step, 16 * step)
    total = _avalanche(total & _MASK)
    for step in range(8, size // 16):
        total += _mix(data, 16 * step, 16 * (step - 8) + 3)
    total += _mix(data, size - 16, 136 - 17)
    return _avalanche(total & _MASK)


def _accumulate(lanes: list[int], data: bytes, at: int, secret_at: int) -> None:
    words, keys = _LANES.unpack_from(data, at), _LANES.unpack_from(_SECRET, secret_at)
    for index in range(8):
        keyed = words[index] ^ keys[index]
        lanes[index ^ 1] = lanes[index ^ 1] + words[index] & _MASK
        lanes[index] = lanes[index] + (keyed & 0xFFFFFFFF) * (keyed >> 32) & _MASK


def _long(data: bytes, size: int) -> int:
    lanes = [_P32_3, _P64_1, _P64_2, _P64_3, _P64_4, _P32_2, _P64_5, _P32_1]
    block = _STRIPE * _STRIPES_A_BLOCK
    keys = _LANES.unpack_from(_SECRET, len(_SECRET) - _STRIPE)
    blocks = (size - 1) // block
    for number in range(blocks):
        for stripe in range(_STRIPES_A_BLOCK):
            _accumulate(lanes, data, number * block + stripe * _STRIPE, stripe * _STEP)
        for index in range(8):
            lane = lanes[index]
            lanes[index] = (lane ^ lane >> 47 ^ keys[index]) * _P32_1 & _MASK
    for stripe in range((size - 1 - blocks * block) // _STRIPE):
        _accumulate(lanes, data, blocks * block + stripe * _STRIPE, stripe * _STEP)
    _accumulate(lanes, data, size - _STRIPE, len(_SECRET) - _STRIPE - 7)
    total = size * _P64_1
    for index in range(0, 8, 2):
        at = 11 + 8 * index
        total += _fold(lanes[index] ^ _u64(_SECRET, at), lanes[index + 1] ^ _u64(_SECRET, at + 8))
    return _avalanche(total & _MASK)
