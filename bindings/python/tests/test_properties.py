"""Properties of Python objects: what they accept, and what C sees of them."""

import copy
import gc
import pickle
import weakref

import pytest

import kvo
from kvo import _c_objects, _handles, _observable, _observation


class Document(kvo.Object):
    title = kvo.String("Untitled")
    zoom = kvo.Double(1.0)
    pages = kvo.Int(1)
    is_open = kvo.Bool(False)
    author = kvo.Reference()
    tags = kvo.Any(factory=list)
    prices = kvo.List(kvo.Double)

    @kvo.computed
    def summary(self):
        return f"{self.title}, {self.pages}"


class Person(kvo.Object):
    name = kvo.String()


def test_properties_have_their_first_values_and_accept_new_ones():
    document = Document(title="Report", zoom=2)
    assert (document.title, document.zoom, document.pages, document.is_open) == ("Report", 2.0, 1, False)
    assert type(document.zoom) is float
    document.tags.append("a")
    assert Document().tags == []


@pytest.mark.parametrize(
    "name, value, error",
    [
        ("zoom", "2", TypeError), ("zoom", None, TypeError), ("pages", 1.5, TypeError), ("pages", 1 << 63, OverflowError),
        ("is_open", 1, TypeError), ("title", 5, TypeError), ("title", "a\0b", ValueError), ("author", "Ann", TypeError),
        ("prices", ["a"], TypeError), ("summary", "x", kvo.ReadOnly),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused_and_changes_nothing(name, value, error):
    document = Document()
    told = []
    kvo.observe(document, name, told.append)
    before = getattr(document, name)
    before = list(before) if name == "prices" else before
    with pytest.raises(error):
        setattr(document, name, value)
    assert getattr(document, name) == before
    assert told == []


def test_an_unknown_name_is_refused_by_the_initialiser():
    with pytest.raises(TypeError, match="no property 'titel'"):
        Document(titel="x")


def test_a_property_cannot_be_deleted_and_the_base_class_not_made():
    with pytest.raises(AttributeError):
        del Document().title
    with pytest.raises(TypeError):
        kvo.Object()


def test_subclasses_inherit_and_replace_properties():
    class Book(Document):
        zoom = kvo.Double(3.0)
        isbn = kvo.String("0")

    book, told = Book(), []
    assert (book.zoom, book.title, Document().zoom) == (3.0, "Untitled", 1.0)
    kvo.observe(book, "title", lambda change: told.append(change.new))
    kvo.observe(book, "zoom", lambda change: told.append(change.new))
    book.title, book.zoom = "B", 4
    assert told == ["B", 4.0]


def test_properties_of_a_mixin_belong_to_the_class():
    class Named:
        name = kvo.String("n")

    class Thing(Named, kvo.Object):
        pass

    thing, told = Thing(), []
    kvo.observe(thing, "name", lambda change: told.append(change.new))
    thing.name = "m"
    assert told == ["m"]


def test_classes_of_the_same_name_and_local_ones_work():
    def make():
        class Local(kvo.Object):
            value = kvo.Int(1)

        return Local

    one, other = make()(), make()()
    one.value, other.value = 2, 3
    assert (one.value, other.value) == (2, 3)


def test_a_copy_is_an_object_of_its_own():
    document, told = Document(title="a"), []
    kvo.observe(document, "title", lambda change: told.append(change.new))
    other = copy.copy(document)
    other.title = "b"
    deep = copy.deepcopy(document)
    deep.prices.append(1)
    assert (told, document.title, other.title, other.is_observed, document.prices) == ([], "a", "b", False, [])


def test_copies_of_a_list_property_are_plain_lists_that_notify_nobody():
    class Holder(kvo.Object):
        anything = kvo.Any()

    document, told = Document(prices=[1, 2]), []
    kvo.observe(document, "prices", told.append)
    for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one)), lambda one: one.copy(), lambda one: one * 1):
        made = copied(document.prices)
        assert type(made) is list and made == [1.0, 2.0]
        made.append(3)
    deep = copy.deepcopy(Holder(anything=document.prices))
    assert type(deep.anything) is list and deep.anything == [1.0, 2.0]
    assert told == [] and document.prices == [1.0, 2.0]


def test_a_list_property_is_added_and_multiplied_as_a_list():
    document, told = Document(prices=[1, 2]), []
    kvo.observe(document, "prices", lambda change: told.append((change.kind, change.indexes)))
    prices = document.prices
    for made, expected in (
        (prices + [3], [1, 2, 3]), ([3] + prices, [3, 1, 2]), (prices + prices, [1, 2, 1, 2]), (prices * 2, [1, 2, 1, 2]),
        (2 * prices, [1, 2, 1, 2]), (prices * 0, []),
    ):  # fmt: skip
        assert type(made) is list and made == expected
    for wrong in (lambda: prices + (3,), lambda: (3,) + prices, lambda: prices * 1.5, lambda: prices + 3):
        with pytest.raises(TypeError):
            wrong()
    assert told == []
    document.prices += [3]
    assert told == [(kvo.INSERTION, [2])]


