"""Formulas of a study file: numbers, columns, + - * / **, comparisons and a few functions. A formula is parsed by Python
and walked by evaluate(), which knows nothing else: it can reach no name, attribute or call that is not listed here."""

import ast
import math
import operator

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
COMPARISONS = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
FUNCTIONS = {"log2": math.log2, "log10": math.log10, "sqrt": math.sqrt, "abs": abs, "min": min, "max": max}
LONGEST = 500


class StudyError(Exception):
    """A study file, a choice or a place that cannot be used: one line, exit status 2."""


def _path(node):
    """a.b.c as "a.b.c"; None when the node is no such thing."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = _path(node.value)
        return left and f"{left}.{node.attr}"
    return None


class Formula:
    """Parsed and checked. `names` are the columns or numbers that it asks for, `others` the versions named in ratio()."""

    def __init__(self, where, text):
        self.where, self.text = where, str(text)
        self.names, self.others = [], []
        if len(self.text) > LONGEST:
            raise StudyError(f"{where}: a formula of more than {LONGEST} characters")
        try:
            self.tree = ast.parse(self.text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise StudyError(f"{where}: '{self.text}' is no formula") from None
        self._check(self.tree)

    def _check(self, node):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return
        if isinstance(node, (ast.Name, ast.Attribute)) and _path(node):
            self.names.append(_path(node))
        elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            self._check(node.left)
            self._check(node.right)
            if isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant) and node.right.value == 0:
                raise StudyError(f"{self.where}: '{self.text}' divides by 0")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self._check(node.operand)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                self._check(value)
        elif isinstance(node, ast.Compare) and all(type(op) in COMPARISONS for op in node.ops):
            for value in [node.left] + node.comparators:
                self._check(value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id == "ratio":
                if (
                    len(node.args) != 2
                    or not isinstance(node.args[1], ast.Constant)
                    or not isinstance(node.args[1].value, str)
                ):
                    raise StudyError(f"{self.where}: '{self.text}': ratio() is ratio(COLUMN, 'VERSION')")
                self.others.append(node.args[1].value)
                self._check(node.args[0])
            elif node.func.id in FUNCTIONS:
                for argument in node.args:
                    self._check(argument)
            else:
                known = ", ".join(["ratio", *FUNCTIONS])
                raise StudyError(f"{self.where}: '{self.text}': no function {node.func.id}; there are {known}")
        else:
            raise StudyError(f"{self.where}: '{self.text}': {type(node).__name__} has no place in a formula")

    def is_ratio(self):
        return bool(self.others)

    def evaluate(self, look_up, other=None):
        """look_up(name) gives a number or None; other(version) gives the look_up of that version at the same point, or
        None. A formula of which a part is not known is None. ZeroDivisionError becomes a StudyError."""

        def walk(node, look):
            if isinstance(node, ast.Constant):
                return node.value
            if isinstance(node, (ast.Name, ast.Attribute)):
                return look(_path(node))
            if isinstance(node, ast.UnaryOp):
                value = walk(node.operand, look)
                return None if value is None else -value
            if isinstance(node, ast.BinOp):
                left, right = walk(node.left, look), walk(node.right, look)
                return None if left is None or right is None else OPERATORS[type(node.op)](left, right)
            if isinstance(node, ast.BoolOp):
                values = [walk(value, look) for value in node.values]
                if None in values:
                    return None
                return all(values) if isinstance(node.op, ast.And) else any(values)
            if isinstance(node, ast.Compare):
                values = [walk(value, look) for value in [node.left] + node.comparators]
                if None in values:
                    return None
                return all(COMPARISONS[type(op)](a, b) for op, a, b in zip(node.ops, values, values[1:]))
            if node.func.id == "ratio":
                elsewhere = other(node.args[1].value) if other else None
                mine = walk(node.args[0], look)
                theirs = walk(node.args[0], elsewhere) if elsewhere else None
                return None if mine is None or theirs is None else theirs / mine
            values = [walk(argument, look) for argument in node.args]
            return None if None in values else FUNCTIONS[node.func.id](*values)

        try:
            return walk(self.tree, look_up)
        except ZeroDivisionError:
            raise StudyError(f"{self.where}: '{self.text}' divides by 0") from None
        except (ValueError, OverflowError, TypeError) as error:
            raise StudyError(f"{self.where}: '{self.text}': {error}") from None
