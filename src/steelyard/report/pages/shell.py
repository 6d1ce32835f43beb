"""What a service's page shows around its content: where one can go, and who one is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shell:
    """For whom a page is made, and where it stands.

    Parameters
    ----------
    root : str
        From the page to the first one, such as ``../``.
    name : str
        Who has signed in; empty for a visitor, and where nobody has to.
    scopes : frozenset of str
        What they may do.
    csrf : str
        What forms send back; empty where the address has a secret.
    signs_in : bool
        Whether people sign in here.
    """

    root: str
    name: str
    scopes: frozenset[str]
    csrf: str
    signs_in: bool

    @property
    def links(self) -> list[tuple[str, str]]:
        """Where one can go: address and name."""
        every = (
            ("", "service", "Experiments"),
            ("submit", "service/new", "Send one"),
            ("read", "service/workers", "Workers"),
            ("tokens", "account", "Account" if self.signs_in else "Tokens"),
            ("administer", "people", "People") if self.signs_in else None,
            ("administer", "audit", "Audit log"),
            ("administer", "", "This machine's store"),
        )
        return [
            (f"{self.root}{link[1]}" or "./", link[2])
            for link in every
            if link is not None and (not link[0] or link[0] in self.scopes)
        ]
