"""Objects that die together, or while a value that has them is told: they are None there, and the memory of none is read again."""

import functools
import gc
import itertools
import weakref

import pytest

import kvo
from test_observing import unraisable


class Node(kvo.Object):
    name = kvo.String("")
    size = kvo.Double()
    other = kvo.Reference()
    back = kvo.Reference()
    people = kvo.List(kvo.Reference)

    @kvo.computed
    def count(self):
        return len(self.people)


class Maker(kvo.Object):
    point = kvo.Any()

    @kvo.computed
    def made(self):
        Node()
        return self.point is None or self.point.next is None


def without_reports(test):
    """Nothing goes to sys.unraisablehook, and nothing is collected at another time than in gc.collect()."""

    @functools.wraps(test)
    def run(*arguments, **more):
        gc.collect()
        gc.disable()
        try:
            with unraisable() as caught:
                test(*arguments, **more)
                gc.collect()
            assert [repr(one.exc_value) for one in caught] == []
        finally:
            gc.enable()

    return run


def ends(*objects):
    return [weakref.ref(one) for one in objects]


PATHS = [
    "people.@unionOfObjects.other", "people.@unionOfObjects.self", "people.@sum.size", "people.@max.size", "people.@sum.count",
    "other.people.@unionOfObjects.back", "other.people.@sum.size", "other.count", "people",
]  # fmt: skip


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("path", PATHS)
@without_reports
def test_the_objects_of_a_cycle_are_collected_in_any_order(path, order):
    made = [None] * 3
    for index in order:
        made[index] = Node(name="dpa"[index])
    root, person, author = made
    root.people, root.other, person.other, person.people = [person, author], person, author, [author]
    author.back = person.back = root
    kvo.observe(root, path, lambda change: repr((change.old, change.new)))
    seen = ends(*made)
    del root, person, author, made
    gc.collect()
    [Node() for _ in range(10)]
    assert [one() for one in seen] == [None] * 3


@without_reports
def test_the_old_value_that_a_paused_observation_tells_lives_until_then():
    root, told = Node(people=[Node(other=Node(size=7))]), []
    observation = kvo.observe(root, "people.@unionOfObjects.other", lambda change: told.append(change.old))
    observation.pause()
    seen = ends(root.people[0].other)
    root.people = []
    [Node() for _ in range(20)]
    observation.pause()  # does nothing
    observation.resume()
    assert [one.size for one in told[0]] == [7]
    told.clear()
    assert seen[0]() is None


@pytest.mark.parametrize("path", ["next", "people.@unionOfObjects.other"])
@without_reports
def test_a_handler_may_pause_its_observation_again_while_resume_tells(path, c):
    root, told = kvo.wrap(c.make_point()) if path == "next" else Node(), []

    def put(size):
        made = Node(size=size)
        if path == "next":
            root.next = nodes[0] = made  # C does not keep it
        else:
            root.people = [Node(other=made)]
        [Node() for _ in range(20)]

    def pause(change):
        told.append([one and one.size for one in (change.old if path != "next" else [change.old])])
        if len(told) == 1:
            observation.pause()  # at 2
        if len(told) == 2:
            observation.pause()  # at 3
            put(4)
            observation.resume()

    nodes = [None]
    put(1)
    observation = kvo.observe(root, path, pause)
    observation.pause()
    put(2)
    observation.resume()
    put(3)
    observation.resume()
    assert told == [[1.0], [2.0], [3.0]]
    assert observation._held is None
    if path == "next":
        c.destroy(kvo.address_of(root))


@without_reports
def test_what_a_handler_has_dropped_is_none_for_the_next_one():
    root, told = Node(people=[Node(other=Node(size=5))]), []
    kvo.observe(root, "people.@unionOfObjects.other", lambda change: told.append(change.old))

    def drop(change):
        for person in change.old:
            person.other = None
        [Node(size=9) for _ in range(50)]

    kvo.observe(root, "people", drop)
    kvo.observe(root, "people.@unionOfObjects.other", lambda change: None)
    root.people = []
    assert [None] in told


@pytest.mark.parametrize("is_computed", [False, True])
@without_reports
def test_what_is_evaluated_between_the_handlers_of_a_change_by_c_frees_nothing(is_computed, c):
    point, kept, told, maker = kvo.wrap(c.make_point()), [Node(size=5)], [], Maker()
    maker.point = point
    memory = weakref.ref(kept[0]._kvo_word)
    c.set_next(kvo.address_of(point), kvo.address_of(kept[0]), 1)  # which does not keep it
    kvo.observe(point, "next", lambda change: told.append((change.old, memory() is not None)))
    found, what = (maker, "made") if is_computed else (point, lambda: (Node(), point.next is None)[1])
    kvo.observe(found, what, lambda change: None)
    kvo.observe(point, "next", lambda change: kept.clear())
    c.set_next(kvo.address_of(point), None, 1)
    assert told == [(None, True)]
    Node()
    assert memory() is None
    maker.point = None
    c.destroy(kvo.address_of(point))


