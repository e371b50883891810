"""Layers of windows: pooling, unfolding, shuffling, padding, upsampling."""

from nn_cases import array, layer

SIGNAL, IMAGE, VOLUME = array(2, 3, 9), array(1, 4, 7, 6), array(1, 1, 4, 5, 6)
INPUTS = {1: SIGNAL, 2: IMAGE, 3: VOLUME}

for n, x in INPUTS.items():
    layer(f"max_pool{n}d", lambda nn, n=n: getattr(nn, f"MaxPool{n}d")(3, 2, 1), x)
    layer(f"max_pool{n}d dilated", lambda nn, n=n: getattr(nn, f"MaxPool{n}d")(2, 1, dilation=2, ceil_mode=True), x)
    layer(f"avg_pool{n}d", lambda nn, n=n: getattr(nn, f"AvgPool{n}d")(3, 2, 1), x)
    layer(
        f"avg_pool{n}d ceil",
        lambda nn, n=n: getattr(nn, f"AvgPool{n}d")(3, 2, 1, ceil_mode=True, count_include_pad=False),
        x,
    )
    layer(f"adaptive_avg_pool{n}d", lambda nn, n=n: getattr(nn, f"AdaptiveAvgPool{n}d")(3), x)
    layer(f"adaptive_avg_pool{n}d to one", lambda nn, n=n: getattr(nn, f"AdaptiveAvgPool{n}d")(1), x)
    layer(f"adaptive_max_pool{n}d", lambda nn, n=n: getattr(nn, f"AdaptiveMaxPool{n}d")(2), x[0])
    layer(f"lp_pool{n}d", lambda nn, n=n: getattr(nn, f"LPPool{n}d")(2, 3, 2), abs(x) + 0.5)
    amounts = (2, 1) + (1, 0) * (n - 1)
    for kind in ("Reflection", "Replication", "Circular", "Zero"):
        layer(f"{kind} pad {n}d", lambda nn, name=f"{kind}Pad{n}d", a=amounts: getattr(nn, name)(a), x)
    layer(f"Constant pad {n}d", lambda nn, n=n: getattr(nn, f"ConstantPad{n}d")((2, -1) + (1, 0) * (n - 1), 1.5), x)
    layer(f"upsample nearest {n}d", lambda nn: nn.Upsample(scale_factor=1.7), x)
    layer(
        f"upsample linear {n}d",
        lambda nn, n=n: nn.Upsample(scale_factor=1.7, mode=("linear", "bilinear", "trilinear")[n - 1]),
        x,
    )
layer("avg_pool2d override", lambda nn: nn.AvgPool2d((2, 3), (1, 2), divisor_override=4), IMAGE)
layer("upsample bicubic", lambda nn: nn.Upsample(size=(5, 9), mode="bicubic"), IMAGE)
layer("upsample nearest exact", lambda nn: nn.Upsample(size=(5, 9), mode="nearest-exact"), IMAGE)
layer("upsampling nearest", lambda nn: nn.UpsamplingNearest2d(scale_factor=2), IMAGE)
layer("upsampling bilinear", lambda nn: nn.UpsamplingBilinear2d(size=(5, 9)), IMAGE)
layer("unfold", lambda nn: nn.Unfold((2, 3), dilation=(2, 1), padding=1, stride=(1, 2)), IMAGE)
layer("fold", lambda nn: nn.Fold((4, 5), (2, 3), padding=(1, 0), stride=(1, 2)), array(2, 12, 10))
layer("pixel_shuffle", lambda nn: nn.PixelShuffle(2), IMAGE)
layer("pixel_unshuffle", lambda nn: nn.PixelUnshuffle(3), IMAGE[:, :, :6])
layer("channel_shuffle", lambda nn: nn.ChannelShuffle(2), IMAGE)
layer("conv and pool", lambda nn: nn.Sequential(nn.Conv2d(4, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()), IMAGE)
