<%doc>
Everything that differs between dialects, as typedefs named by the dtype codes and as TX_ macros. Only what `used` names is written.
</%doc>\
<%
    from tensorx.kernels.dialect import PREAMBLE, HALF_CODES
    macros = T.close(dict(d.words) | dict(d.calls), used)
    codes = {word.rsplit("_", 1)[1] for word in used if word.startswith(("TX_LOAD_", "TX_STORE_"))}
    types = {code for code in d.types if code in used or code in codes}
    half = {name: bool({f"TX_{word}_{name}" for word in ("LOAD", "STORE", "PACK", "UNPACK")} & used) for name in HALF_CODES}
    # Measured: PoCL calls a function for every vload_half (1.8 GB/s), the bit code vectorises. GPUs have an instruction.
    native = d.name == "opencl" and not caps.cpu_like
    bits = ("TX_FAIL" in used) or any(half.values()) or "TX_AS_F32" in used or "TX_AS_U32" in used
    if bits:
        types |= {"u32", "i32", "f32"}
    if any(half.values()):
        types |= {"u16"}
%>\
% for line in PREAMBLE[d.name]:
${line}
% endfor
% if d.name == "opencl" and "f64" in types:
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
% endif
% if d.name == "opencl" and used & {"TX_CAS_u64", "TX_ATOMIC_READ_u64", "TX_ATOMIC_ADD_i64"}:
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
% endif

% for code, word in d.types.items():
% if code in types:
typedef ${word} ${code};
% endif
% endfor

% for name, value in T.close(dict(d.words) | dict(d.calls), used | ({"TX_FN"} if bits else set()) | ({"TX_GLOBAL", "TX_CAS_u32"} if "TX_FAIL" in used else set())).items():
#define ${name} ${value}
% endfor
% for code in d.types:
% if code not in HALF_CODES and f"TX_LOAD_{code}" in used:
#define TX_LOAD_${code}(p, i) ((p)[i])
% endif
% if code not in HALF_CODES and f"TX_STORE_{code}" in used:
#define TX_STORE_${code}(p, i, v) ((p)[i] = (v))
% endif
% endfor

% if bits:
% if d.name == "c":
TX_FN f32 TX_AS_F32(u32 u) { f32 f; __builtin_memcpy(&f, &u, 4); return f; }
TX_FN u32 TX_AS_U32(f32 f) { u32 u; __builtin_memcpy(&u, &f, 4); return u; }
% elif d.name == "opencl":
TX_FN f32 TX_AS_F32(u32 u) { return as_float(u); }
TX_FN u32 TX_AS_U32(f32 f) { return as_uint(f); }
% else:
TX_FN f32 TX_AS_F32(u32 u) { return __uint_as_float(u); }
TX_FN u32 TX_AS_U32(f32 f) { return __float_as_uint(f); }
% endif
% endif
% if half["f16"] and native:
/* vload_half and vstore_half are in the core language: no cl_khr_fp16 needed. */
#define TX_LOAD_f16(p, i) vload_half(i, (const __global half *)(p))
#define TX_STORE_f16(p, i, v) vstore_half_rte(v, i, (__global half *)(p))
TX_FN f32 TX_UNPACK_f16(u16 h) { return vload_half(0, (const half *)&h); }
TX_FN u16 TX_PACK_f16(f32 v) { u16 h; vstore_half_rte(v, 0, (half *)&h); return h; }
% elif half["f16"]:
/* IEEE 754 binary16 by its bits: multiplying by 2**112 moves the exponent and normalises subnormals, exactly. */
TX_FN f32 TX_UNPACK_f16(u32 h) {
  const u32 m = (h & 0x7fffu) << 13;
  const u32 v = TX_AS_U32(TX_AS_F32(m) * 5192296858534827628530496329220096.0f);
  return TX_AS_F32(v | ((0u - (u32)(m >= 0x0f800000u)) & 0x7f800000u) | (h & 0x8000u) << 16);
}
/* To nearest even. Adding 2**(e + 13) to a value of exponent e (at least -14: subnormals) rounds it to a multiple of
   2**(e - 10), its ulp in binary16; a carry moves on into the exponent, 65536 becomes infinity. No branch: it vectorises. */
TX_FN u16 TX_PACK_f16(f32 v) {
  const u32 b = TX_AS_U32(v), a = b & 0x7fffffffu, c = a < 0x47800000u ? a : 0x47800000u;
  const u32 e = (c & 0x7f800000u) > 0x38800000u ? (c & 0x7f800000u) : 0x38800000u, up = e + 0x06800000u;
  const u32 h = ((e - 0x38800000u) >> 13) + TX_AS_U32(TX_AS_F32(c) + TX_AS_F32(up)) - up;
  return (u16)(h | (u32)(a > 0x7f800000u) << 9 | (b >> 16 & 0x8000u));
}
#define TX_LOAD_f16(p, i) TX_UNPACK_f16((p)[i])
#define TX_STORE_f16(p, i, v) ((p)[i] = TX_PACK_f16(v))
% endif
% if half["bf16"]:
/* bfloat16 is the upper half of an f32; the store rounds to nearest even and keeps NaN a NaN. */
TX_FN u16 TX_PACK_bf16(f32 v) {
  const u32 b = TX_AS_U32(v);
  return (u16)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16 | 0x40u) : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);
}
#define TX_LOAD_bf16(p, i) TX_AS_F32((u32)(p)[i] << 16)
#define TX_STORE_bf16(p, i, v) ((p)[i] = TX_PACK_bf16(v))
% endif
% if "TX_FAIL" in used:
/* The error cell: (op, position, value), kept by the first work item that gets there. Its first word is claimed as 32 bits. */
TX_FN void TX_FAIL(TX_GLOBAL i64 *cell, i32 op, i64 position, i64 value) {
  if (TX_CAS_u32(cell, 0u, (u32)op) == 0u) {
    cell[1] = position;
    cell[2] = value;
  }
}
% endif
% if d.name == "c":

/* Set by the loader: one after a fork, where OpenMP would hang. */
int tx_threads = 1;
% endif
