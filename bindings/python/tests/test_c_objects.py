"""Classes and objects of C, seen from Python."""

import copy
import gc
import pickle
import threading
import weakref

import pytest

import kvo
from kvo._c_objects import _proxies_lock
from test_properties import Document


def test_a_class_of_c_has_a_name_properties_and_a_superclass(c):
    c.make_point()
    found = kvo.find_class("CPoint")
    assert (found.name, found.superclass, kvo.find_class("nothing")) == ("CPoint", None, None)
    assert found.properties["both"] == "{pair=di}" and found.properties["next"] == "@"


def test_a_class_that_a_plug_in_has_ended_is_an_error(c):
    assert c.begin_class(b"Passing") == 0
    found = kvo.find_class("Passing")
    assert found.properties == {"x": "d"} and found == kvo.find_class("Passing")
    made = found.create()
    assert c.end_class() != 0  # there is an object
    del made
    assert c.end_class() == 0
    for use in (lambda: found.properties, found.create, lambda: found.superclass):
        with pytest.raises(kvo.Error):
            use()
    assert kvo.find_class("Passing") is None and repr(found) == "<CClass Passing>"


def test_properties_of_c_objects_are_attributes(c):
    point = kvo.wrap(c.make_point())
    point.x, point.count, point.visible, point.name, point.both = 2.5, 3, True, "Zoë", (1.5, 7)
    assert (point.x, point.count, point.visible, point.name, point.both) == (2.5, 3, True, "Zoë", (1.5, 7))
    point.next = point
    assert point.next is point
    point.next = point.name = None
    assert point.next is None and point.name is None and "count" in dir(point)
    document = Document()
    point.next = document
    assert point.next is document
    point.next = None
    c.destroy(point)


@pytest.mark.parametrize(
    "key, value, error",
    [
        ("x", "2", TypeError), ("x", None, TypeError), ("count", 1 << 40, OverflowError), ("count", 1.5, TypeError), ("count", -1, kvo.Error),
        ("name", 5, TypeError), ("next", 5, TypeError), ("nothing", 5, kvo.UndefinedKey), ("fixed", 1.0, kvo.ReadOnly),
        ("both", (1,), TypeError), ("visible", 2, TypeError),
    ],
)  # fmt: skip
def test_a_wrong_value_is_an_error_and_changes_nothing(c, key, value, error):
    point, told = kvo.wrap(c.make_point()), []
    kvo.observe(point, "x", told.append)
    with pytest.raises(error):
        setattr(point, key, value)
    assert told == [] and point.count == 0


def test_observers_of_c_objects_get_python_values(c):
    point, other, told = kvo.wrap(c.make_point()), kvo.wrap(c.make_point()), []

    def note(change):
        told.append((change.key_path, change.old, change.new))

    for path in ("x", "name", "next.name", "both"):
        kvo.observe(point, path, note)
    point.x = 2
    point.name = "p"
    other.name = "o"
    point.next = other
    point.both = (1, 2)
    assert told == [("x", 0.0, 2.0), ("name", None, "p"), ("next.name", None, "o"), ("both", (0.0, 0), (1.0, 2))]
    for path in ("nothing", "next.nothing", "x.y"):
        with pytest.raises(kvo.Error):
            kvo.observe(point, path, note)


def test_an_object_that_its_own_observer_destroys_is_dead_at_once(c):
    point, told = kvo.find_class("CPoint").create(), []

    def destroy(change):
        point.destroy()
        with pytest.raises(kvo.Error, match="has died"):
            point.x
        told.append(repr(point))

    kvo.observe(point, "x", destroy)
    point.x = 1.0
    assert told == ["<CObject, dead>"]


