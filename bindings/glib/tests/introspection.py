# introspection.py - the library from Python, by introspection. The argument is the shared library with the model of the tests.
import contextlib
import ctypes
import io
import sys
import unittest

import gi

gi.require_version("KvoGlib", "1.0")
from gi.repository import Gio, GLib, GObject, KvoGlib  # noqa: E402

model = ctypes.CDLL(sys.argv.pop(1))
model.person_new.restype = ctypes.c_void_p
model.person_new.argtypes = [ctypes.c_char_p, ctypes.c_int]
model.person_set_name.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
model.person_set_age.argtypes = [ctypes.c_void_p, ctypes.c_int]
model.person_add_friend.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
model.person_add_tag.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
model.kvo_object_destroy.argtypes = [ctypes.c_void_p]


class Label(GObject.Object):
    text = GObject.Property(type=str, default="")
    number = GObject.Property(type=int, default=0)
    large = GObject.Property(type=GObject.TYPE_INT64, default=0)
    real = GObject.Property(type=float, default=0)


class Entry(GObject.Object):
    """Its text must not be None, as a Gtk.Entry's, where that is a crash."""

    def __init__(self):
        super().__init__()
        self.seen = []

    @GObject.Property(type=str, default="")
    def text(self):
        return self.seen[-1] if self.seen else ""

    @text.setter
    def text(self, text):
        self.seen.append(text)


