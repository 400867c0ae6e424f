# introspection.py - the library from Python, by introspection. The argument is the shared library with the model of the tests.
import ctypes
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
