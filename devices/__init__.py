"""One contract (:mod:`tensorx.devices.base`), one file per backend, loaded on first use by
:mod:`tensorx.devices.registry`.
"""