def test_an_object_that_dies_on_a_path_from_python_is_none(c):
    document, target, told = Document(), Document(), []
    document.author = point = kvo.find_class("CPoint").create()
    point.x, point.name = 2.0, "p"
    kvo.observe(document, "author.x", lambda change: told.append((change.old, change.new)))
    kvo.bind(target, "title", document, "author.name")
    prices = kvo.wrap(c.make_order()).prices
    c.destroy(kvo.address_of(prices._owner))
    point.destroy()
    assert told == [(2.0, None)] and target.title is None and kvo.get(document, "author.x") is None
    assert repr(prices) == "<CList, dead>"


def test_a_path_from_python_goes_through_an_object_of_c(c):
    document, point, told = Document(), kvo.wrap(c.make_point()), []
    kvo.observe(document, "author.x", lambda change: told.append((change.old, change.new)))
    document.author = point
    c.set_number(point, b"x", 4.0)
    document.author = None
    assert told == [(None, 0.0), (0.0, 4.0), (4.0, None)]


def test_lists_and_sets_of_c_objects_are_lists_and_sets(c):
    order, told = kvo.wrap(c.make_order()), []
    kvo.observe(order, "prices", lambda change: told.append((change.kind, change.indexes, change.old, change.new)))
    order.prices.append(1.5)
    order.prices.insert(0, 2)
    order.prices[1] = 3
    c.insert_item(order, 2, 4.0)
    del order.prices[0]
    assert order.prices == [3.0, 4.0] and order.prices[-1] == 4.0 and order.prices[0:1] == [3.0]
    assert told == [
        (kvo.INSERTION, [0], None, [1.5]), (kvo.INSERTION, [0], None, [2.0]), (kvo.REPLACEMENT, [1], [1.5], [3.0]),
        (kvo.INSERTION, [2], None, [4.0]), (kvo.REMOVAL, [0], [2.0], None),
    ]  # fmt: skip
    for bad in (lambda: order.prices[9], lambda: order.prices.append("x"), lambda: order.prices.__delitem__(9)):
        with pytest.raises((IndexError, TypeError)):
            bad()
    order.priceSet.add(7)
    order.priceSet.add(7)
    order.priceSet.discard(8)
    assert 7 in order.priceSet and "x" not in order.priceSet and set(order.priceSet) == {3.0, 4.0, 7.0}
    order.priceSet.remove(7)
    assert order.priceSet & {3.0} == {3.0} and len(order.priceSet) == 2
    point = kvo.wrap(c.make_point())
    order.items.append(point)
    assert order.items[0] is point


def test_copies_of_lists_and_sets_of_c_objects_are_plain_and_a_c_object_cannot_be_copied(c):
    order, told = kvo.wrap(c.make_order()), []
    order.prices.extend([1, 2])
    kvo.observe(order, "prices", told.append)
    kvo.observe(order, "priceSet", told.append)
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), lambda one: one.copy()):
        for made, expected in ((copied(order.prices), [1.0, 2.0]), (copied(order.priceSet), {1.0, 2.0})):
            assert type(made) is type(expected) and made == expected
            made.clear()
    assert (order.prices + [3], [3] + order.prices, order.prices * 2) == ([1.0, 2.0, 3], [3, 1.0, 2.0], [1.0, 2.0, 1.0, 2.0])
    assert told == [] and order.prices == [1.0, 2.0] and set(order.priceSet) == {1.0, 2.0}
    point = kvo.wrap(c.make_point())
    order.items.append(point)
    assert copy.copy(order.items) == [point]
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="an object of C can neither be copied nor pickled"):
            copied(point)
    point.x = 2
    assert point.x == 2.0


def test_an_object_of_c_that_has_died_is_an_error_and_ends_its_observations(c):
    point, ended = kvo.wrap(c.make_point()), []
    token = kvo.observe(point, "x", ended.append)
    c.destroy(point)
    assert not token.is_active and repr(point) == "<CObject, dead>"
    for use in (lambda: point.x, lambda: setattr(point, "x", 1), lambda: kvo.observe(point, "x", print), lambda: kvo.address_of(point)):
        with pytest.raises(kvo.Error):
            use()


