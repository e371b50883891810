"""Which ops autocast runs in the lower dtype, in float32, and in the widest dtype of their operands.

PyTorch's lists (its manual, "Automatic Mixed Precision package", section "Autocast Op Reference"), by the names of our
rows and functions. There is one
list for ``cpu`` and one for all other devices, as PyTorch has one for CPU and one for CUDA. What is in no list runs as
it comes.
"""

from __future__ import annotations

#: Every row of these kinds runs in the lower dtype: products and convolutions, and sequences of products.
KINDS = ("CONTRACT", "LOOP")
#: And so do these, which rest on them.
LOWER = frozenset(
    """
    addbmm addmm addmv addr baddbmm bmm chain_matmul linalg_multi_dot conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d
    conv_transpose3d einsum linear matmul mm mv prelu scaled_dot_product_attention
""".split()
)

_LOSSES = frozenset(
    """
    binary_cross_entropy_with_logits cosine_embedding_loss cross_entropy hinge_embedding_loss huber_loss kl_div l1_loss
    margin_ranking_loss mse_loss
    multi_margin_loss multilabel_margin_loss nll_loss poisson_nll_loss smooth_l1_loss soft_margin_loss
    triplet_margin_loss ctc_loss
""".split()
)

_CPU = _LOSSES | frozenset(
    """
    adaptive_avg_pool3d avg_pool3d binary_cross_entropy cdist cholesky_inverse cholesky_solve grid_sample max_pool3d
    max_unpool2d max_unpool3d
    nanquantile ormqr pinverse polar prod quantile stft trace view_as_complex
""".split()
)
_GPU = _LOSSES | frozenset(
    """
    acos asin cdist cosh cosine_similarity cumprod cumsum dist erfinv exp expm1 group_norm layer_norm log log10 log1p
    log2 log_softmax norm normalize pdist
    pow prod reciprocal renorm rsqrt sinh softmax softmin softplus sum tan linalg_vector_norm linalg_matrix_norm
""".split()
)
_CPU_FAMILIES = ("linalg_", "fft_")
_GPU_FAMILIES = ("fft_",)  # there is no dtype for the transform of float16

_WIDEST_CPU = frozenset(("bilinear", "cat", "index_copy", "stack"))
_WIDEST_GPU = frozenset(
    "addcdiv addcmul atan2 bilinear cat cross dot grid_sample index_put scatter_add stack tensordot".split()
)

LISTED = LOWER | _CPU | _GPU | _WIDEST_CPU | _WIDEST_GPU


def policy(name: str, device_type: str) -> str:
    """``lower``, ``float32``, ``widest``, or nothing.

    >>> policy("matmul", "cpu"), policy("softmax", "cpu"), policy("softmax", "opencl"), policy("add", "cpu")
    ('lower', '', 'float32', '')
    """
    if name in LOWER:
        return "lower"
    if device_type == "cpu":
        return "float32" if name in _CPU or name.startswith(_CPU_FAMILIES) else "widest" if name in _WIDEST_CPU else ""
    if name.startswith(_GPU_FAMILIES):
        return "float32"
    return "float32" if name in _GPU else "widest" if name in _WIDEST_GPU else ""