@pytest.mark.parametrize("is_of_c", [False, True])
@without_reports
def test_what_a_handler_on_a_thread_of_c_has_dropped_is_none_for_the_next_one(is_of_c, c):
    """Python has nothing that lives between two handlers there."""
    point, told = kvo.wrap(c.make_point()), []
    kept = [kvo.find_class("CPoint").create() if is_of_c else Node(size=5)]
    address, others = kvo.address_of(kept[0]), []
    memory = None if is_of_c else weakref.ref(kept[0]._kvo_word)

    def tell(change):
        lives = kvo.address_of(change.old) == address and change.old not in others if is_of_c else memory() is not None
        told.append((lives, change.old is not None))

    def fill(change):
        change = None
        others.extend(kvo.find_class("CPoint").create() if is_of_c else Node(size=9) for _ in range(500))

    c.set_next(kvo.address_of(point), kvo.address_of(kept[0]), 1)  # which does not keep it
    first = kvo.observe(point, "next", tell)
    kvo.observe(point, "next", fill, kvo.NEW)
    kvo.observe(point, "next", lambda change: kept.clear())
    c.set_next_on_thread(kvo.address_of(point), None, 1)
    assert told == [(True, is_of_c)]
    first.close()
    c.set_next_on_thread(kvo.address_of(point), kvo.address_of(others[0]), 3)
    kvo._memory._forget_gone_threads()
    is_reused = address in map(kvo.address_of, others)
    assert (is_reused or address not in kvo._c_objects._owned) and (memory is None or memory() is None)
    c.destroy(kvo.address_of(point))


@without_reports
def test_what_handlers_drop_is_freed_after_later_changes_by_c(c):
    point, owned = kvo.wrap(c.make_point()), kvo._c_objects._owned

    def drop(change):
        kvo.find_class("CPoint").create()

    kvo.observe(point, "next", drop)
    c.set_next(kvo.address_of(point), None, 1000)
    assert len(owned) < 200
    c.set_next_on_thread(kvo.address_of(point), None, 1000)
    assert len(owned) < 200
    for _ in range(200):
        c.set_next_on_thread(kvo.address_of(point), None, 1)
        assert len(owned) < 200
    point.count = 1  # what has ended on this thread is freed after a change that Python makes
    kvo._memory._forget_gone_threads()
    assert len(owned) == 0
    c.destroy(kvo.address_of(point))


@without_reports
def test_an_object_of_c_that_a_handler_has_dropped_dies_after_the_change(c):
    c.make_point()
    point = kvo.find_class("CPoint").create()
    seen = kvo.address_of(point)
    root, told = Node(people=[Node(other=point)]), []
    del point
    kvo.observe(root, "people.@unionOfObjects.other", lambda change: told.extend(one and kvo.address_of(one) for one in change.old))

    def drop(change):
        for person in change.old:
            person.other = None

    kvo.observe(root, "people", drop)
    root.people = []
    assert seen in told
    assert seen not in kvo._c_objects._proxies


@without_reports
def test_a_dead_object_of_c_is_nil_for_what_reads_a_property_in_c(c):
    point = c.make_point()
    root = Node(people=[kvo.wrap(point), Node(size=3)], other=kvo.wrap(point))
    kvo.observe(root, "people.@unionOfObjects.self", lambda change: None)
    c.destroy(point)
    assert kvo.get(root, "people.@unionOfObjects.self") == [root.people[1]]
    assert kvo.get(root, "people.@count") == 2
    root.people = []


@without_reports
def test_objects_of_c_in_a_cycle_are_destroyed_with_it(c):
    c.make_point()
    points = [kvo.find_class("CPoint").create() for _ in range(3)]
    root = Node(people=points)
    root.back = root
    kvo.observe(root, "people.@unionOfObjects.self", lambda change: repr(change.old))
    for point in points:
        kvo.observe(point, "x", lambda change, root=root: repr(root))
    seen = ends(root, *points)
    del points, root, point
    gc.collect()
    assert [one() for one in seen] == [None] * 4
    assert not kvo._c_objects._owned
