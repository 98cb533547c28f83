"""The effect of `tc … add`, `change`, `replace` and `delete`, and the commands that the kernel refuses."""

from dataclasses import dataclass, field, replace
from typing import Final

from airpath_lint.findings import Finding, finding
from airpath_lint.options import Netem
from airpath_lint.rules_table import RULES
from airpath_lint.setup import ROOT, Discipline, Filter, Setup, TrafficClass, Tree, Unread, major

MOST_PAST: Final = 40
"""The maximum number of earlier states of devices that are kept."""

MOST_DEEP: Final = 7
"""The maximum depth of nested disciplines (sch_api.c, check_loop_fn)."""


@dataclass(slots=True)
class Editor:
    """An editor that builds a configuration, command by command.

    Attributes
    ----------
    setup
        The configuration so far.
    past
        Earlier states of devices, before a change or removal: the script may have measured over them, too.
    findings
        Commands that the kernel refuses, and settings that a later command undoes.
    """

    setup: Setup
    past: list[Tree] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def add_discipline(self, tree: Tree, new: Discipline) -> bool:
        """Add a discipline; return whether the kernel would do so."""
        there = tree.at(new.parent)
        if there is not None:
            self._find(
                "already-there",
                tree,
                new,
                f"{there.kind} of line {there.place.line} is already at {new.parent}",
                "use replace instead of add, or delete the old one first",
            )
            return False
        if not self._has_parent(tree, new):
            return False
        tree.disciplines.append(new)
        return True

    def replace_discipline(self, tree: Tree, new: Discipline) -> bool:
        """Replace a discipline; if the kind is the same, change it."""
        there = tree.at(new.parent)
        if there is not None and there.kind == new.kind and new.handle in ("", there.handle):
            return self.change_discipline(tree, new, replaces=True)
        if not self._has_parent(tree, new):
            return False
        if there is not None:
            self._keep(tree)
            lost = [one.kind for one in tree.below(there)]
            tree.remove(there)
            hung = f" with {', '.join(lost)} on it" if lost else ""
            if lost or (new.parent == ROOT and there.kind != new.kind):
                self._find(
                    "replaced",
                    tree,
                    new,
                    f"{new.kind} replaces {there.kind} (line {there.place.line}){hung}",
                    "attach the new discipline to a class of the old one, or remove the old one",
                )
        tree.disciplines.append(new)
        return True

    def change_discipline(self, tree: Tree, new: Discipline, *, replaces: bool = False) -> bool:
        """Change the parameters of a discipline; with `replaces`, resetting parameters is intended."""
        there = tree.at(new.parent) if new.parent else tree.named(new.handle)
        if there is None or there.kind != new.kind:
            self._find(
                "nothing-there",
                tree,
                new,
                f"there is no {new.kind} at {new.parent or new.handle} to change",
                "use add or replace",
            )
            return False
        self._keep(tree)
        if isinstance(there.options, Netem) and isinstance(new.options, Netem):
            self._change_netem(tree, there, new, replaces=replaces)
        there.options, there.given, there.place = new.options, new.given, new.place
        return True

    def delete_discipline(self, tree: Tree, parent: str, handle: str) -> bool:
        """Delete a discipline and everything attached to it; if there is none, do nothing."""
        there = tree.at(parent) if parent else tree.named(handle)
        if there is None:
            return False
        self._keep(tree)
        tree.remove(there)
        return True

    def add_class(self, tree: Tree, new: TrafficClass, *, replaces: bool) -> bool:
        """Add a class."""
        there = tree.classes.get(new.classid)
        if there is not None and not replaces:
            self._find(
                "already-there",
                tree,
                new,
                f"class {new.classid} was already added in line {there.place.line}",
                "write replace instead of add",
            )
            return False
        holder = tree.named(major(new.classid))
        if holder is None or holder.kind != new.kind:
            self._find(
                "nothing-there",
                tree,
                new,
                f"there is no {new.kind} {major(new.classid)} for class {new.classid}",
                f"add it first: tc qdisc add dev {tree.device.name} root handle"
                f" {major(new.classid)} {new.kind}",
            )
            return False
        if there is not None:
            self._keep(tree)
        tree.classes[new.classid] = new
        return True

    def delete_class(self, tree: Tree, classid: str) -> bool:
        """Delete a class."""
        if classid not in tree.classes:
            return False
        self._keep(tree)
        del tree.classes[classid]
        return True

    def add_filter(self, tree: Tree, new: Filter) -> bool:
        """Add a filter."""
        tree.filters.append(new)
        return True

    def current(self) -> list[Tree]:
        """Return the final state of each device; if it has been reset, its last state before that."""
        last = {tree.device: tree for tree in self.past}
        trees = []
        for device, tree in self.setup.trees.items():
            if tree.disciplines or tree.filters:
                trees.append(tree)
            elif device in last:
                trees.append(last[device])
        return trees

    def every(self) -> list[Tree]:
        """Return every state of each device, the latest last."""
        return [*self.past, *(tree for tree in self.setup.trees.values() if tree.disciplines or tree.filters)]

    def _has_parent(self, tree: Tree, new: Discipline) -> bool:
        if new.parent in (ROOT, "ingress", ""):
            return True
        if sum(1 for _ in tree.above(new)) > MOST_DEEP:
            self._find(
                "refused",
                tree,
                new,
                f"{new.kind} would be nested more than {MOST_DEEP} levels deep",
                "attach it at a higher level",
            )
            return False
        holder = tree.named(major(new.parent))
        missing = holder is None
        if holder is not None and holder.kind in ("htb", "hfsc", "drr", "qfq"):
            missing = new.parent not in tree.classes
        if missing:
            self._find(
                "nothing-there",
                tree,
                new,
                f"there is no class {new.parent} to attach {new.kind} to",
                "add the parent discipline or class first, with that handle",
            )
        return not missing

    def _change_netem(self, tree: Tree, there: Discipline, new: Discipline, *, replaces: bool) -> None:
        old, changed = there.options, new.options
        assert isinstance(old, Netem)
        assert isinstance(changed, Netem)
        lost = [name for name in ("delay", "limit") if name in there.given and name not in new.given]
        said = ", ".join(f"{name} {there.given[name]}" for name in lost)
        if old.loss is not None and changed.loss is None:
            said += f"{', ' if said else ''}loss"
        # The kernel keeps these if a command does not set them.
        kept = replace(
            changed,
            rate_bps=changed.rate_bps if changed.rate_bps is not None else old.rate_bps,
            corrupt=changed.corrupt or old.corrupt,
            slotted=changed.slotted or old.slotted,
        )
        if said and not replaces:
            self._find(
                "change-resets",
                tree,
                new,
                f"this change discards values of line {there.place.line}: {said}",
                "repeat all parameters of netem in each change",
            )
        new.options = kept

    def _find(self, rule: str, tree: Tree, new: Discipline | TrafficClass, what: str, instead: str) -> None:
        handle = new.handle if isinstance(new, Discipline) else new.classid
        self.findings.append(finding(RULES[rule], new.place, tree.device, handle, what, instead))

    def _keep(self, tree: Tree) -> None:
        """Keep the current state of a device.

        Up to `MOST_PAST` + 1 states are kept; the last of them also records that the limit was reached.
        """
        if not tree.disciplines or len(self.past) > MOST_PAST:
            return
        # Parameters are replaced as a whole and never changed, so both states may share them.
        disciplines = [replace(one) for one in tree.disciplines]
        kept = Tree(tree.device, disciplines, dict(tree.classes), list(tree.filters), tree.filters_known)
        self.past.append(kept)
        if len(self.past) > MOST_PAST:
            place = tree.disciplines[-1].place
            why = f"more than {MOST_PAST} changes; only the final state after them is checked"
            self.setup.unread.append(Unread(place, str(tree.device), why))
