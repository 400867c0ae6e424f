"""bind and bind_two_way: what targets take, in which order, errors, lifetimes, objects of C, threads."""

import gc
import threading
import weakref

import pytest

import kvo
from test_observing import unraisable
from test_properties import Document, Person


def pairs(told):
    return lambda change: told.append((change.old, change.new))


def test_a_bound_property_takes_the_value_of_a_key_path_at_once_and_after_each_change_until_it_is_closed():
    source, target, told = Document(), Document(), []
    with kvo.bind(target, "title", source, "author.name") as binding:
        assert target.title is None and binding.is_active
        kvo.observe(target, "title", pairs(told))
        source.author = Person(name="Ann")
        source.author.name = "Anna"
        source.author.name = "Anna"
        assert told == [(None, "Ann"), ("Ann", "Anna")]
    source.author = None
    assert target.title == "Anna" and not binding.is_active
    assert repr(binding) == "<Binding of author.name, ended>"


def test_the_end_of_a_diamond_of_bindings_is_computed_once_and_told_once_of_no_mixture():
    source, left, right, total, told, computed = Document(), Document(), Document(), Document(), [], []
    kvo.bind(left, "pages", lambda: source.pages + 1)
    kvo.bind(right, "pages", lambda: source.pages * 10)
    kvo.bind(total, "pages", lambda: computed.append(1) or left.pages + right.pages)
    kvo.observe(total, "pages", pairs(told))
    computed.clear()
    source.pages = 2
    source.pages = 3
    assert told == [(12, 23), (23, 34)] and len(computed) == 2


def test_values_are_the_objects_that_were_set():
    source, target, value = Document(), Document(), {"a": 1}
    kvo.bind(target, "tags", source, "tags")
    kvo.bind(target, "author", source, "author")
    source.tags, source.author = value, Person()
    assert target.tags is value and target.author is source.author


def test_a_list_has_the_elements_of_the_other_one():
    source, target, told = Document(prices=[1]), Document(), []
    kvo.bind(target, "prices", source, "prices")
    kvo.bind(target, "zoom", source, "prices.@sum.self")
    kvo.observe(target, "prices", pairs(told))
    source.prices.append(2)
    assert target.prices == [1, 2] and target.zoom == 3 and told == [([1], [1, 2])]
    target.prices.append(5)
    assert source.prices == [1, 2]


def test_two_properties_bound_in_two_ways_follow_each_other_and_are_told_once():
    one, other, told = Document(), Document(title="other"), []
    binding = kvo.bind_two_way(one, "title", other, "title")
    assert one.title == "other"
    kvo.observe(one, "title", pairs(told))
    kvo.observe(other, "title", pairs(told))
    one.title = "one"
    assert told == [("other", "one")] * 2
    other.title = "again"
    assert one.title == "again"
    binding.pause()
    one.title = "paused"
    assert other.title == "again"
    binding.resume()
    assert other.title == "paused"
    binding.close()
    one.title = "closed"
    assert other.title == "paused"
    other.title = "other"
    assert one.title == "closed"


def test_what_a_binding_makes_of_the_property_that_it_follows_is_told_once_with_the_change():
    one, other, told = Document(title="A"), Document(), []
    kvo.bind(other, "title", one, "title")
    kvo.bind(one, "title", lambda: other.title.upper())
    kvo.observe(one, "title", pairs(told))
    one.title = "bcd"
    assert told == [("A", "BCD")] and other.title == "BCD"
    told.clear()
    other.title = "xyz"
    assert told == [("BCD", "XYZ")]


def test_a_function_that_raises_leaves_the_target_as_it_is_and_is_called_at_the_next_change():
    source, target = Document(), Document()
    with unraisable() as caught:
        kvo.bind(target, "zoom", lambda: 1 / source.pages)
        source.pages = 0
    assert [type(one.exc_value) for one in caught] == [ZeroDivisionError] and target.zoom == 1
    source.pages = 4
    assert target.zoom == 0.25


