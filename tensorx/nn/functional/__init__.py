"""Functions behind the layers: PyTorch's signatures, composed from the ops of the table."""

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
from .layer import _padding_row, conv2d, dropout, embedding, layer_norm, linear
from .loss import _reduction, cross_entropy, mse_loss, nll_loss
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
