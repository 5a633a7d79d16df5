"""Sempre's source as the architecture tests see it: modules, their imports, the names they use.

Owns parsing and name resolution; the rules themselves are in the tests. Nothing is imported or
executed, so a rule also holds for a module whose driver is not installed.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "sempre"
# What binds a name to a body of its own.
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class Import:
    """One imported name, absolute; lazy inside a function, or if only type checkers see it."""

    target: str
    line: int
    lazy: bool = False


@dataclass(frozen=True)
class Module:
    """One parsed module of the package, under its dotted name."""

    name: str
    tree: ast.Module
    is_package: bool = False

    @classmethod
    def parse(cls, text: str, name: str = "sempre.sample") -> "Module":
        return cls(name, ast.parse(text))

    @property
    def unit(self) -> str:
        """The part of the package that has a layer: `grids` for `sempre.grids.cron`."""
        return unit_of(self.name)

    def imports(self) -> list[Import]:
        return self._all_imports

    def uses(self) -> list[tuple[str, int]]:
        """Every dotted name the module mentions, resolved through its imports, and its line."""
        return self._all_uses

    @cached_property
    def _all_imports(self) -> list[Import]:
        return list(self._imports(self.tree, lazy=False))

    @cached_property
    def _all_uses(self) -> list[tuple[str, int]]:
        return list(self._uses())

    def _uses(self) -> Iterator[tuple[str, int]]:
        bound = self._bindings()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name | ast.Attribute) and (name := dotted(node)):
                head, _, rest = name.partition(".")
                origin = bound.get(head, head)
                yield (f"{origin}.{rest}" if rest else origin), node.lineno

    def _imports(self, node: ast.AST, *, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            for target in self._targets(child):
                yield Import(target, getattr(child, "lineno", 0), lazy)
            waits = isinstance(child, FUNCTIONS) or is_for_types_only(child)
            yield from self._imports(child, lazy=lazy or waits)

    def _targets(self, node: ast.AST) -> list[str]:
        match node:
            case ast.Import(names=names):
                return [alias.name for alias in names]
            case ast.ImportFrom(names=names):
                return [f"{self._origin(node)}.{alias.name}" for alias in names]
            case ast.Call(func=function, args=[ast.Constant(value=str(target)), *_]):
                by_name = (dotted(function) or "").rpartition(".")[2]
                return [target] if by_name in {"import_module", "__import__"} else []
            case _:
                return []

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parents = self.name.split(".")
        climbed = parents[: len(parents) - node.level + self.is_package]
        return ".".join([*climbed, *filter(None, [node.module])])

    def _bindings(self) -> dict[str, str]:
        bound: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                bound |= {alias.asname: alias.name for alias in node.names if alias.asname}
            elif isinstance(node, ast.ImportFrom):
                origin = self._origin(node)
                bound |= {
                    alias.asname or alias.name: f"{origin}.{alias.name}" for alias in node.names
                }
        return bound


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, parsed."""
    return tuple(_read(path) for path in sorted(PACKAGE.rglob("*.py")))


def unit_of(name: str) -> str:
    """Return the second part of a dotted name, empty for the package root."""
    return [*name.split("."), ""][1]


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` of a chain of attributes; None when it starts from anything but a name."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attribute):
            return f"{prefix}.{attribute}" if (prefix := dotted(value)) else None
        case _:
            return None


def is_for_types_only(node: ast.AST) -> bool:
    """Tell whether a block is `if TYPE_CHECKING:`, which no program enters."""
    return isinstance(node, ast.If) and dotted(node.test) == "TYPE_CHECKING"


def _read(path: Path) -> Module:
    parts = ("sempre", *path.relative_to(PACKAGE).with_suffix("").parts)
    is_package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if is_package else parts)
    return Module(name, ast.parse(path.read_text(), str(path)), is_package)