@pytest.mark.parametrize("hiding", [3.0, None, property(lambda self: 3.0), lambda self: 3.0])
def test_a_class_that_hides_a_property_by_an_attribute_is_refused(hiding):
    message = "'zoom' in Book hides the property 'zoom' of Document, .* such as kvo.Double, or assign the value in __init__"
    with pytest.raises(TypeError, match=message):
        type("Book", (Document,), {"zoom": hiding})
    with pytest.raises(TypeError, match="'summary' in Mixin hides the property 'summary' of Document"):
        type("Book", (type("Mixin", (), {"summary": hiding}), Document), {})

    class Book(Document, type("Mixin", (), {"zoom": hiding})):
        summary = kvo.String("short")

        def __init__(self, **values):
            super().__init__(zoom=4, **values)

    book, told = Book(), []
    kvo.observe(book, "zoom", lambda change: told.append(change.new))
    book.zoom = 5
    assert (book.summary, told) == ("short", [5.0])


def test_pickles_and_errors_name_the_package_and_not_its_modules():
    pickled = pickle.dumps(Document(prices=[1, 2]))
    assert b"kvo._" not in pickled and pickle.loads(pickled).prices == [1.0, 2.0]
    public = [getattr(kvo, name) for name in kvo.__all__]
    assert {one.__module__ for one in public if not isinstance(one, int)} == {"kvo"}
    with pytest.raises(ValueError) as raised:
        kvo.CClass("nothing").properties
    assert raised.exconly().startswith("kvo._InvalidArgument: ")


def test_c_reads_and_sets_properties(c):
    document = Document(author=Person(name="Ann"))
    address = kvo.address_of(document)
    assert c.get_number(address, b"zoom") == 1.0
    assert c.set_number(address, b"zoom", 2.5) == 0
    assert c.set_string(address, b"author.name", b"Bob") == 0
    assert (document.zoom, document.author.name) == (2.5, "Bob")
    assert c.set_string(address, b"zoom", b"x") == -13
    assert c.set_string(address, b"title", None) == 0
    assert document.title is None
    assert c.set_string(address, b"summary", b"x") == -11


def test_c_observes_properties_with_their_values(c):
    document = Document(author=Person(name="Ann"))
    for key_path, change, line in [
        (b"zoom", lambda: setattr(document, "zoom", 2), b"zoom old=1 new=2\n"),
        (b"title", lambda: setattr(document, "title", "T"), b"title old='Untitled' new='T'\n"),
        (b"pages", lambda: setattr(document, "pages", 7), b"pages old=1 new=7\n"),
        (b"is_open", lambda: setattr(document, "is_open", True), b"is_open old=false new=true\n"),
        (b"author.name", lambda: setattr(document.author, "name", "Bob"), b"author.name old='Ann' new='Bob'\n"),
        (b"author.name", lambda: setattr(document, "author", None), b"author.name old='Bob' new=nil\n"),
        (b"tags", lambda: setattr(document, "tags", 5), b"tags old:? new=5\n"),
        (b"summary", lambda: setattr(document, "pages", 8), b"summary old='T, 7' new='T, 8'\n"),
        (b"prices", lambda: document.prices.extend([1, 2]), b"prices new:2 element=1 element=2\n"),
        (b"prices", lambda: document.prices.pop(0), b"prices old:1\n"),
    ]:
        assert c.watch(kvo.address_of(document), key_path, kvo.OLD | kvo.NEW) == 0
        change()
        assert c.told() == line
        c.unwatch()


def test_an_object_dies_with_its_last_reference_whatever_observes_it(c):
    document = Document()
    gone = weakref.ref(document)
    token = kvo.observe(document, "zoom", print)
    kvo.observe(document, "summary", print)
    kvo.observe(document, "author.name", print)
    gc.disable()
    try:
        del document
        assert gone() is None
    finally:
        gc.enable()
    assert not token.is_active and token.object is None
    token.close()


def test_nothing_stays_of_dead_objects():
    gc.collect()
    tables = (_observation._observations, _handles._values, _observation._lasting, _observable._instances, _c_objects._deaths)
    sizes = [len(table) for table in tables]
    for _ in range(3):
        document = Document(author=Person())
        for path in ("zoom", "author.name", "prices", "summary"):
            kvo.observe(document, path, print, kvo.PRIOR)
        kvo.observe(document, "zoom", lambda change, document=document: None)
        del document
    gc.collect()
    assert [len(table) for table in tables] == sizes


def test_a_cycle_through_a_handler_is_collected():
    document = Document()
    gone = weakref.ref(document)
    kvo.observe(document, "zoom", lambda change, document=document: None)
    del document
    gc.collect()
    assert gone() is None


def test_an_object_may_be_used_while_the_collector_finalises_it():
    class Ending(Document):
        def __del__(self):
            self.zoom = 9
            assert self.zoom == 9
            with pytest.raises(kvo.Error):
                kvo.observe(self, "zoom", print)
            done.append(True)

    done = []
    ending = Ending()
    ending.tags.append(ending)
    kvo.observe(ending, "zoom", lambda change: done.append(change))
    ending.tags[0]._kvo_word.__del__()  # as the collector may do it first
    del ending
    gc.collect()
    assert done == [True]
