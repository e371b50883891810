"""Text in, text out: kernel specifications become source in C, OpenCL C or CUDA C. Nothing here imports a driver or
needs hardware.
"""
