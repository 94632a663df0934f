"""The commands ``fsin`` and ``trace-prep``, in this process."""

from __future__ import annotations

import sys

from fsin import _fsin


def main() -> int:
    """The command ``fsin``. It starts its worker processes as ``python -m fsin``."""
    return _fsin.fsin_main([sys.executable, "-m", "fsin"], ["fsin", *sys.argv[1:]])


def trace_prep() -> int:
    """The command ``trace-prep``."""
    return _fsin.trace_prep_main(["trace-prep", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
