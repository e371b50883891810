"""Grad modes: nesting, decorators, generators, threads."""

import threading

import pytest

from tensorx.autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)


def test_nesting_and_errors_restore():
    with no_grad():
        assert not is_grad_enabled()
        with enable_grad():
            assert is_grad_enabled()
        assert not is_grad_enabled()
    with pytest.raises(KeyError), no_grad():
        raise KeyError
    assert is_grad_enabled()


def test_one_object_entered_twice():
    mode = no_grad()
    with mode:
        with mode:
            pass
        assert not is_grad_enabled()
    assert is_grad_enabled()


@pytest.mark.parametrize("make", [lambda: no_grad, no_grad, lambda: set_grad_enabled(False)])
def test_decorator(make):
    @make()
    def f(x):
        """Doc."""
        return x, is_grad_enabled()

    assert f(1) == (1, False)
    assert f.__doc__ == "Doc."
    assert is_grad_enabled()


def test_generator_runs_in_the_mode_and_its_consumer_does_not():
    seen = []

    @no_grad()
    def gen():
        try:
            got = yield is_grad_enabled()
            try:
                yield got, is_grad_enabled()
            except KeyError:
                yield "caught", is_grad_enabled()
        finally:
            seen.append(is_grad_enabled())

    g = gen()
    assert next(g) is False and is_grad_enabled()
    assert g.send(5) == (5, False) and is_grad_enabled()
    assert g.throw(KeyError()) == ("caught", False)
    g.close()
    assert seen == [False] and is_grad_enabled()


def test_set_grad_enabled_as_function():
    set_grad_enabled(False)
    assert not is_grad_enabled()
    set_grad_enabled(True)
    with set_grad_enabled(False):
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_inference_mode():
    with inference_mode():
        assert is_inference_mode_enabled() and not is_grad_enabled()
        with inference_mode(False):
            assert not is_inference_mode_enabled() and is_grad_enabled()
        assert is_inference_mode_enabled() and not is_grad_enabled()
    assert is_grad_enabled()

    @inference_mode
    def f():
        return is_inference_mode_enabled()

    assert f() and not is_inference_mode_enabled()


def test_classes_are_refused():
    with pytest.raises(TypeError, match="must be a function or method"):

        @no_grad()
        class C:
            pass


def test_modes_are_thread_local():
    seen = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]
