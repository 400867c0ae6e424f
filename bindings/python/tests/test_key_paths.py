"""Key paths that are read, set and observed with collection operators; values that a path cannot be read from; arguments of wrong types."""

from concurrent.futures import ThreadPoolExecutor
import ctypes
import gc
import os

import kvo
from kvo._encoding import _Encoded
from kvo._guards import _read_by_c
from kvo._reports import _interrupted
import pytest
from test_observing import unraisable


class Author(kvo.Object):
    name = kvo.String("nobody")


class Line(kvo.Object):
    price = kvo.Double(0)
    author = kvo.Reference()


class Order(kvo.Object):
    title = kvo.String("t")
    items = kvo.List(kvo.Reference)
    prices = kvo.List(kvo.Double)
    next = kvo.Reference()


@pytest.fixture
def order():
    return Order(items=[Line(price=2), Line(price=3)], prices=[1])


def observed(found, path, options=kvo.NEW | kvo.OLD):
    told = []
    kvo.observe(found, path, lambda change: told.append((change.old, change.new)), options)
    return told


def test_an_operator_is_observed_through_the_list_and_its_elements(order):
    told = observed(order, "items.@sum.price")
    order.items.append(Line(price=5))
    order.items[0].price = 4
    del order.items[1]
    order.items = []
    assert told == [(5.0, 10.0), (10.0, 12.0), (12.0, 9.0), (9.0, 0)]


def test_counts_sums_of_numbers_and_paths_through_objects_are_observed(order):
    counts, sums = observed(order, "prices.@count"), observed(order, "prices.@sum.self")
    root = Order(next=order)
    most = observed(root, "next.items.@max.price")
    order.prices.extend([2, 3])
    order.items[0].price = 9
    root.next = None
    assert counts == [(1, 3)] and sums == [(1.0, 6.0)] and most == [(3.0, 9.0), (9.0, None)]


def test_an_operator_that_gives_objects_gives_those_of_python(order):
    told = observed(order, "items.@unionOfObjects.author")
    ann = order.items[0].author = Author(name="Ann")
    assert told == [([], [ann])]


def test_the_observation_of_an_operator_ends_with_its_token_and_its_object():
    order, told, before = Order(items=[Line(), Line()]), [], set(_read_by_c)
    with kvo.observe(order, "items.@count", told.append, kvo.NEW | kvo.INITIAL) as token:
        assert told[0].new == 2 and token.is_active
        order.items.append(Line())
    order.items.append(Line())
    assert [change.new for change in told] == [2, 3]
    token = kvo.observe(order, "items.@count", told.append)
    assert len(_read_by_c) == len(before) + 1
    del order, token
    gc.collect()
    assert _read_by_c == before


@pytest.mark.parametrize("path", ["items.@foo.price", "items.@sum.nope", "nope.@count", "items.@sum", "title.@count"])
def test_an_operator_that_cannot_be_read_is_refused(order, path):
    before = set(_read_by_c)
    with pytest.raises(kvo.Error):
        kvo.observe(order, path, print)
    assert _read_by_c == before


def test_get_reads_keys_paths_lists_and_operators(order):
    order.items[0].author = Author(name="Ann")
    assert kvo.get(order, "title") == "t"
    assert kvo.get(order, "items") == list(order.items)
    assert kvo.get(order, "items.price") == [2.0, 3.0]
    assert kvo.get(order, "items.author.name") == ["Ann", None]
    assert kvo.get(order, "items.@avg.price") == 2.5
    assert kvo.get(order, "next.title") is None
    assert kvo.get(Order(next=order), "next.items.@count") == 2


def test_set_sets_the_last_key_and_notifies(order):
    told = observed(order, "title")
    kvo.set(order, "title", "u")
    kvo.set(Order(next=order), "next.title", "v")
    kvo.set(order, "next.title", "nobody")
    kvo.set(order, "items.price", 7)
    assert told == [("t", "u"), ("u", "v")] and kvo.get(order, "items.price") == [7.0, 7.0]


def test_the_error_of_an_assignment_waits_while_another_thread_raises_its_own():
    line, other = Line(), Line()

    def assign_elsewhere(change):
        def assign():
            with pytest.raises(kvo.UndefinedKey, match="nope"):
                other.author = Author()

        with ThreadPoolExecutor() as pool:
            pool.submit(assign).result()

    kvo.observe(line, "author", assign_elsewhere)
    for one in (line, other):
        kvo.observe(one, "author.nope", lambda change: None)  # the newest: it is notified first
    with pytest.raises(kvo.UndefinedKey, match="nope"):
        line.author = Author()
    assert not _interrupted


@pytest.mark.parametrize("path", ["nope", "items.nope", "title.x", "items.@foo", ""])
def test_get_and_set_refuse_paths_that_do_not_exist(order, path):
    with pytest.raises(kvo.Error):
        kvo.get(order, path)
    with pytest.raises(kvo.Error):
        kvo.set(order, path, 1)


def test_a_value_that_a_path_cannot_be_read_from_raises_from_the_assignment_which_has_been_made(order):
    told = observed(order, "next.nope")
    other = Author()
    with unraisable() as reports:
        with pytest.raises(kvo.UndefinedKey, match="nope"):
            order.next = other
        assert order.next is other and told == [(None, None)]
        order.title = "not concerned"
    assert reports == []


