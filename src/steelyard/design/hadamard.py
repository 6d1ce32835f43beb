"""Hadamard matrices: square, of 1 and -1, with rows that are orthogonal to each other."""

from __future__ import annotations

from math import isqrt

Matrix = list[list[int]]

# Of the multiples of 4 up to here every order can be made; 92 is the first that cannot.
LARGEST_ORDER = 64


def hadamard_matrix(order: int) -> Matrix:
    """A Hadamard matrix whose first column is all 1.

    Parameters
    ----------
    order : int
        1, 2, or a multiple of 4 up to `LARGEST_ORDER`.

    Raises
    ------
    ValueError
        No construction that is known here makes one of that order.

    Notes
    -----
    With q a power of an odd prime (Paley, J. Mathematics and Physics 12 (1933) 311): of order
    q + 1 where q = 3 mod 4, of order 2 (q + 1) where q = 1 mod 4. Else one of half the order is
    doubled (Sylvester 1867).
    """
    if order == 1:
        return [[1]]
    for q, kind in ((order - 1, 3), (order // 2 - 1, 1)):
        # Order 4 and powers of 2 are doubled, as ever, so that designs of them stay as they were.
        if q % 4 == kind and order & (order - 1) and _has_field(q):
            return _normalised(_paley(q))
    if order % 2 == 0 and (order == 2 or order % 4 == 0):
        half = hadamard_matrix(order // 2)
        return [row + row for row in half] + [row + [-x for x in row] for row in half]
    raise ValueError(f"no construction of a Hadamard matrix of order {order} is known here")


def _paley(q: int) -> Matrix:
    """From the quadratic characters of the differences between the elements of a field."""
    jacobsthal = _characters(q)
    if q % 4 == 3:
        top = [[1] * (q + 1)]
        return top + [
            [-1, *(x + (i == j) for j, x in enumerate(row))] for i, row in enumerate(jacobsthal)
        ]
    conference = [[0] + [1] * q] + [[1, *row] for row in jacobsthal]
    found: Matrix = []
    for i, row in enumerate(conference):
        # 0 stands for ((1, -1), (-1, -1)), x for x ((1, 1), (1, -1)).
        upper = [v for j, x in enumerate(row) for v in ((1, -1) if i == j else (x, x))]
        lower = [v for j, x in enumerate(row) for v in ((-1, -1) if i == j else (x, -x))]
        found += [upper, lower]
    return found


def _normalised(matrix: Matrix) -> Matrix:
    """With rows turned round so that the first column is all 1."""
    return [row if row[0] == 1 else [-x for x in row] for row in matrix]


def _has_field(q: int) -> bool:
    """Whether q is a prime, or the square of an odd one: the fields that are made here."""
    root = isqrt(q)
    return _is_prime(q) or (root * root == q and root > 2 and _is_prime(root))


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % k for k in range(2, isqrt(number) + 1))


def _characters(q: int) -> Matrix:
    """For each pair of elements 1 where their difference is a square, -1 where not, 0 for none."""
    root = isqrt(q)
    if root * root != q:
        squares = {x * x % q for x in range(1, q)}
        return [
            [0 if i == j else (1 if (i - j) % q in squares else -1) for j in range(q)]
            for i in range(q)
        ]
    # The field of p^2 elements: a + b r, with r^2 = s for an s that is no square modulo p.
    p = root
    s = next(s for s in range(2, p) if all(x * x % p != s for x in range(p)))
    elements = [(a, b) for a in range(p) for b in range(p)]
    squares_of_pairs = {
        ((a * a + s * b * b) % p, 2 * a * b % p) for a, b in elements if (a, b) != (0, 0)
    }
    return [
        [
            0 if x == y
            else (1 if ((x[0] - y[0]) % p, (x[1] - y[1]) % p) in squares_of_pairs else -1)
            for y in elements
        ]
        for x in elements
    ]  # fmt: skip
