"""Exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from fsin._run import Result


class Error(Exception):
    """Why a call cannot do what it is asked for.

    ``subject`` is the argument or component that it is about, if it is about one; ``remedy`` is what can be done.
    """

    def __init__(self, what: str, subject: Optional[str] = None, remedy: Optional[str] = None) -> None:
        super().__init__(what, subject, remedy)
        self.what = what
        self.subject = subject
        self.remedy = remedy

    def __str__(self) -> str:
        return self.what if not self.remedy else f"{self.what}\n  help: {self.remedy}"


class RunFailed(Error):
    """A run that began and failed, in a deadlock for example. ``result`` holds the figures up to then."""

    def __init__(self, what: str, subject: Optional[str], remedy: Optional[str], result: Result) -> None:
        super().__init__(what, subject, remedy)
        self.result = result

    def __reduce__(self) -> tuple[type[RunFailed], tuple[str, Optional[str], Optional[str], Result]]:
        return type(self), (self.what, self.subject, self.remedy, self.result)
