"""Functions behind the layers: PyTorch's signatures, composed from the ops of the table."""

from inspect import isfunction as _isfunction

from tensorx.amp.lists import LISTED as _LISTED
from tensorx.ops.arguments import explained as _explained
from tensorx.ops.dispatch import seen_by_modes as _seen_by_modes

from .activation import (
    celu,
    celu_,
    elu,
    elu_,
    gelu,
    glu,
    gumbel_softmax,
    log_softmax,
    logsigmoid,
    mish,
    selu,
    selu_,
    sigmoid,
    silu,
    softmax,
    softmin,
    softplus,
    softsign,
    tanh,
    tanhshrink,
)
from .attention import multi_head_attention_forward, scaled_dot_product_attention
from .classification import cross_entropy, nll_loss
from .conv import conv1d, conv2d, conv3d, conv_tbc, conv_transpose1d, conv_transpose2d, conv_transpose3d
from .ctc import ctc_loss
from .distance import cosine_similarity, pairwise_distance, pdist
from .dropout import alpha_dropout, dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from .embedding import _padding_row, embedding, embedding_bag, one_hot
from .fold import fold, unfold
from .layer import bilinear, linear
from .likelihood import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    gaussian_nll_loss,
    kl_div,
    poisson_nll_loss,
)
from .linear_cross_entropy import linear_cross_entropy
from .loss import _reduction, huber_loss, l1_loss, mse_loss, smooth_l1_loss
from .margin import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from .normalization import batch_norm, group_norm, instance_norm, layer_norm, local_response_norm, normalize, rms_norm
from .padding import pad
from .piecewise import (
    hardshrink,
    hardsigmoid,
    hardswish,
    hardtanh,
    hardtanh_,
    leaky_relu,
    leaky_relu_,
    prelu,
    relu,
    relu6,
    relu_,
    rrelu,
    rrelu_,
    softshrink,
    threshold,
    threshold_,
)
from .pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
    lp_pool1d,
    lp_pool2d,
    lp_pool3d,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
)
from .resampling import interpolate, upsample, upsample_bilinear, upsample_nearest
from .sampling import affine_grid, grid_sample
from .shuffling import channel_shuffle, native_channel_shuffle, pixel_shuffle, pixel_unshuffle
from .unpooling import (
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)

_OWN = {_name for _name, _f in globals().items() if _isfunction(_f) and _f.__module__.startswith(__name__)}
globals().update({_name: _explained(globals()[_name]) for _name in sorted(_OWN - _LISTED)})
#: Autocast knows these by name, as it knows rows.
globals().update({_name: _seen_by_modes(globals()[_name]) for _name in sorted(_LISTED & globals().keys())})