def test_a_value_that_the_target_cannot_have_is_an_error_of_the_assignment_which_has_been_made():
    source, target, told = Document(tags=1), Document(), []
    kvo.bind(target, "pages", source, "tags")
    kvo.observe(source, "tags", told.append)
    for value, error in (("text", TypeError), (1 << 63, OverflowError)):
        with pytest.raises(error):
            source.tags = value
        assert source.tags == value and target.pages == 1
    source.tags = 2
    assert target.pages == 2 and len(told) == 3
    with pytest.raises(TypeError):
        kvo.bind(target, "zoom", source, "title")


def test_a_path_that_cannot_be_read_any_more_is_an_error_of_the_assignment():
    source, target = Document(), Document()
    kvo.bind(target, "title", source, "author.name")
    with pytest.raises(kvo.UndefinedKey):
        source.author = Document()
    assert target.title is None
    source.author = Person(name="Ann")
    assert target.title == "Ann"


def test_misuse_is_an_error_and_nothing_stays():
    one, other = Document(), Document()
    for error, call in (
        (kvo.UndefinedKey, lambda: kvo.bind(one, "nothing", other, "title")),
        (kvo.UndefinedKey, lambda: kvo.bind(one, "title", other, "nothing")),
        (kvo.ReadOnly, lambda: kvo.bind(one, "summary", other, "title")),
        (kvo.ReadOnly, lambda: kvo.bind_two_way(one, "title", other, "summary")),
        (TypeError, lambda: kvo.bind(one, "title", other)),
        (TypeError, lambda: kvo.bind(one, "title", None, "title")),
        (TypeError, lambda: kvo.bind_two_way(one, "pages", other, "title")),
    ):
        with pytest.raises(error):
            call()
    assert not one.is_observed and not other.is_observed


@pytest.mark.parametrize("first", [0, 1])
def test_a_binding_ends_with_its_target_and_with_its_source_and_keeps_neither(first):
    both = [Document(), Document()]
    bindings = [kvo.bind(both[0], "title", both[1], "title"), kvo.bind_two_way(both[0], "zoom", both[1], "zoom")]
    seen = weakref.ref(both[first])
    both[first] = None
    assert seen() is None
    rest = both[1 - first]
    assert not any(binding.is_active for binding in bindings) and not rest.is_observed
    rest.zoom = 3


def test_a_cycle_through_a_function_is_collected():
    target = Document()
    kvo.bind(target, "zoom", lambda: target.pages * 2.0)
    target.pages = 3
    seen = weakref.ref(target)
    assert target.zoom == 6
    del target
    gc.collect()
    assert seen() is None


def test_objects_of_c_are_sources_and_targets(c):
    address = c.make_point()
    point, document = kvo.wrap(address), Document()
    kvo.bind(document, "zoom", point, "x")
    name = kvo.bind(point, "name", document, "title")
    kvo.bind(point, "count", lambda: document.pages + 1)
    c.set_number(address, b"x", 2.5)
    document.title, document.pages = "Report", 4
    assert (document.zoom, point.name, point.count) == (2.5, "Report", 5)
    name.close()
    document.title = "other"
    assert point.name == "Report"
    kvo.bind_two_way(point, "x", document, "zoom")
    del point
    gc.collect()
    document.zoom = 3
    assert c.get_number(address, b"x") == 3
    c.destroy(address)
    document.zoom = 4
    assert not document.is_observed


def test_changes_on_threads_of_c_and_of_python_settle_to_the_last_values(c):
    source, other, target = Document(), Document(), Document()
    kvo.bind(target, "zoom", lambda: source.zoom + other.zoom)
    threads = [
        threading.Thread(target=c.set_on_thread, args=(kvo.address_of(source), 300)),
        threading.Thread(target=lambda: [setattr(other, "zoom", value) for value in range(300)]),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert target.zoom == source.zoom + other.zoom


def test_a_target_may_die_while_another_thread_sets_its_source():
    source, stop = Document(), threading.Event()

    def change():
        value = 0
        while not stop.is_set():
            value += 1
            source.zoom = value

    thread = threading.Thread(target=change)
    thread.start()
    for _ in range(200):
        target = Document()
        kvo.bind(target, "zoom", source, "zoom")
        del target
    stop.set()
    thread.join()
    assert not source.is_observed
