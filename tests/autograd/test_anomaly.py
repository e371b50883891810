"""Anomaly mode."""

import pytest

import tensorx as tx
from tensorx.autograd import Function, detect_anomaly, is_anomaly_enabled, set_detect_anomaly


class Fails(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        raise KeyError("no")


class NaN(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1.0

    @staticmethod
    def backward(ctx, g):
        return g * float("nan")


def leaf():
    return tx.tensor([1.0], requires_grad=True)


def test_error_shows_the_forward_call():
    with set_detect_anomaly(True):
        y = Fails.apply(leaf())
        warned = pytest.warns(UserWarning, match="Traceback of forward call that caused the error")
        with warned as caught, pytest.raises(KeyError):
            y.backward()
    assert "y = Fails.apply(leaf())" in str(caught[0].message) and "FailsBackward" in str(caught[0].message)
    assert not is_anomaly_enabled()


def test_node_made_before_the_mode():
    y = Fails.apply(leaf())
    warned = pytest.warns(UserWarning, match="No forward pass information")
    with set_detect_anomaly(True), warned, pytest.raises(KeyError):
        y.backward()


def test_nan():
    y = NaN.apply(leaf())
    y.backward(retain_graph=True)
    fails = pytest.raises(RuntimeError, match="Function 'NaNBackward' returned nan values in its 0th output")
    with set_detect_anomaly(True), pytest.warns(UserWarning), fails:
        y.backward(retain_graph=True)
    with set_detect_anomaly(True, check_nan=False):
        y.backward()


def test_detect_anomaly_warns_and_restores():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = detect_anomaly()
    with mode:
        assert is_anomaly_enabled()
    assert not is_anomaly_enabled()
    set_detect_anomaly(True)
    assert is_anomaly_enabled()
    set_detect_anomaly(False)