def test_the_same_for_paths_that_c_reads(order):
    observed(order, "items.@sum.price")
    bad = Author()
    with unraisable() as reports:
        with pytest.raises(kvo.UndefinedKey, match="KVO0009"):
            order.items.append(bad)
        assert order.items[-1] is bad
        root = Order()
        observed(root, "next.items.@count")
        with pytest.raises(kvo.UndefinedKey, match="KVO0009"):
            root.next = bad
        assert root.next is bad
    assert reports == []


def test_a_value_that_c_has_set_and_a_path_cannot_be_read_from_is_reported(order, c):
    order.next = kvo.wrap(c.make_point())
    told = observed(order, "next.next.nope")
    value = _Encoded(Author(), "@")
    with unraisable() as reports:
        assert ctypes.CDLL(os.environ["KVO_LIBRARY"]).kvo_set_value(order.next, b"next", ctypes.byref(value.view)) == 0
    assert [report.exc_type for report in reports] == [kvo.UndefinedKey] and told == [(None, None)]


def test_a_change_that_an_observer_makes_raises_in_the_observer(order):
    inner, seen = Order(), []
    observed(inner, "next.nope")
    observed(inner, "items.@sum.price")

    def set_inner(_):
        for change in (lambda: setattr(inner, "next", Author()), lambda: inner.items.append(Author())):
            with pytest.raises(kvo.UndefinedKey) as raised:
                change()
            seen.append(raised.value)

    kvo.observe(order, "title", set_inner)
    order.title = "u"
    assert len(seen) == 2


def test_a_list_is_repeated_and_extended_in_place_with_one_change(order):
    told = []
    kvo.observe(order, "prices", lambda change: told.append((change.kind, change.new)))
    order.prices *= 3
    order.prices += [2]
    assert order.prices == [1, 1, 1, 2]
    order.prices *= 0
    assert order.prices == []
    assert told == [(kvo.INSERTION, [1.0, 1.0]), (kvo.INSERTION, [2.0]), (kvo.REMOVAL, None)]
    with pytest.raises(TypeError):
        order.prices *= "x"


def test_a_list_of_c_is_repeated_and_extended_in_place(c):
    order = kvo.wrap(c.make_order())
    order.prices += [1.5]
    order.prices *= 2
    assert list(order.prices) == [1.5, 1.5]
    order.prices *= 0
    assert list(order.prices) == []


@pytest.mark.parametrize("wrong", ["x", b"x", 1.5, True, object(), [], ctypes.c_char_p(b"x"), ctypes.c_wchar_p("x"), ctypes.c_double(1)])
def test_wrap_refuses_what_is_no_address(wrong):
    with pytest.raises(TypeError):
        kvo.wrap(wrong)


@pytest.mark.parametrize("wrong", [1, -8, 4097, 1 << 70])
def test_wrap_refuses_numbers_that_cannot_be_addresses(wrong):
    with pytest.raises(ValueError):
        kvo.wrap(wrong)


def test_wrap_takes_pointers_of_ctypes(c):
    address = c.make_point()
    point = kvo.wrap(address)
    assert kvo.wrap(ctypes.c_void_p(address)) is point
    assert kvo.wrap(ctypes.cast(address, ctypes.POINTER(ctypes.c_int))) is point
    assert kvo.wrap(None) is None and kvo.wrap(ctypes.c_void_p()) is None and kvo.wrap(0) is None


@pytest.mark.parametrize("wrong", ["x", b"x", 5, None, 1.5, [], object()])
def test_every_function_refuses_arguments_of_wrong_types(order, wrong):
    calls = [
        lambda: kvo.address_of(wrong),
        lambda: kvo.observe(wrong, "title", print),
        lambda: kvo.get(wrong, "title"),
        lambda: kvo.set(wrong, "title", 1),
        lambda: kvo.changing(wrong, "title"),
        lambda: kvo.List(wrong),
        lambda: kvo.List(kvo.Double, default=5),
        lambda: kvo.computed(wrong),
        lambda: setattr(order, "next", wrong if wrong is not None else 5),
        lambda: kvo.observe(order, "title", wrong),
    ]
    if not isinstance(wrong, str):
        calls += [
            lambda: kvo.observe(order, wrong, print),
            lambda: kvo.get(order, wrong),
            lambda: kvo.set(order, wrong, 1),
            lambda: kvo.changing(order, wrong),
            lambda: kvo.find_class(wrong),
            lambda: kvo.CClass(wrong),
        ]
    if not isinstance(wrong, int):
        calls.append(lambda: kvo.observe(order, "title", print, wrong))
    if wrong is not None and not hasattr(wrong, "__weakref__"):
        calls.append(lambda: kvo.observe(order, "title", print, owner=wrong))
    before = len(order._kvo_observations)
    for number, call in enumerate(calls):
        with pytest.raises((TypeError, ValueError)):
            call()
            pytest.fail(f"call {number} takes {wrong!r}")
    assert len(order._kvo_observations) == before
