"""Convolutions of every rank, transposed ones, and their padding modes."""

from nn_cases import array, layer

layer("conv1d", lambda nn: nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2), array(2, 4, 9))
layer("conv1d one sample", lambda nn: nn.Conv1d(2, 3, 2, bias=False), array(2, 7))
layer("conv3d", lambda nn: nn.Conv3d(2, 4, (1, 2, 3), padding=(0, 1, 1), groups=2), array(1, 2, 3, 4, 4))
layer("conv3d same", lambda nn: nn.Conv3d(1, 2, 2, padding="same"), array(1, 1, 3, 3, 3))
layer("conv2d depthwise", lambda nn: nn.Conv2d(4, 8, 3, groups=4), array(1, 4, 5, 6))
for mode in ("reflect", "replicate", "circular"):
    layer(f"conv1d {mode}", lambda nn, m=mode: nn.Conv1d(2, 3, 3, padding=2, padding_mode=m), array(2, 2, 6))
    layer(f"conv2d {mode}", lambda nn, m=mode: nn.Conv2d(2, 3, 3, padding=(1, 2), padding_mode=m), array(2, 2, 5, 4))
    layer(
        f"conv2d {mode} same",
        lambda nn, m=mode: nn.Conv2d(1, 2, 2, padding="same", dilation=2, padding_mode=m),
        array(1, 1, 4, 5),
    )
    layer(f"conv3d {mode}", lambda nn, m=mode: nn.Conv3d(1, 1, 2, padding=1, padding_mode=m), array(1, 1, 3, 3, 3))
layer("transposed 1d", lambda nn: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, groups=2, dilation=2), array(2, 4, 5))
layer("transposed 2d", lambda nn: nn.ConvTranspose2d(2, 3, (3, 2), stride=(2, 1), padding=(1, 0)), array(2, 2, 4, 3))
layer("transposed 2d stride 3", lambda nn: nn.ConvTranspose2d(2, 2, 2, 3, bias=False), array(1, 2, 3, 2))
layer("transposed 3d", lambda nn: nn.ConvTranspose3d(2, 2, 2, 2, output_padding=1), array(1, 2, 2, 2, 2))
layer("transposed one sample", lambda nn: nn.ConvTranspose2d(2, 3, 2), array(2, 4, 3))
layer(
    "up and down",
    lambda nn: nn.Sequential(
        nn.Conv2d(2, 4, 3, 2, 1), nn.BatchNorm2d(4), nn.Tanh(), nn.ConvTranspose2d(4, 2, 3, 2, 1, 1)
    ),
    array(2, 2, 6, 6),
)