class KvoGlibTests(unittest.TestCase):
    def setUp(self):
        self.ann = model.person_new(b"Ann", 5)

    def tearDown(self):
        if self.ann:
            model.kvo_object_destroy(self.ann)

    def destroy(self):
        model.kvo_object_destroy(self.ann)
        self.ann = None

    def test_a_wrapper_has_the_properties_of_the_class(self):
        ann = KvoGlib.wrap(self.ann)
        self.assertIs(ann, KvoGlib.wrap(self.ann))
        self.assertEqual(ann.props.name, "Ann")
        ann.props.age = 6
        self.assertEqual(ann.get_property("age"), 6)
        self.assertEqual(ann.get_kvo_object(), self.ann)
        seen = []
        ann.connect("notify::age", lambda object, spec: seen.append((spec.name, object.props.age)))
        model.person_set_age(self.ann, 7)
        self.assertEqual(seen, [("age", 7)])
        self.destroy()
        self.assertIsNone(ann.props.name)

    def test_a_binding_follows_and_can_be_unbound(self):
        label = Label()
        flags = GObject.BindingFlags.SYNC_CREATE | GObject.BindingFlags.BIDIRECTIONAL
        binding = KvoGlib.bind(self.ann, "name", label, "text", flags)
        self.assertEqual(label.text, "Ann")
        model.person_set_name(self.ann, b"Bob")
        self.assertEqual(label.text, "Bob")
        label.text = "Cid"
        self.assertEqual(KvoGlib.wrap(self.ann).props.name, "Cid")
        binding.unbind()
        model.person_set_name(self.ann, b"Dan")
        self.assertEqual(label.text, "Cid")

    def test_functions_convert_in_both_directions(self):
        label = Label()
        flags = GObject.BindingFlags.SYNC_CREATE | GObject.BindingFlags.BIDIRECTIONAL
        KvoGlib.bind_full(self.ann, "name", label, "text", flags, lambda _, name: name.upper(), lambda _, text: text.lower())
        self.assertEqual(label.text, "ANN")
        label.text = "BOB"
        self.assertEqual(KvoGlib.wrap(self.ann).props.name, "bob")
        KvoGlib.bind_full(self.ann, "name", label, "number", GObject.BindingFlags.SYNC_CREATE, lambda _, name: len(name), None)
        self.assertEqual(label.number, 3)

    def test_nothing_is_set_after_an_exception_in_a_function(self):
        both = GObject.BindingFlags.SYNC_CREATE | GObject.BindingFlags.BIDIRECTIONAL
        label, entry, wrapper = Label(), Entry(), KvoGlib.wrap(self.ann)
        KvoGlib.bind_full(self.ann, "age", label, "text", both, lambda _, age: str(age), lambda _, text: int(text))
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            label.text = "12x"
            KvoGlib.bind_full(self.ann, "name", entry, "text", both, lambda _, name: name.missing, lambda _, text: text[9])
            entry.text = "abc"
        self.assertEqual([line.split(":")[0] for line in printed.getvalue().splitlines() if "Error: " in line], ["ValueError", "AttributeError", "IndexError"])
        self.assertEqual((wrapper.props.age, wrapper.props.name, entry.seen), (5, "Ann", ["abc"]))
        label.text = "12"
        self.assertEqual(wrapper.props.age, 12)

    def test_what_a_function_returns_is_converted_as_by_gbinding(self):
        once = GObject.BindingFlags.SYNC_CREATE
        label, entry = Label(text="own"), Entry()
        KvoGlib.bind_full(self.ann, "age", label, "text", once, lambda _, age: age + 1, None)
        self.assertEqual(label.text, "6")
        KvoGlib.bind_full(self.ann, "age", label, "number", once, lambda _, age: 7.9, None)
        self.assertEqual(label.number, 7)
        KvoGlib.bind_full(self.ann, "age", label, "real", once, lambda _, age: 2**40, None)
        self.assertEqual(label.real, 2.0**40)
        KvoGlib.bind_full(self.ann, "age", label, "large", once, lambda _, age: 2**40, None)
        KvoGlib.bind_full(self.ann, "age", label, "large", once, lambda _, age: None, None)
        with contextlib.redirect_stderr(io.StringIO()):
            KvoGlib.bind_full(self.ann, "age", label, "real", once, lambda _, age: 1 / 0, None)
            KvoGlib.bind_full(self.ann, "age", label, "large", once, lambda _, age: 1 // 0, None)
        self.assertEqual((label.real, label.large), (2.0**40, 2**40))
        KvoGlib.bind_full(self.ann, "age", label, "number", once, lambda _, age: None, None)
        self.assertEqual(label.number, 7)
        KvoGlib.bind_full(self.ann, "age", label, "text", once, lambda _, age: None, None)
        self.assertIn(label.text, (None, ""))
        KvoGlib.bind_full(self.ann, "name", entry, "text", once, lambda _, name: None, None)
        self.assertEqual(entry.seen, [""])
        GLib.test_expect_message("kvo-glib", GLib.LogLevelFlags.LEVEL_WARNING, "*\"age\"*\"number\" of *Label*")
        KvoGlib.bind_full(self.ann, "age", label, "number", once, lambda _, age: "many", None)
        GLib.test_assert_expected_messages_internal("kvo-glib", __file__, 0, "")
        self.assertEqual(label.number, 7)

    def test_a_list_model_is_a_sequence(self):
        friends = KvoGlib.list_model(self.ann, "friends")
        seen = []
        friends.connect("items-changed", lambda model, *change: seen.append(change))
        bo = model.person_new(b"Bo", 1)
        model.person_add_friend(self.ann, -1, bo)
        self.assertEqual(seen, [(0, 0, 1)])
        self.assertEqual([friend.props.name for friend in friends], ["Bo"])
        self.assertIsInstance(friends, Gio.ListModel)
        tags = KvoGlib.list_model(self.ann, "tags")
        model.person_add_tag(self.ann, -1, b"red")
        self.assertEqual([tag.props.string for tag in tags], ["red"])
        self.assertEqual(KvoGlib.wrap(self.ann).props.friends[0].props.name, "Bo")
        self.destroy()
        self.assertEqual(len(friends), 0)
        model.kvo_object_destroy(bo)

    def test_a_gobject_is_a_kvo_object(self):
        label = Label(text="red")
        observed = KvoGlib.observe(label)
        self.assertEqual(observed, KvoGlib.observe(label))
        copy = Label()
        KvoGlib.bind(observed, "text", copy, "text", GObject.BindingFlags.SYNC_CREATE)
        label.text = "blue"
        self.assertEqual(copy.text, "blue")

    def test_what_is_wrong_is_a_critical_warning(self):
        GLib.test_expect_message("kvo-glib", GLib.LogLevelFlags.LEVEL_CRITICAL, "*nmae*")
        self.assertIsNone(KvoGlib.bind(self.ann, "nmae", Label(), "text", 0))
        GLib.test_assert_expected_messages_internal("kvo-glib", __file__, 0, "")


if __name__ == "__main__":
    unittest.main()
