"""What kernelfleet-runner does inside Python: one file per phase.

Works on Python 3.8 to 3.14 and Triton 3.2 to 3.9; needs no torch for the
phases that only compile. Imports nothing but the standard library until a
phase asks for more.
"""
