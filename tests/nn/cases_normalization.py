"""Batch, instance, group, layer, RMS and local response normalisation."""

from nn_cases import array, layer

layer("batch_norm", lambda nn: nn.BatchNorm1d(3), array(5, 3))
layer("batch_norm 1d", lambda nn: nn.BatchNorm1d(3), array(2, 3, 4))
layer("batch_norm 2d", lambda nn: nn.BatchNorm2d(4, eps=0.1), array(3, 4, 5, 3))
layer("batch_norm 3d", lambda nn: nn.BatchNorm3d(2, affine=False), array(2, 2, 2, 3, 2))
layer("batch_norm eval", lambda nn: nn.BatchNorm2d(3).eval(), array(2, 3, 3, 2))
layer("batch_norm untracked eval", lambda nn: nn.BatchNorm1d(3, track_running_stats=False).eval(), array(4, 3))
layer("batch_norm without bias", lambda nn: nn.BatchNorm1d(3, bias=False), array(4, 3))
layer(
    "batch_norm twice",
    lambda nn: nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 4), nn.BatchNorm1d(4, momentum=None)),
    array(5, 6),
)
layer("instance_norm", lambda nn: nn.InstanceNorm1d(3), array(2, 3, 5))
layer("instance_norm 2d", lambda nn: nn.InstanceNorm2d(3, affine=True, track_running_stats=True), array(2, 3, 4, 3))
layer("instance_norm eval", lambda nn: nn.InstanceNorm2d(3, track_running_stats=True).eval(), array(2, 3, 4, 3))
layer("instance_norm 3d one sample", lambda nn: nn.InstanceNorm3d(2, affine=True), array(2, 2, 3, 2))
layer("group_norm", lambda nn: nn.GroupNorm(2, 6), array(2, 6, 3, 4))
layer("group_norm of vectors", lambda nn: nn.GroupNorm(3, 6, eps=0.1), array(4, 6))
layer("group_norm plain", lambda nn: nn.GroupNorm(1, 4, affine=False), array(2, 4, 5))
layer("layer_norm images", lambda nn: nn.LayerNorm((3, 4, 5)), array(2, 3, 4, 5))
layer("layer_norm without bias", lambda nn: nn.LayerNorm(5, bias=False), array(4, 5))
layer("rms_norm", lambda nn: nn.RMSNorm(6), array(4, 6))
layer("rms_norm plain", lambda nn: nn.RMSNorm((3, 4), eps=0.1, elementwise_affine=False), array(2, 3, 4))
layer("local_response_norm", lambda nn: nn.LocalResponseNorm(3, alpha=0.5), array(2, 5, 3))
layer("local_response_norm even", lambda nn: nn.LocalResponseNorm(2, 0.5, 0.6, 2.0), array(2, 4, 3, 2))