def test_an_object_that_python_has_made_dies_with_its_last_reference(c):
    c.make_point()
    point = kvo.find_class("CPoint").create()
    token = kvo.observe(point, "x", print)
    token.close()
    del point, token
    gc.collect()
    observed = kvo.find_class("CPoint").create()
    token = kvo.observe(observed, "x", lambda change: observed)
    kept = observed.release()
    observed.x = 2
    c.destroy(kept)
    assert not token.is_active
    observed = kvo.find_class("CPoint").create()
    token = kvo.observe(observed, "x", lambda change: None)
    del observed
    gc.collect()
    assert not token.is_active
    other = kvo.find_class("CPoint").create()
    other.destroy()
    with pytest.raises(kvo.Error):
        other.x
    address = (kept := kvo.find_class("CPoint").create()).release()
    del kept
    assert kvo.wrap(address).x == 0.0
    c.destroy(address)
    with pytest.raises(kvo.Error):
        kvo.wrap(c.make_point()).destroy()


def test_a_function_of_c_takes_the_object(c):
    point = kvo.wrap(c.make_point())
    c.set_number(point, b"x", 1.5)
    assert point.x == 1.5
    assert kvo.wrap(None) is None


def test_an_object_of_c_can_be_read_while_another_thread_drops_its_last_reference(c):
    point = kvo.wrap(c.make_point())
    held = [kvo.wrap(c.make_point())]
    point.next = held[0]
    dropping = threading.Thread(target=held.clear)
    with _proxies_lock:  # so that the other thread waits in the middle
        dropping.start()
        dropping.join(0.1)
        found = point.next
    dropping.join()
    assert found.x == 0 and found is point.next


@pytest.mark.parametrize("is_owned", [False, True])
def test_an_object_of_c_keeps_what_is_put_into_it_until_it_dies(c, is_owned):
    made = c.make_point(), c.make_order()
    point, order = [kvo.find_class(name).create() for name in ("CPoint", "COrder")] if is_owned else map(kvo.wrap, made)
    point.next = Document(zoom=5)
    order.items += [Document(zoom=1), Document(zoom=2), Document(zoom=3)]
    order.items[1] = Document(zoom=4)
    seen = [weakref.ref(one) for one in (point.next, *order.items)]
    if is_owned:
        made = point.release(), order.release()
    del point, order
    gc.collect()
    point, order = map(kvo.wrap, made)
    assert point.next.zoom == 5 and [one.zoom for one in order.items] == [1, 4, 3]
    del order.items[0]
    point.next = None
    gc.collect()
    assert seen[0]() is None and seen[1]() is None and [one.zoom for one in order.items] == [4, 3]
    del point, order
    for address in made:
        c.destroy(address)
    gc.collect()
    assert [one() for one in seen] == [None] * 4 and not set(made) & set(kvo._c_objects._keepers)


def test_what_a_handler_puts_into_an_object_of_c_is_kept(c):
    point, order = kvo.wrap(c.make_point()), kvo.wrap(c.make_order())
    kvo.observe(point, "next", lambda change: change.new.zoom == 1 and setattr(point, "next", Document(zoom=2)))
    kvo.observe(order, "items", lambda change: len(order.items) == 1 and order.items.append(Document(zoom=4)))
    point.next = Document(zoom=1)
    order.items.append(Document(zoom=3))
    gc.collect()
    assert point.next.zoom == 2 and [one.zoom for one in order.items] == [3, 4]
    for one in (point, order):
        c.destroy(kvo.address_of(one))


def test_an_object_that_a_list_of_c_refuses_is_not_kept(c, monkeypatch):
    order = kvo.wrap(c.make_order())
    monkeypatch.setattr(kvo._c_collections, "_list_insert", lambda *arguments: -1)
    with pytest.raises(kvo.Error):
        order.items.append(Document(zoom=1))
    assert not order._kvo_kept
    c.destroy(kvo.address_of(order))
