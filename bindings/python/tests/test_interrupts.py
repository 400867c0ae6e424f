"""A signal handler raises in the middle of a change: the next change notifies all the same."""

import signal

import kvo
from kvo._guards import _read_by_c
from kvo._library import _get_fault_handler
from kvo._memory import _calls
import pytest


class Stop(BaseException):
    pass


class Document(kvo.Object):
    zoom = kvo.Double(1)
    marks = kvo.List(kvo.Double)
    next = kvo.Reference()


@pytest.fixture
def raising_after(monkeypatch):
    """Has a call of a function of a module be followed by Stop, once, as if a signal had arrived meanwhile."""

    def patch(module, name):
        function = getattr(module, name)

        def call(*arguments):
            monkeypatch.setattr(module, name, function)
            function(*arguments)
            raise Stop

        monkeypatch.setattr(module, name, call)

    return patch


@pytest.mark.parametrize("name", ["_begin", "_will", "_finish"])
def test_an_interrupt_in_an_assignment_silences_nothing(name, raising_after):
    document, told = Document(), []
    kvo.observe(document, lambda: document.zoom, told.append)
    kvo.observe(document, "zoom", lambda change: None, kvo.PRIOR)
    for value in range(2, 5):
        raising_after(kvo._property, name)
        with pytest.raises(Stop):
            document.zoom = value
        told.clear()
        document.zoom = -value
        assert [change.new for change in told] == [-value]


@pytest.mark.parametrize("name", ["_begin_change", "_will", "_finish"])
def test_an_interrupt_in_a_change_of_a_list_silences_nothing(name, raising_after):
    document, told = Document(marks=[1]), []
    kvo.observe(document, lambda: len(document.marks), told.append)
    kvo.observe(document, "marks", lambda change: None, kvo.PRIOR)
    for change in (lambda: document.marks.append(1), lambda: document.marks.pop(), lambda: document.marks.extend([1, 2])):
        raising_after(kvo._lists, name)
        with pytest.raises(Stop):
            change()
        told.clear()
        document.marks.append(5)
        assert [one.new for one in told] == [len(document.marks)]


def test_an_interrupt_in_a_guard_ends_it(raising_after):
    document = Document()
    kvo.observe(document, "marks.@sum.self", lambda change: None)
    assert _read_by_c
    for change in (lambda: setattr(document, "zoom", 2), lambda: document.marks.append(1), lambda: kvo.set(document, "zoom", 3)):
        raising_after(kvo._guards, "_set_fault_handler")
        with pytest.raises(Stop):
            change()
        assert _calls.depth == 0 and not _get_fault_handler(None)


def test_an_interrupt_when_a_change_is_announced_ends_the_announcement(raising_after):
    document, told = Document(), []
    kvo.observe(document, "zoom", told.append)
    raising_after(kvo._objects, "_in_guard")
    with pytest.raises(Stop):
        with kvo.changing(document, "zoom"):
            assert False
    assert len(told) == 1
    with pytest.raises(Stop):
        with kvo.changing(document, "zoom"):
            raising_after(kvo._objects, "_in_guard")
    assert len(told) == 2


def test_a_signal_handler_may_raise_at_any_time(monkeypatch):
    document, told, has_raised = Document(), [], False
    monkeypatch.setattr("sys.unraisablehook", lambda report: None)
    kvo.observe(document, lambda: document.zoom, lambda change: None)

    def stop(*_):
        nonlocal has_raised
        has_raised = True
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for number in range(100):
            has_raised = False
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005)
                while not has_raised:
                    document.zoom += 1
            except Stop:
                pass
            try:
                document.zoom += 1  # raises what waits
            except Stop:
                pass
            token = kvo.observe(document, lambda: document.zoom, told.append)
            document.zoom += 1
            assert len(told) == number + 1
            token.close()
    finally:
        signal.signal(signal.SIGALRM, before)
