"""The inputs of the rows, by the formula of bench/suite.h, as NumPy arrays."""
import numpy as np


def fnv1a(text):
    h = 2166136261
    for byte in text.encode():
        h = (h ^ byte) * 16777619 & 0xFFFFFFFF
    return h


def lowbias32(x):
    """Wellons' hash, in place, of an array of uint32."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x ^= x >> np.uint32(shift)
        x *= np.uint32(factor)
    x ^= x >> np.uint32(16)
    return x


def input_array(name, dtype, shape, low, high):
    kind = np.dtype({"f32": "f4", "f64": "f8", "i32": "i4", "i64": "i8", "u8": "u1"}[dtype])
    count = int(np.prod(shape, dtype=np.int64))
    out = np.empty(count, kind)
    block = 1 << 22                                       # keeps the intermediates small
    for begin in range(0, count, block):
        end = min(count, begin + block)
        h = np.arange(begin, end, dtype=np.int64).astype(np.uint32) + np.uint32(fnv1a(name))
        h = lowbias32(h)
        if kind.kind == "f":
            u = (h >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
            out[begin:end] = np.float32(low) + (np.float32(high) - np.float32(low)) * u
        else:
            out[begin:end] = int(low) + (h % np.uint32(int(high) - int(low))).astype(np.int64)
    return out.reshape(shape)
