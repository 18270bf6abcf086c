"""Domains: values to small codes and back, what counts as the same value, growth, numbers and order."""

from __future__ import annotations

import numpy as np
import pytest

from eventide.engine.domains import Domain, GrowthError, text_of, value_of
from eventide.syntax.terms import Atom, Compound, Number, Variable


def domain_of(*values: object) -> Domain:
    domain = Domain("test")
    domain.codes(values)  # type: ignore[arg-type]
    return domain


def test_an_integer_a_float_and_an_atom_are_three_values() -> None:
    domain = domain_of(1, 1.0, "1")
    assert len(domain) == 3
    assert [domain.find(value) for value in (1, 1.0, "1")] == [0, 1, 2]
    assert domain.find(2) == -1


def test_numbers_are_coded_as_if_one_by_one() -> None:
    domain = domain_of(7, "x")
    assert domain.encode_numbers(np.array([9, 7, 9])).tolist() == [2, 0, 2]
    assert domain.encode_numbers(np.array([7.0, 0.0, -0.0])).tolist() == [3, 4, 4]
    assert domain.values == [7, "x", 9, 7.0, 0.0]


def test_int64_extremes_are_values_like_others() -> None:
    low, high = -(2**63), 2**63 - 1
    domain = Domain("test")
    assert domain.encode_numbers(np.array([high, low, high])).tolist() == [0, 1, 0]
    assert domain.values == [high, low]


def test_a_laid_out_domain_grows_within_its_bits_only() -> None:
    domain = domain_of("a", "b", "c")
    domain.fix()
    assert domain.width == 2
    assert domain.code("d") == 3
    with pytest.raises(GrowthError, match="test"):
        domain.code("e")
    domain.fix(spare=1)
    assert (domain.width, domain.code("e")) == (3, 4)


def test_one_value_needs_no_bits() -> None:
    for domain in (domain_of(), domain_of("only")):
        domain.fix()
        assert domain.width == 0


def test_numbers_of_codes() -> None:
    assert domain_of(3, -2).numbers.dtype == np.int64
    mixed = domain_of(3, 2.5, "x").numbers
    assert mixed[:2].tolist() == [3.0, 2.5] and np.isnan(mixed[2])


def test_ranks_follow_the_standard_order_of_terms() -> None:
    point = Compound("p", (Number(1),))
    pair = Compound("a", (Number(1), Number(2)))
    domain = domain_of(pair, "b", 2, point, "a", 2.0, -1)
    ordered = [domain.values[code] for code in np.argsort(domain.ranks)]
    assert ordered == [-1, 2.0, 2, "a", "b", point, pair]
    assert isinstance(ordered[1], float) and isinstance(ordered[2], int)


def test_ranks_are_found_again_when_the_domain_has_grown() -> None:
    domain = domain_of("m", "z")
    assert domain.ranks.tolist() == [0, 1]
    domain.code("a")
    assert domain.ranks.tolist() == [1, 2, 0]


def test_terms_to_values_and_text() -> None:
    pair = Compound("p", (Atom("a"), Number(1)))
    assert [value_of(t) for t in (Number(1), Number(1.0), Atom("x"), pair)] == [1, 1.0, "x", pair]
    assert [text_of(v) for v in (1, 1.5, "x", pair)] == ["1", "1.5", "x", "p(a,1)"]
    with pytest.raises(TypeError, match="not a ground value: X"):
        value_of(Variable("X"))
