"""Link-layer retransmission, as written in a scenario."""

from typing import Annotated, Any

from pydantic import Field, Strict

from airpath.quantities import Duration, Flag, Table


class Arq(Table):
    """How a link sends damaged packets again (selective repeat, bounded)."""

    retries: Annotated[int, Strict(), Field(ge=0, le=255)]
    """How often a packet is sent again at most, 0 to 255."""
    delay: Duration
    """From the end of a damaged attempt to the earliest start of the next: the time of the feedback."""
    in_order: Flag = True
    """Whether the far end holds packets until all that were sent before them have arrived or are given up."""

    def plan(self) -> dict[str, Any]:
        """Return it as in the plan."""
        return {"retries": self.retries, "delay_ns": self.delay, "in_order": self.in_order}
