"""The prompts that refills draw from."""

from __future__ import annotations


class Pool:
    """In order and around again. What was drawn and not opened comes first the next time."""

    def __init__(self, prompts: list[str]):
        if not prompts:
            raise ValueError("the pool is empty: give at least one prompt")
        self.prompts = list(prompts)
        self.position = 0
        self.returned: list[str] = []

    def draw(self, count: int) -> list[str]:
        drawn, self.returned = self.returned[:count], self.returned[count:]
        fresh = count - len(drawn)
        drawn += [self.prompts[(self.position + i) % len(self.prompts)] for i in range(fresh)]
        self.position += fresh
        return drawn

    def give_back(self, prompts: list[str]) -> None:
        self.returned = prompts + self.returned

    def state(self) -> dict:
        return dict(position=self.position, returned=list(self.returned))

    def restore(self, state: dict) -> None:
        self.position, self.returned = state["position"], list(state["returned"])
